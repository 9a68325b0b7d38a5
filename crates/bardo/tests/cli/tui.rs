//! The screens in a real terminal: keys pressed, a golem dying while it is watched, its heir made, the host killed and
//! started again underneath. Needs tmux; where there is none this is said and nothing is tested.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Tent, text};

/// A terminal with the screens in it, on a server of its own.
struct Terminal {
    socket: String,
}

fn tmux(socket: &str, args: &[&str]) -> Output {
    Command::new("tmux").args(["-L", socket, "-f", "/dev/null"]).args(args).output().unwrap()
}

fn is_there() -> bool {
    let there = Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success());
    assert!(there || std::env::var_os("BARDO_REALPARTS").is_none(), "tmux is missing; the screens need a terminal");
    if !there {
        eprintln!("NOT TESTED: there is no tmux, so nobody has looked at the screens in a terminal");
    }
    there
}

impl Terminal {
    fn open(tent: &Tent, size: (&str, &str), args: &str) -> Terminal {
        let socket = format!("bardo-{}-{}", std::process::id(), tent.folder.path().file_name().unwrap().display());
        let (bardo, home) = (env!("CARGO_BIN_EXE_bardo"), tent.root().display().to_string());
        let command = format!("env BARDO_HOME='{home}' '{bardo}' tui {args}; echo left with $?; sleep 60");
        let done = tmux(&socket, &["new-session", "-d", "-x", size.0, "-y", size.1, &command]);
        assert!(done.status.success(), "{}", text(&done.stderr));
        Terminal { socket }
    }

    fn press(&self, keys: &[&str]) {
        for key in keys {
            assert!(tmux(&self.socket, &["send-keys", key]).status.success());
        }
    }

    fn shows(&self) -> String {
        text(&tmux(&self.socket, &["capture-pane", "-p"]).stdout)
    }

    /// Waits until the screen has all of these words.
    fn until(&self, words: &[&str]) -> String {
        let deadline = Instant::now() + Duration::from_secs(40);
        loop {
            let shown = self.shows();
            if words.iter().all(|word| shown.contains(word)) {
                return shown;
            }
            assert!(Instant::now() < deadline, "no {words:?} in\n{shown}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        tmux(&self.socket, &["kill-server"]);
    }
}

/// A host on a port that stays the same when it is started again.
struct Host(Child);

impl Host {
    fn up(tent: &Tent, address: &str, speed: &str) -> Host {
        let mut command = tent.command(["up", "--listen", address, "--gateway", "", "--speed", speed]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "it does not listen");
        }
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        Host(child)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Below the ports that clients are given: one of theirs could be taken by any of them before the host comes to it.
fn free_address() -> String {
    let mut ports =
        (0..).map(|n| 10_000 + (std::process::id() * 7 + n) % 20_000).map(|port| format!("127.0.0.1:{port}"));
    ports.find(|address| std::net::TcpListener::bind(address).is_ok()).expect("there are many")
}

#[test]
fn a_host_can_be_watched_ordered_killed_and_started_again() {
    if !is_there() {
        return;
    }
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1", "--set", "mortality.mode=hosted", "--set", "dream.enabled=false"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "600"]);
    tent.ok(["golem", "new", "ben", "--seed", "2"]);
    let address = free_address();
    let terminal = Terminal::open(&tent, ("80", "24"), &format!("--listen {address}"));
    terminal.until(&["no host is up", "bardo up", "trying again"]);
    let host = Host::up(&tent, &address, "100");
    terminal.until(&["2 golems", "ada", "ben", "host is up", "vitality"]);
    terminal.press(&["Enter"]);
    terminal.until(&["since tick", "clocks", "enough for", "lives on", "mood (Daimon)", "load"]);
    terminal.press(&["3"]);
    terminal.until(&["memory (Grimoire) of ada", "evidence"]);
    terminal.press(&["/", "hour", "Enter"]);
    terminal.until(&["“hour”"]);
    terminal.press(&["4"]);
    terminal.until(&["never dreamt"]);
    terminal.press(&["?"]);
    terminal.until(&["freeze: no new exposure"]);
    terminal.press(&["x", "2", "f"]);
    terminal.until(&["Freeze ada?"]);
    terminal.press(&["n"]);
    terminal.until(&["nothing was changed"]);
    terminal.press(&["f", "y"]);
    terminal.until(&["ada is frozen", "  frozen  "]);
    terminal.press(&["5"]);
    terminal.until(&["was frozen: no new exposure"]);
    drop(host);
    terminal.until(&["host is away, trying again", "was frozen"]);
    let _host = Host::up(&tent, &address, "100");
    terminal.until(&["host is up"]);
    terminal.press(&["2", "r", "y"]);
    terminal.until(&["ada goes on", "  living  "]);
    terminal.press(&["q"]);
    terminal.until(&["left with 0"]);
}

#[test]
fn a_golem_dies_while_it_is_watched_and_has_an_heir() {
    if !is_there() {
        return;
    }
    let tent = Tent::new();
    // Money for a day, and an interval that lets it be lived in seconds.
    let rent = ["--set", "mortality.mode=hosted", "--set", "dream.enabled=false"];
    tent.ok([&["golem", "new", "cyd", "--seed", "3", "--credit", "0.5"][..], &rent].concat());
    tent.ok(["golem", "run", "cyd", "--speed", "max", "--ticks", "2200"]);
    let address = free_address();
    let _host = Host::up(&tent, &address, "400");
    let terminal = Terminal::open(&tent, ("120", "40"), &format!("cyd --listen {address}"));
    terminal.until(&["cyd", "declining", "clocks"]);
    terminal.until(&["cyd is dead", "for want of money", "last words", "what I would change", "Summon successor"]);
    terminal.press(&["j", "Enter"]);
    terminal.until(&["testament of cyd", "What worked"]);
    // Together they would be another key: Enter, with Alt held down.
    terminal.press(&["Escape"]);
    terminal.until(&["last words", "Summon successor"]);
    terminal.press(&["Enter"]);
    terminal.until(&["heir of cyd, generation 1", "cyd-2", "confidence", "bloodstains"]);
    terminal.press(&["Enter", "Enter", "Enter", "Enter"]);
    terminal.until(&["Make cyd-2, heir of cyd?"]);
    terminal.press(&["y"]);
    terminal.until(&["cyd-2", "generation 1", "clocks"]);
    terminal.press(&["7"]);
    terminal.until(&["family of cyd-2: 2 here", "† cyd", "└─ • cyd-2", "alive"]);
    terminal.press(&["6"]);
    terminal.until(&["graveyard: 1 dead"]);
    terminal.press(&["q"]);
    terminal.until(&["left with 0"]);
}

#[test]
fn where_there_is_no_terminal_it_says_so() {
    let tent = Tent::new();
    let complaint = tent.fails(2, ["tui"]);
    assert!(complaint.contains("need a terminal"), "{complaint}");
}
