//! A host that is told to read its settings again: what can count from now on does, what cannot is named, what is wrong
//! changes nothing, and golems notice none of it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use crate::common::Tent;
use crate::common::host::Host;
use testing::wait::{until, within};

/// A host, and what it prints.
fn up(tent: &Tent) -> (Host, Receiver<String>) {
    let mut command = tent.command(["up", "--listen", "127.0.0.1:0", "--gateway", "", "--speed", "400"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (sender, lines) = mpsc::channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let address = said(&lines, "listening on http://");
    let address = address.split("http://").nth(1).unwrap().split(';').next().unwrap().to_owned();
    let token = fs::read_to_string(tent.home().token()).unwrap();
    (Host { child, address, token }, lines)
}

/// The next line that has this in it.
fn said(lines: &Receiver<String>, what: &str) -> String {
    loop {
        let line = lines.recv_timeout(Duration::from_secs(30)).unwrap_or_else(|_| panic!("nothing says: {what}"));
        if line.contains(what) {
            return line;
        }
    }
}

fn hang_up(host: &Host) {
    let sent = Command::new("kill").args(["-HUP", &host.child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

fn configure(tent: &Tent, to: &Path, more: &str) {
    let text = format!("[notify]\ncommand = 'cat >> {}'\ngather = \"0s\"\n{more}", to.display());
    fs::write(tent.root().join("bardo.toml"), text).unwrap();
}

/// What has been told there, once there is something.
fn told(path: &Path, what: &str) {
    within(
        Duration::from_secs(30),
        || format!("{} has no {what}", path.display()),
        || fs::read_to_string(path).unwrap_or_default().contains(what),
    );
}

#[test]
fn settings_are_read_again_on_a_signal_and_wrong_ones_change_nothing() {
    let tent = Tent::new();
    let [first, second, copies] = ["first", "second", "copies"].map(|name| tent.folder.path().join(name));
    for (name, seed) in [("ada", "1"), ("ben", "2"), ("cid", "3")] {
        tent.ok(["golem", "new", name, "--seed", seed]);
    }
    configure(&tent, &first, "");
    let (mut host, lines) = up(&tent);
    host.order("/v1/golems/ada/freeze", None, "");
    told(&first, "ada");

    configure(&tent, &second, &format!("[backup]\nfolder = '{}'\n[gateway]\nlisten = \"\"\n", copies.display()));
    hang_up(&host);
    let line = said(&lines, "was read again");
    for (key, when) in
        [("notify.command", "from now on"), ("backup.folder", "from now on"), ("gateway.listen", "next start")]
    {
        let at = line.find(key).unwrap_or_else(|| panic!("{key} is not named: {line}"));
        assert!(line[at..].contains(when), "{line}");
    }
    assert!(!line.contains("api.listen"), "what is as it was is not named: {line}");
    // Whoever is told is told once, and by the new one.
    let before = fs::read_to_string(&first).unwrap();
    host.order("/v1/golems/ben/freeze", None, "");
    told(&second, "ben");
    assert_eq!(fs::read_to_string(&first).unwrap(), before);
    until("nothing is copied", || copies.join("golems/ada").exists());

    // A slip changes nothing, and says where it is.
    fs::write(tent.root().join("bardo.toml"), "[notify]\ncomand = 'true'\n").unwrap();
    hang_up(&host);
    let line = said(&lines, "all stays as it was");
    assert!(line.contains("comand"), "{line}");
    // Whoever was not at the screen hears of it too, for as long as it is so.
    told(&second, "keeps the settings it read before");
    until("its figures say so", || host.figure("bardo_settings") == 0.0);
    host.order("/v1/golems/cid/freeze", None, "");
    told(&second, "cid");

    // Many at once, while golems go on, and then a stop in the middle of it.
    configure(&tent, &first, "");
    let ticks = host.ticks();
    for _ in 0..20 {
        hang_up(&host);
    }
    said(&lines, "was read again");
    until("it goes by the file again", || host.figure("bardo_settings") == 1.0);
    until("golems go on", || host.ticks() > ticks);
    hang_up(&host);
    let stopped = Command::new("kill").args(["-TERM", &host.child.id().to_string()]).status();
    assert!(stopped.unwrap().success() && host.child.wait().unwrap().success());
    tent.ok(["doctor"]);
}
