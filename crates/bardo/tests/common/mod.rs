//! A home of its own for each test, and the real binary.
#![allow(dead_code, unreachable_pub)]

pub mod host;
pub(crate) mod memory;
pub(crate) mod processes;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use golem::{Golem, Usdc};
use shell::{GolemHome, Home};
use vault::Reader;

/// Some home that nobody has.
pub const ELSEWHERE: &str = "00112233445566778899aabbccddeeff";

pub struct Tent {
    pub folder: tempfile::TempDir,
}

/// How often something is done: a few times, all of them with `BARDO_FULL=1`, or that part of them with `BARDO_FULL=0.25`.
pub fn full(all: u64, few: u64) -> u64 {
    let part = std::env::var("BARDO_FULL").ok().map(|part| part.parse().unwrap_or(1.0_f64));
    part.map_or(few, |part| ((all as f64 * part) as u64).max(few))
}

impl Tent {
    /// An empty folder where a home could be.
    pub fn bare() -> Tent {
        Tent { folder: tempfile::tempdir().unwrap() }
    }

    pub fn new() -> Tent {
        let tent = Tent::bare();
        tent.ok(["init"]);
        tent
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn home(&self) -> Home {
        Home::at(self.root())
    }

    pub fn golem(&self, name: &str) -> GolemHome {
        self.home().golem(name).unwrap()
    }

    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bardo"));
        command.env("BARDO_HOME", self.root()).args(args);
        let ours =
            |name: &str| name == "RUST_LOG" || ["BARDO__", "OTEL_"].iter().any(|prefix| name.starts_with(prefix));
        for (name, _) in std::env::vars().filter(|(name, _)| ours(name)) {
            command.env_remove(name);
        }
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs it, expects success, gives what it printed.
    pub fn ok<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs it, expects this exit code, gives what it complained.
    pub fn fails<S: AsRef<OsStr>>(&self, code: i32, args: impl IntoIterator<Item = S>) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(code), "{}\n{}", text(&output.stdout), text(&output.stderr));
        assert!(output.stdout.is_empty(), "complaints belong on stderr: {}", text(&output.stdout));
        text(&output.stderr)
    }

    /// What other homes call this one.
    pub fn id(&self) -> String {
        self.home().identity().unwrap()
    }

    /// Moves a golem out to another home.
    pub fn send(&self, name: &str, folder: &str, to: &Tent) -> String {
        self.ok(["golem", "move", name, folder, "--to", &to.id()])
    }

    /// Takes in a golem that another home has moved out, as the owner of both would.
    pub fn receive(&self, folder: &str, from: &Tent) -> String {
        let key = shell::home::key::OwnerKey::of(&from.home()).unwrap().public();
        self.ok(["golem", "restore", folder, "--signed-by", &key])
    }

    /// The life as its journal has it, everything verified.
    pub fn verified(&self, name: &str) -> Golem {
        let place = self.golem(name);
        let reader = Reader::open(&place.database()).unwrap();
        let (golem, _) = reader.verify(&self.home().heads()).unwrap_or_else(|e| panic!("{name}: {e}"));
        golem
    }

    /// All the money there is, wherever it is now, plus what it became.
    pub fn all_money(&self) -> Usdc {
        let treasury = self.home().treasury().unwrap();
        let mut sum = treasury.balance().unwrap();
        for place in self.home().list().unwrap() {
            let (golem, _) = Reader::open(&place.database()).unwrap().wake().unwrap();
            let (life, purse, capital) = (golem.life(), &golem.life().purse(), &golem.life().capital());
            sum += purse.credit + purse.spent + purse.gas;
            sum += capital.cash + capital.reserved + capital.cost + capital.fees - capital.realised;
            let sent = treasury.undelivered(life.id(), life.transfers_taken()).unwrap();
            sum += sent.iter().map(|t| t.credit + t.capital).sum();
            let received = treasury.received(life.id()).unwrap();
            sum += life.deposits().iter().filter(|d| d.number > received).map(|d| d.amount).sum();
        }
        sum
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every file below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// Small, fast, good enough to choose instants and bits by.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }
}

/// A small filesystem of its own, gone when dropped, whatever happened.
pub struct Disk {
    at: PathBuf,
}

impl Disk {
    /// Where nobody may mount anything there is nothing to show, and that is said.
    pub fn mount(at: PathBuf, image: PathBuf) -> Option<Disk> {
        fs::create_dir_all(&at).unwrap();
        fs::File::create(&image).and_then(|file| file.set_len(24 << 20)).unwrap();
        let done = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
        let made = done(Command::new("mkfs.ext4").args(["-q", "-m", "0", "-b", "4096"]).arg(&image));
        let mounted = made && done(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(&at));
        if !mounted {
            assert!(std::env::var_os("BARDO_REALPARTS").is_none(), "a disk of one's own needs root and a loop device");
            eprintln!("\n*** SKIPPED: a full and a read-only disk need root and a loop device to mount one ***\n");
        }
        mounted.then_some(Disk { at })
    }

    pub fn remount(&self, how: &str) {
        let how = format!("remount,{how}");
        let output = Command::new("mount").args(["-o", &how]).arg(&self.at).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }

    fn ballast(&self) -> PathBuf {
        self.at.join("ballast")
    }

    /// Fills it up, then gives back so many bytes.
    pub fn fill(&self, but: u64) {
        let mut file = fs::File::create(self.ballast()).unwrap();
        for size in [1 << 16, 512] {
            while file.write_all(&vec![7; size]).is_ok() {}
        }
        let _ = file.sync_all();
        let there = file.metadata().unwrap().len();
        file.set_len(there.saturating_sub(but)).unwrap();
        let _ = file.sync_all();
    }

    pub fn free(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.at).status();
    }
}
