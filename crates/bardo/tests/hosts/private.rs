//! A home is its owner's alone: nobody else can read it, lock its golems or give them orders; and if somebody holds a
//! golem's lock all the same, or its head is gone, its owner hears of it and sees it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::host::Host;
use crate::common::{Tent, files, text};
use testing::wait::{until, within};

/// Runs it as somebody who lets everyone read and write what they make.
fn careless(tent: &Tent, line: &str) -> String {
    let program = env!("CARGO_BIN_EXE_bardo");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("umask 000; exec {program} {line}")]).env("BARDO_HOME", tent.root());
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

/// Everything below a folder that somebody else could do something with.
fn open_to_others(folder: &Path) -> Vec<String> {
    let mut found: Vec<String> = files(folder)
        .iter()
        .flat_map(|path| {
            path.ancestors().take_while(|path| path.starts_with(folder)).map(Path::to_owned).collect::<Vec<_>>()
        })
        .filter(|path| mode(path) & 0o077 != 0)
        .map(|path| format!("{} is {:o}", path.display(), mode(&path)))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// A home was made with whatever the user's umask left: whoever could read a head could lock its golem, stops and
/// breaker included, and with a shared group whoever could write an inbox gave orders.
#[test]
fn a_home_and_all_that_is_in_it_is_its_owners_alone_whatever_the_umask() {
    let tent = Tent::bare();
    careless(&tent, "init");
    assert_eq!(mode(&tent.root()), 0o700);
    let candles = tent.folder.path().join("candles.csv");
    let rows: String = (0..200).map(|hour| format!("{},1,1,1,1,1\n", 1_600_000_000 + hour * 3_600)).collect();
    fs::write(&candles, format!("ts,open,high,low,close,volume\n{rows}")).unwrap();
    fs::set_permissions(&candles, fs::Permissions::from_mode(0o666)).unwrap();
    careless(&tent, &format!("data import {} --name old", candles.display()));
    for name in ["ada", "eve"] {
        careless(&tent, &format!("golem new {name} --world queue --seed 1"));
        careless(&tent, &format!("golem run {name} --speed max --ticks 600"));
    }
    let copy = tent.folder.path().join("copy");
    careless(&tent, &format!("golem backup ada {}", copy.display()));
    careless(&tent, "golem freeze eve --reason enough");
    careless(&tent, "golem retire eve --confirm eve");
    careless(&tent, "token new dash --scope read");
    careless(&tent, "library list");
    let mut host = Watched::up(&tent);
    careless(&tent, "golem fund ada 1");
    assert_eq!(host.umask(), "0077");
    assert_eq!(open_to_others(&tent.root()), Vec::<String>::new());
    host.stop();
    assert_eq!(open_to_others(&tent.root()), Vec::<String>::new());
    assert_eq!(open_to_others(&copy), Vec::<String>::new(), "a copy has a secret in it too");
    // What somebody asks for elsewhere is as open as they want their files to be.
    let page = tent.folder.path().join("page.html");
    careless(&tent, &format!("golem report ada --out {}", page.display()));
    assert_eq!(mode(&page), 0o666);
    let told = tent.ok(["doctor"]);
    assert!(told.contains("its owner's alone"), "{told}");
    // Everything that a home has, and nothing else, is looked at.
    for entry in fs::read_dir(tent.root()).unwrap() {
        let path = entry.unwrap().path();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode(&path) | 0o044)).unwrap();
        assert_eq!(shell::private::look(&tent.root()).unwrap().len(), 1, "{} is not looked at", path.display());
        fs::set_permissions(&path, fs::Permissions::from_mode(mode(&path) & !0o044)).unwrap();
    }
}

