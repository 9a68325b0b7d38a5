//! What owners do, at random, in three homes: golems are born into them, run, funded, copied, moved, taken in, taken back,
//! by commands and by hosts that are killed anywhere, under clocks that are wrong, with another user of the machine
//! reaching for whatever can be reached. After each of it every life is in one place, and all the money is there to the
//! micro-USDC.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Dice, Tent, full, text};
use golem::{GolemId, Life, Usdc};
use vault::{Head, Seal};

const LIVES: u64 = 5;

struct Owner {
    homes: Vec<Tent>,
    keys: Vec<String>,
    hosts: Vec<Option<Child>>,
    /// Every archive and backup there ever was, and whether it came from a move.
    folders: Vec<String>,
    /// Where each golem was last moved to.
    moved: BTreeMap<String, String>,
    made: u64,
    dice: Dice,
    ids: BTreeMap<GolemId, String>,
    clocks: Option<String>,
    stranger: bool,
    /// What was done, by kind, and how often it worked.
    done: BTreeMap<&'static str, (u64, u64)>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        for host in self.hosts.iter_mut().flatten() {
            let _ = host.kill();
            let _ = host.wait();
        }
    }
}

/// Puts a command under a clock that is so many days off.
pub(crate) fn clocked(mut command: Command, library: &str, days: i64) -> Command {
    command.env("LD_PRELOAD", library).env("FAKETIME", format!("{days:+}d"));
    command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    command
}

/// What `faketime` puts under a program; none where there is no such thing.
pub(crate) fn library() -> Option<String> {
    let output = Command::new("faketime").args(["-f", "+1d", "sh", "-c", "echo $LD_PRELOAD"]).output().ok()?;
    Some(text(&output.stdout).trim().to_owned()).filter(|library| output.status.success() && !library.is_empty())
}

impl Owner {
    fn new(seed: u64) -> Owner {
        let is_there = |program: &str, args: &[&str]| {
            Command::new(program)
                .args(args)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|s| s.success())
        };
        let clocks = library();
        let stranger = is_there("setpriv", &["--reuid=65534", "--regid=65534", "--clear-groups", "true"]);
        let must = std::env::var_os("BARDO_REALPARTS").is_some();
        assert!(!must || (clocks.is_some() && stranger), "faketime, setpriv and root are needed here");
        if clocks.is_none() || !stranger {
            eprintln!("\n*** SKIPPED: wrong clocks need faketime, and another user needs root ***\n");
        }
        let homes: Vec<Tent> = (0..3).map(|_| Tent::new()).collect();
        for home in &homes {
            // Only the home's own walls count.
            fs::set_permissions(home.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
            let copies = home.folder.path().join("scheduled");
            let config = format!("[backup]\nfolder = {copies:?}\nevery = \"1s\"\nkeep = 2\n");
            fs::write(home.root().join("bardo.toml"), config).unwrap();
        }
        let keys = homes.iter().map(|home| shell::home::key::OwnerKey::of(&home.home()).unwrap().public()).collect();
        let mut ids = BTreeMap::new();
        for n in 0..LIVES {
            let (home, name) = (&homes[(n % 3) as usize], format!("g{n}"));
            let seed = (n + 1).to_string();
            let mut new = vec!["golem", "new", &name, "--seed", &seed, "--credit", "50"];
            new.extend(["--set", "mortality.stochastic.enabled=false", "--set", "mind.kind=reflex"]);
            home.ok(new);
            ids.insert(home.verified(&name).life().id(), name);
        }
        let hosts = (0..3).map(|_| None).collect();
        let (folders, moved, done) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Owner { homes, keys, hosts, folders, moved, made: 0, dice: Dice(seed), ids, clocks, stranger, done }
    }

    /// One command in so many runs under a clock that is years off.
    fn wrong(&mut self, command: Command, one_in: u64) -> Command {
        match self.clocks.clone() {
            Some(library) if self.dice.roll(one_in) == 0 => {
                let days = self.dice.roll(7_300) as i64 - 3_650;
                clocked(command, &library, days)
            }
            _ => command,
        }
    }

