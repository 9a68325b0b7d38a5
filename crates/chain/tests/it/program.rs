//! The program itself: what it says of itself and of what is missing, and a chain of one's own that comes up and is gone again,
//! however it ends. What golems do by it is tested with the program that runs them.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use settings::{File, Settings};
use shell::Home;

use crate::common::parts;

/// An empty folder, in which a home may be made.
struct Tent {
    folder: tempfile::TempDir,
}

impl Tent {
    fn new() -> Tent {
        Tent { folder: tempfile::tempdir().unwrap() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn settle(&self) {
        let settings = Settings::load(File::Bardo, None, [], &[]).unwrap();
        Home::at(self.at("home")).init(&settings).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bardo-chain"));
        command.args(args).env("BARDO_HOME", self.at("home")).current_dir(self.folder.path());
        command.stdin(Stdio::null());
        command
    }

    fn ok(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Starts a chain in `devnet` and gives its process and its address once it is up.
    fn devnet(&self, parts: &Path) -> (Child, String) {
        let mut command = self.command(&["devnet", "--bar", "1", "--parts"]);
        let mut child = command.arg(parts).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let told = lines.map_while(Result::ok).any(|line| line.ends_with("bardo chain purse devnet"));
        assert!(told, "it does not say what to do next");
        let site: Value = serde_json::from_slice(&std::fs::read(self.at("devnet/chain.json")).unwrap()).unwrap();
        (child, site["endpoints"][0].as_str().unwrap().to_owned())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn check_fails(output: &Output, code: i32, words: &[&str]) {
    let why = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(code), ""), "{why}");
    for word in words {
        assert!(why.contains(word), "it does not say `{word}`: {why}");
    }
}

/// Whoever kept the node has ended it.
fn check_gone(url: &str) {
    let address = url.strip_prefix("http://").unwrap();
    let until = Instant::now() + Duration::from_secs(15);
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < until, "the node at {url} is left behind");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn it_says_which_it_is_and_what_can_be_asked_of_it() {
    let tent = Tent::new();
    assert_eq!(tent.ok(&["--version"]), format!("bardo-chain {}\n", env!("CARGO_PKG_VERSION")));
    let help = tent.ok(&["--help"]);
    for word in ["Usage: bardo chain ", "devnet", "watch", "orders", "signer", "purse", "owner", "--home"] {
        assert!(help.contains(word), "{word} is missing: {help}");
    }
    assert!(!help.contains("keep"), "{help}");
    check_fails(&tent.command(&["swap"]).output().unwrap(), 2, &["unrecognized subcommand 'swap'"]);
}

#[test]
fn what_is_missing_is_said_with_what_makes_it() {
    let tent = Tent::new();
    check_fails(&tent.command(&["watch", "devnet"]).output().unwrap(), 1, &["no home at", "bardo init"]);
    let purse = tent.command(&["purse", "devnet"]).output().unwrap();
    check_fails(&purse, 1, &["bardo chain: there is no chain.json in devnet", "bardo chain devnet devnet"]);
    let mut nowhere = tent.command(&["purse", "devnet"]);
    nowhere.env_remove("BARDO_HOME").env_remove("XDG_DATA_HOME").env_remove("HOME");
    check_fails(&nowhere.output().unwrap(), 1, &["cannot tell where home is"]);
}

#[test]
fn a_chain_comes_up_and_nothing_is_left_of_it_however_it_ends() {
    let Some(parts) = parts() else { return };
    let tent = Tent::new();
    tent.settle();
    let (child, url) = tent.devnet(&parts);
    let purse: Value = serde_json::from_str(&tent.ok(&["purse", "devnet", "--json"])).unwrap();
    assert_eq!((&purse["chain"], &purse["frozen"]), (&json!(31_337), &json!(false)));
    tent.ok(&["owner", "devnet", "freeze"]);
    assert!(tent.ok(&["purse", "devnet"]).contains("for it is frozen"));
    hears_only_its_own(&tent);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success() && text(&ended.stdout).ends_with("the chain is gone, and so is everything on it\n"));
    assert_eq!(std::fs::read_dir(tent.at("devnet")).unwrap().count(), 0);
    check_gone(&url);

    let (mut child, url) = tent.devnet(&parts);
    child.kill().unwrap();
    child.wait().unwrap();
    check_gone(&url);
    let again = tent.command(&["devnet", "--parts"]).arg(&parts).output().unwrap();
    check_fails(&again, 1, &["devnet has a chain.json", "was killed"]);
}

/// Orders are carried out for whoever wants orders, and where the money is real only if its owner has said so.
fn hears_only_its_own(tent: &Tent) {
    let hear = |folder: &str, hello: &Value| {
        let mut command = tent.command(&["orders", folder]);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        // One that has refused by now does not read it.
        let _ = writeln!(child.stdin.take().unwrap(), "{hello}");
        child.wait_with_output().unwrap()
    };
    let hello = json!({ "bardo": "world", "version": 1, "golem": "ada", "folder": "ada", "seed": 1 });
    check_fails(&hear("devnet", &hello), 1, &["this carries out orders"]);
    let site = std::fs::read_to_string(tent.at("devnet/chain.json")).unwrap();
    std::fs::create_dir(tent.at("real")).unwrap();
    std::fs::write(tent.at("real/chain.json"), site.replace("31337", "1")).unwrap();
    check_fails(&hear("real", &hello), 1, &["chain 1 has real money on it", "--real-money ethereum=100"]);
}