/// As somebody else of the same machine, through descriptors that may only read: every head was locked, and the byte
/// that a writer of the host log needs.
#[test]
fn another_user_of_the_machine_can_reach_nothing() {
    use std::os::unix::process::CommandExt;
    let tent = Tent::bare();
    careless(&tent, "init");
    careless(&tent, "golem new ada --seed 1");
    // The way there is open; it is the home that is closed.
    fs::set_permissions(tent.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let head = vault::Head::path(&tent.home().heads(), tent.golem("ada").wake().unwrap().0.life().id());
    let as_nobody = |line: String| Command::new("sh").args(["-c", &line]).uid(65_534).gid(65_534).output();
    let Ok(there) = as_nobody(format!("ls {}", tent.folder.path().display())) else {
        assert!(std::env::var_os("BARDO_REALPARTS").is_none(), "to be somebody else needs root");
        eprintln!("\n*** SKIPPED: to be somebody else needs root ***\n");
        return;
    };
    assert!(there.status.success(), "{}", text(&there.stderr));
    for line in [
        format!("ls {}", tent.root().display()),
        format!("cat {}", tent.home().config().display()),
        format!("flock --nonblock {} true", head.display()),
        format!("exec 9< {}", tent.root().join("treasury.db").display()),
        format!("echo > {}/1.letter", tent.golem("ada").folder.display()),
        format!("cat {}", tent.golem("ada").secret().display()),
    ] {
        let output = as_nobody(line.clone()).unwrap();
        assert!(!output.status.success(), "{line}: {}", text(&output.stdout));
    }
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "60"]);
}

/// Also where a program of its owner's makes it, by the library alone.
#[test]
fn a_home_made_by_the_library_is_closed_too() {
    let folder = tempfile::tempdir().unwrap();
    let home = shell::Home::at(folder.path().join("home"));
    let none = std::iter::empty();
    home.init(&settings::Settings::load(settings::File::Bardo, None, none, &[]).unwrap()).unwrap();
    assert_eq!(mode(home.root()), 0o700);
}

#[test]
fn the_doctor_names_what_others_may_read_or_write_and_init_closes_it() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let open = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let beside = tent.root().join("notes.txt");
    fs::write(&beside, "mine").unwrap();
    open(&beside, 0o644);
    for (path, given, said) in [
        (tent.root(), 0o755, "others may read"),
        (tent.golem("ada").secret(), 0o640, "others may read"),
        (tent.golem("ada").folder, 0o770, "others may write"),
        (tent.home().heads(), 0o755, "others may read"),
    ] {
        open(&path, given);
        let output = tent.run(["doctor"]);
        let told = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{told}");
        let line = told.lines().find(|line| line.starts_with("WRONG privacy")).unwrap();
        assert!(line.contains(said) && line.contains(path.to_str().unwrap()) && line.contains("chmod"), "{line}");
        tent.ok(["init"]);
        assert!(mode(&path) & 0o077 == 0, "{}", path.display());
        tent.ok(["doctor"]);
    }
    assert_eq!(mode(&beside), 0o644, "what is not ours is left alone");
}

/// A host that is watched from outside.
struct Watched(Host);

impl Watched {
    fn up(tent: &Tent) -> Watched {
        Watched(Host::up(tent, "4000"))
    }

    fn umask(&self) -> String {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.child.id())).unwrap();
        status.lines().find_map(|line| line.strip_prefix("Umask:")).unwrap().trim().to_owned()
    }

    fn ask(&self, path: &str) -> (u16, serde_json::Value) {
        let bearer = format!("Bearer {}", self.0.token);
        let (status, body) = self.0.ask("GET", path, &[("authorization", &bearer)], "");
        (status, serde_json::from_str(&body).unwrap_or_default())
    }

    fn status_of(&self, name: &str) -> serde_json::Value {
        let (_, all) = self.ask("/v1/golems");
        all.as_array().unwrap().iter().find(|one| one["name"] == name).cloned().unwrap_or_default()
    }

    fn until(&self, what: &str, met: impl Fn(&Watched) -> bool) {
        within(Duration::from_secs(60), || format!("{what}: {}", self.ask("/v1/golems").1), || met(self));
    }

    fn stop(&mut self) {
        let _ = Command::new("kill").args(["-TERM", &self.0.child.id().to_string()]).status();
        let _ = self.0.child.wait();
    }
}