    fn folder(&mut self) -> String {
        self.made += 1;
        let at = self.dice.roll(3) as usize;
        self.homes[at].folder.path().join(format!("f{}", self.made)).to_str().unwrap().to_owned()
    }

    /// The home that has it open, if one has.
    fn home_of(&self, name: &str) -> Option<usize> {
        let id = self.ids.iter().find(|(_, known)| *known == name).map(|(id, _)| *id)?;
        let has = |tent: &Tent| Head::peek(&tent.home().heads(), id).is_some_and(|head| head.seal == Seal::Open);
        self.homes.iter().position(has)
    }

    /// The home it is leaving, if its move was cut short.
    fn leaving(&self, name: &str) -> Option<usize> {
        let unnamed = |tent: &Tent| {
            let folder = tent.home().golems().join(name);
            folder.join("MOVED-TO").exists() && !self.moved.contains_key(name)
        };
        self.homes.iter().position(unnamed)
    }

    fn golem(&mut self) -> String {
        format!("g{}", self.dice.roll(LIVES))
    }

    /// Gives a command, perhaps killed halfway, perhaps under a wrong clock; never lets it panic.
    fn give(&mut self, kind: &'static str, home: usize, args: &[&str]) -> bool {
        let mut command = self.wrong(self.homes[home].command(args), 5);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if self.dice.roll(5) == 0 {
            std::thread::sleep(Duration::from_micros(self.dice.roll(60_000)));
            let _ = child.kill();
        }
        let output = child.wait_with_output().unwrap();
        let complaint = text(&output.stderr);
        assert!(!complaint.contains("panicked"), "{args:?}: {complaint}");
        let (tried, worked) = self.done.entry(kind).or_default();
        *tried += 1;
        *worked += u64::from(output.status.success());
        output.status.success()
    }

    fn host(&mut self, home: usize) {
        match self.hosts[home].take() {
            Some(mut host) => {
                if self.dice.roll(2) == 0 {
                    let _ = host.kill();
                } else {
                    let _ = Command::new("kill").args(["-TERM", &host.id().to_string()]).status();
                }
                let _ = host.wait();
            }
            None => {
                let command = self.homes[home].command(["up", "--listen", "", "--speed", "500"]);
                let host = self.wrong(command, 3).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                self.hosts[home] = Some(host);
                let deadline = Instant::now() + Duration::from_secs(2);
                while !self.homes[home].home().is_up() && Instant::now() < deadline {
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
        }
    }

    /// The home a moved archive may go to and the key on it, mostly; else any home and key.
    fn addressee(&mut self, folder: &str) -> Option<(usize, String)> {
        let any = (self.dice.roll(3) as usize, self.keys[self.dice.roll(3) as usize].clone());
        let label: serde_json::Value =
            serde_json::from_slice(&fs::read(Path::new(folder).join("backup.json")).ok()?).ok()?;
        let to = self.homes.iter().position(|tent| label["passage"]["to"] == tent.id());
        let key = label["passage"]["owner"].as_str().map(str::to_owned);
        Some(match (to, key) {
            (Some(to), Some(key)) if self.dice.roll(4) > 0 => (to, key),
            _ => any,
        })
    }

    /// A whole home is copied and lost, and comes back.
    fn burn(&mut self, home: usize) {
        if let Some(mut host) = self.hosts[home].take() {
            let _ = Command::new("kill").args(["-TERM", &host.id().to_string()]).status();
            let _ = host.wait();
        }
        let folder = self.folder();
        let tent = &self.homes[home];
        let backup = ["backup", &folder, "--with-keys"];
        let output = tent.command(backup).env("BARDO_PASSPHRASE", "correct horse").output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        fs::remove_dir_all(tent.root()).unwrap();
        let restore = ["restore", &folder, "--take-over", "--with-keys"];
        let output = tent.command(restore).env("BARDO_PASSPHRASE", "correct horse").output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let (tried, worked) = self.done.entry("burn").or_default();
        (*tried, *worked) = (*tried + 1, *worked + 1);
    }

    /// Somebody else on this machine reaches for everything.
    fn reach(&mut self, home: usize, name: &str) {
        let root = self.homes[home].root();
        let bardo = env!("CARGO_BIN_EXE_bardo");
        let at = |part: &str| root.join(part).display().to_string();
        for attempt in [
            format!("cat {}", at("treasury.db")),
            format!("flock -n {}/* true", at("heads")),
            format!("flock -n {} true", at(&format!("golems/{name}"))),
            format!("touch {}", at(&format!("golems/{name}/FROZEN"))),
            format!("touch {}", at(&format!("bells/{name}"))),
            format!("cat {}", at(&format!("golems/{name}/secret"))),
            format!("{bardo} --home {} golem list", root.display()),
            format!("{bardo} --home {} halt --all --yes", root.display()),
        ] {
            let output = Command::new("setpriv")
                .args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", &attempt])
                .output()
                .unwrap();
            assert!(!output.status.success(), "another user may {attempt}: {}", text(&output.stdout));
        }
        let (tried, _) = self.done.entry("reach").or_default();
        *tried += 1;
    }

    fn act(&mut self) {
        let name = self.golem();
        // Mostly where it is, now and then anywhere.
        let (anywhere, at) = (self.dice.roll(3) as usize, self.home_of(&name));
        let home = if self.dice.roll(5) == 0 { anywhere } else { at.or(self.leaving(&name)).unwrap_or(anywhere) };
        let amount = format!("0.{}", 1 + self.dice.roll(9));
        match self.dice.roll(24) {
            0..=2 => drop(self.give("run", home, &["golem", "run", &name, "--speed", "max", "--ticks", "3"])),
            3 => drop(self.give("fund", home, &["golem", "fund", &name, &amount])),
            4 => drop(self.give("fund", home, &["golem", "fund", &name, &amount, "--capital"])),
            5 => drop(self.give("withdraw", home, &["golem", "withdraw", &name, &amount, "--capital"])),
            6 => drop(self.give("withdraw", home, &["golem", "withdraw", &name, &amount])),
            7 | 8 => {
                let folder = self.folder();
                self.give("backup", home, &["golem", "backup", &name, &folder]);
                self.folders.push(folder);
            }
            9..=13 => {
                let (folder, any) = (self.folder(), self.homes[self.dice.roll(3) as usize].id());
                // One that was cut short is mostly finished for whom it was begun.
                let begun = fs::read_to_string(self.homes[home].home().golems().join(&name).join("MOVED-TO")).ok();
                let to = begun.filter(|_| self.dice.roll(4) > 0).unwrap_or(any);
                self.give("move", home, &["golem", "move", &name, &folder, "--to", &to]);
                if Path::new(&folder).exists() {
                    self.moved.insert(name, folder.clone());
                }
                self.folders.push(folder);
            }
            14 if !self.folders.is_empty() => {
                let (from, to) = (self.dice.roll(self.folders.len() as u64) as usize, self.folder());
                let _ = Command::new("cp").args(["-a", &self.folders[from], &to]).stderr(Stdio::null()).status();
                self.folders.push(to);
            }
            15..=19 if !self.folders.is_empty() => {
                // Mostly what is on its way, else anything there is.
                let any = self.folders[self.dice.roll(self.folders.len() as u64) as usize].clone();
                let from = self.moved.get(&name).filter(|_| self.dice.roll(3) > 0).cloned().unwrap_or(any);
                let (home, key) = self.addressee(&from).unwrap_or((home, self.keys[0].clone()));
                let mut args = vec!["golem", "restore", &from];
                if self.dice.roll(4) > 0 {
                    args.extend(["--signed-by", &key]);
                }
                if self.dice.roll(4) == 0 {
                    args.push("--rewind");
                }
                if self.give("restore", home, &args) {
                    self.moved.remove(&name);
                }
            }
            20 => drop(self.give("release", home, &["golem", "release", &name])),
            21 => drop(self.give("join", home, &["golem", "join", &name])),
            22 => self.host(home),
            _ if self.dice.roll(6) == 0 => self.burn(home),
            _ if self.stranger => self.reach(home, &name),
            _ => {}
        }
    }

    /// Every life is in one place at most, and none is lost; gives the money of all of them.
    fn lives(&self) -> Result<Usdc, String> {
        let mut sum = Usdc::ZERO;
        for (id, name) in &self.ids {
            let (mut open, mut resting) = (Vec::new(), Vec::new());
            for (at, tent) in self.homes.iter().enumerate() {
                let home = tent.home();
                for place in home.list().unwrap_or_default().into_iter().filter(|place| place.is(*id)) {
                    let (golem, _) = place.wake().map_err(|e| format!("{name} in home {at}: {e}"))?;
                    let seal = Head::peek(&home.heads(), *id).map(|head| head.seal);
                    if seal == Some(Seal::Open) {
                        open.push(at);
                    }
                    resting.push((golem.seq(), at, Box::new(golem.life().clone())));
                }
            }
            if open.len() > 1 {
                return Err(format!("{name} lives in homes {open:?}"));
            }
            let newest = resting.into_iter().max_by_key(|(seq, at, _)| (open.contains(at), *seq));
            let (_, at, life) = newest.ok_or_else(|| format!("{name} is lost"))?;
            sum += worth(&self.homes[at], &life);
        }
        Ok(sum)
    }

    fn check(&self, step: u64, seed: u64, total: Usdc) {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let balances = || -> Vec<Option<Usdc>> {
                self.homes.iter().map(|tent| tent.home().treasury().ok()?.balance().ok()).collect()
            };
            let before = balances();
            let lives = self.lives();
            let there: Usdc = before.iter().flatten().copied().sum();
            let found = match &lives {
                Ok(lives) if there + *lives == total => return,
                Ok(lives) => format!("{} instead of {total}", there + *lives),
                Err(why) => why.clone(),
            };
            // A host may have moved something between two looks; what stays wrong is wrong.
            let still = self.hosts.iter().all(Option::is_none) && before == balances();
            assert!(!still && Instant::now() < deadline, "seed {seed}, step {step}: {found}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Everything a life has and what it became, with what is on its way between it and its home's treasury.
fn worth(tent: &Tent, life: &Life) -> Usdc {
    let (purse, capital, treasury) = (&life.purse(), &life.capital(), tent.home().treasury().unwrap());
    let mut sum = purse.credit + purse.spent + purse.gas;
    sum += capital.cash + capital.reserved + capital.cost + capital.fees - capital.realised;
    let sent = treasury.undelivered(life.id(), life.transfers_taken()).unwrap();
    sum += sent.iter().map(|transfer| transfer.credit + transfer.capital).sum();
    let received = treasury.received(life.id()).unwrap();
    sum + life.deposits().iter().filter(|deposit| deposit.number > received).map(|deposit| deposit.amount).sum()
}

#[test]
fn one_life_in_one_place_whatever_owners_and_others_do() {
    let seed = std::env::var("BARDO_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(17);
    let (mut owner, steps) = (Owner::new(seed), full(2_000, 80));
    let total = Usdc::dollars(3_000);
    owner.check(0, seed, total);
    for step in 1..=steps {
        owner.act();
        owner.check(step, seed, total);
    }
    // Everything comes to rest, and the doctor finds nothing.
    for (at, tent) in owner.homes.iter().enumerate() {
        if let Some(mut host) = owner.hosts[at].take() {
            let _ = Command::new("kill").args(["-TERM", &host.id().to_string()]).status();
            let _ = host.wait();
        }
        for left in fs::read_dir(tent.home().golems()).unwrap().flatten().map(|entry| entry.path()) {
            // What a kill has left lying about is reported, and is its owner's to remove.
            if left.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
                fs::remove_dir_all(left).unwrap();
            }
        }
        let examined = tent.run(["doctor"]);
        let wrong: Vec<String> =
            text(&examined.stdout).lines().filter(|line| line.starts_with("WRONG")).map(str::to_owned).collect();
        assert!(wrong.is_empty(), "seed {seed}, home {at}: {wrong:?}");
        let copies: PathBuf = Path::new(tent.folder.path()).join("scheduled");
        if copies.join("rounds").exists() {
            tent.ok(["drill", copies.to_str().unwrap()]);
        }
    }
    owner.check(steps + 1, seed, total);
    let told: Vec<String> =
        owner.done.iter().map(|(kind, (tried, worked))| format!("{kind} {worked}/{tried}")).collect();
    println!("{steps} operations, seed {seed}: {}", told.join(", "));
}