/// A stranger took the lock of every golem through a descriptor that could only read. The golems stood still for as
/// long as it was held, vanished from the API, no note was sent, `/ready` said true and `golem list` showed them as
/// lived. So it was with a head that was missing and a file that never opened.
#[test]
fn a_golem_that_a_stranger_holds_or_that_has_no_head_is_told_of_and_shown() {
    let tent = Tent::new();
    for name in ["ada", "bob", "cyd", "dot", "eve"] {
        tent.ok(["golem", "new", name, "--seed", "1"]);
    }
    let told = tent.folder.path().join("told");
    let config = format!("[notify]\ncommand = \"(cat; echo) >> {}\"\n", told.display());
    fs::write(tent.home().config(), config).unwrap();
    let head = |name: &str| vault::Head::path(&tent.home().heads(), tent.golem(name).wake().unwrap().0.life().id());
    let (locked, headless) = (head("ada"), head("bob"));
    fs::remove_file(&headless).unwrap();
    fs::write(tent.golem("dot").database(), "no life at all").unwrap();
    let mut stranger = Command::new("flock").arg("--no-fork").arg(&locked).args(["sleep", "600"]).spawn().unwrap();
    // Another bardo of ours is no stranger.
    let mut alone = tent.command(["golem", "run", "eve", "--speed", "100x"]).stdout(Stdio::null()).spawn().unwrap();
    until("it lives alone", || tent.golem("eve").wake().unwrap().0.life().tick() > 0);
    let mut host = Watched::up(&tent);
    host.until("it is elsewhere", |host| host.status_of("eve")["state"] == "elsewhere");
    for (name, why) in [("ada", "lock"), ("bob", "head"), ("dot", "")] {
        host.until("it is shown", |host| host.status_of(name)["state"] == "unlived");
        assert!(host.status_of(name)["why"].as_str().unwrap().contains(why), "{}", host.status_of(name));
        let heard = || fs::read_to_string(&told).unwrap_or_default();
        host.until("its owner hears of it", |_| heard().contains(&format!("{name} is not running")));
    }
    assert_eq!(host.status_of("cyd")["state"], "living");
    assert_eq!(host.ask("/ready").1["unlived"], 3);
    let listed = tent.ok(["golem", "list"]);
    for (name, state) in [("ada", "locked"), ("bob", "no head"), ("dot", "cannot be read")] {
        let line = listed.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line.contains(state) && !line.contains("living"), "{listed}");
    }
    let notes = fs::read_to_string(&told).unwrap();
    assert!(!notes.contains("eve"), "{notes}");
    assert!(listed.lines().any(|line| line.starts_with("eve") && line.contains("living")), "{listed}");
    alone.kill().unwrap();
    alone.wait().unwrap();
    // Once the stranger lets go it lives on by itself.
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    host.until("it lives again", |host| host.status_of("ada")["state"] == "living");
    assert_eq!(notes.matches("ada is not running").count(), 1, "{notes}");
    host.stop();
    // If none can be lived, nothing is ready.
    for name in ["cyd", "eve"] {
        fs::remove_file(head(name)).unwrap();
    }
    fs::remove_file(&locked).unwrap();
    let host = Watched::up(&tent);
    assert_eq!(host.ask("/ready").0, 503);
}

#[test]
fn the_unit_leaves_a_host_nothing_it_does_not_need() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/bardo.service");
    let text = fs::read_to_string(&unit).unwrap();
    for line in ["UMask=0077", "StateDirectoryMode=0700", "NoNewPrivileges=yes", "CapabilityBoundingSet=\n"] {
        assert!(text.contains(line), "{line}");
    }
    let Ok(output) = Command::new("systemd-analyze").args(["security", "--offline=true"]).arg(&unit).output() else {
        assert!(std::env::var_os("BARDO_REALPARTS").is_none(), "systemd-analyze is missing");
        eprintln!("\n*** SKIPPED: there is no systemd-analyze ***\n");
        return;
    };
    let told = crate::common::text(&output.stdout);
    let level = told.split("Overall exposure level").nth(1).unwrap().split(':').nth(1).unwrap();
    let level: f64 = level.split_whitespace().next().unwrap().parse().unwrap();
    assert!(level <= 2.0, "{told}");
}
