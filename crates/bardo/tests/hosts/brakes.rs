//! Every order that stops something, or gives money back, under everything that may be wrong just when it is needed: a table
//! of orders by faults, each cell one command of the real program and what became of it. With one key twice in bardo.toml
//! `halt --all`, `pause --all`, `retire` and `resume` once did nothing and ended with 3.

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use golem::{Life, Usdc};
use testing::wait::{until, within};

use crate::common::{Disk, Tent, text};
use crate::three_homes::{clocked, library};

/// Each golem has one order of its own; those to all come after.
const GOLEMS: [&str; 7] = ["frost", "pia", "rex", "wim", "yes", "nay", "old"];

struct Order {
    args: &'static [&'static str],
    /// Whose life shows what became of it; everybody's where it is to all.
    whom: Option<&'static str>,
    shows: fn(&Life, u64) -> bool,
    /// It is no order to stop anything.
    settles: bool,
}

const fn order(args: &'static [&'static str], whom: &'static str, shows: fn(&Life, u64) -> bool) -> Order {
    Order { args, whom: Some(whom), shows, settles: false }
}

const fn to_all(args: &'static [&'static str], shows: fn(&Life, u64) -> bool, settles: bool) -> Order {
    Order { args, whom: None, shows, settles }
}

const fn settling(order: Order) -> Order {
    Order { settles: true, ..order }
}

const ORDERS: [Order; 11] = [
    order(&["golem", "freeze", "frost"], "frost", |life, _| life.heartbeat().frozen),
    order(&["golem", "pause", "pia"], "pia", |life, _| life.heartbeat().paused),
    settling(order(&["golem", "resume", "rex"], "rex", |life, _| !life.heartbeat().paused && !life.heartbeat().frozen)),
    settling(order(&["golem", "withdraw", "wim", "1"], "wim", |life, _| life.purse().withdrawn > Usdc::ZERO)),
    settling(order(&["golem", "approve", "yes", "KEY"], "yes", answered)),
    settling(order(&["golem", "approve", "nay", "KEY", "--deny"], "nay", answered)),
    order(&["golem", "retire", "old", "--confirm", "old"], "old", |life, _| life.is_dead()),
    to_all(&["golem", "freeze", "--all"], |life, _| life.is_dead() || life.heartbeat().frozen, false),
    to_all(&["golem", "pause", "--all"], |life, _| life.is_dead() || life.heartbeat().paused, false),
    to_all(
        &["golem", "resume", "--all"],
        |life, _| life.is_dead() || !life.heartbeat().paused && !life.heartbeat().frozen,
        true,
    ),
    to_all(&["halt", "--all", "--yes"], |life, _| life.is_dead(), false),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// One section twice, as anybody may write it.
    SettingsBroken,
    SettingsUnreadable,
    SettingsMissing,
    DiskFull,
    HostHung,
    HostDead,
    /// A host is up whose files this version cannot read.
    HostNewer,
    ClockAhead,
    ClockBehind,
    HomeReadOnly,
    FewDescriptors,
}

const FAULTS: usize = 11;

fn answered(life: &Life, key: u64) -> bool {
    golem::policy::asks(life).is_none_or(|ask| ask.key != key)
}

impl Fault {
    fn has_host(self) -> bool {
        matches!(self, Fault::HostHung | Fault::HostDead | Fault::HostNewer | Fault::HomeReadOnly)
    }

    /// Nobody answers before the fault is over.
    fn waits(self) -> bool {
        matches!(self, Fault::HostHung | Fault::HostNewer)
    }

    fn code(self, order: &Order) -> i32 {
        match self {
            Fault::HomeReadOnly => 1,
            // Whoever has not answered has not ended.
            fault if fault.waits() && order.args[0] == "halt" => 1,
            _ => 0,
        }
    }
}

fn populate(tent: &Tent) {
    tent.ok(["init"]);
    let sets = [
        "mortality.stochastic.enabled=false",
        "mind.kind=reflex",
        "reflex.act_every=2",
        "policy.approve_above=0",
        "policy.approve_within=30d",
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", *set]).collect();
    for (n, name) in GOLEMS.into_iter().enumerate() {
        let seed = (n + 1).to_string();
        tent.ok([&["golem", "new", name, "--seed", &seed], &sets[..]].concat());
        tent.ok(["golem", "run", name, "--speed", "max", "--ticks", "40"]);
    }
    tent.ok(["golem", "pause", "rex"]);
    tent.ok(["golem", "freeze", "rex"]);
}

fn up(tent: &Tent) -> Child {
    let mut command = tent.command(["up", "--listen", "", "--gateway", "", "--speed", "400"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lodges = |name: &&str| life(tent, name).is_dead() || tent.golem(name).lodges().unwrap_or(false);
    until("everyone is lived", || GOLEMS.iter().all(lodges));
    child
}

fn life(tent: &Tent, name: &str) -> Life {
    tent.golem(name).wake().unwrap().0.life().clone()
}

fn signal(host: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &host.id().to_string()]).status().unwrap().success());
}

/// What every life here says of its own format. A host that was stopped in the middle of writing has to come to an end with that
/// first, and is stopped again.
fn set_format(tent: &Tent, format: &str, host: Option<&Child>) {
    for name in GOLEMS {
        let db = rusqlite::Connection::open(tent.home().golems().join(name).join("life.db")).unwrap();
        let set = || db.execute("UPDATE meta SET value = ?1 WHERE key = 'format'", [format]).is_ok();
        within(
            Duration::from_secs(30),
            || format!("{name} is always being written to"),
            || {
                let done = set();
                if let (false, Some(host)) = (done, host) {
                    signal(host, "-CONT");
                    std::thread::sleep(Duration::from_millis(30));
                    signal(host, "-STOP");
                }
                done
            },
        );
    }
}

fn format_of(tent: &Tent) -> String {
    let db = rusqlite::Connection::open(tent.golem("frost").database()).unwrap();
    db.query_row("SELECT value FROM meta WHERE key = 'format'", [], |row| row.get(0)).unwrap()
}

/// The same command behind another, in an environment of its own.
fn behind(tent: &Tent, before: &[&str], args: &[String]) -> Command {
    let mut command = Command::new(before[0]);
    command.args(&before[1..]).arg(env!("CARGO_BIN_EXE_bardo")).args(args).env("BARDO_HOME", tent.root());
    command
}

fn is_there(program: &str, args: &[&str]) -> bool {
    let there = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let there = there.is_ok_and(|status| status.success());
    if !there {
        assert!(std::env::var_os("BARDO_REALPARTS").is_none(), "{program} and root are needed here");
        eprintln!("\n*** SKIPPED: this needs {program}, and root ***\n");
    }
    there
}

struct Cell<'a> {
    tent: &'a Tent,
    fault: Fault,
    disk: Option<&'a Disk>,
    clock: Option<&'a str>,
    format: &'a str,
}

impl Cell<'_> {
    /// Gives the order while the fault is there, and only then.
    fn give(&self, args: &[String], host: Option<&Child>) -> Output {
        let Cell { tent, fault, .. } = *self;
        let ours = tent.command(args);
        let mut command = match (fault, self.clock) {
            (Fault::ClockAhead, Some(library)) => clocked(ours, library, 3_650),
            (Fault::ClockBehind, Some(library)) => clocked(ours, library, -3_650),
            (Fault::FewDescriptors, _) => behind(tent, &["sh", "-c", "ulimit -n 24; exec \"$0\" \"$@\""], args),
            (Fault::HomeReadOnly, _) => {
                let bind = "mount --bind \"$BARDO_HOME\" \"$BARDO_HOME\" && \
                            mount -o remount,ro,bind \"$BARDO_HOME\" && exec \"$0\" \"$@\"";
                behind(tent, &["unshare", "-m", "sh", "-c", bind], args)
            }
            _ => ours,
        };
        let host_is = |name: &str| host.iter().for_each(|host| signal(host, name));
        match fault {
            Fault::DiskFull => {
                assert!(tent.home().keep_reserve(), "there is room for it before the disk is full");
                self.disk.unwrap().fill(0);
            }
            Fault::HostHung => host_is("-STOP"),
            Fault::HostNewer => {
                host_is("-STOP");
                set_format(tent, "99", host);
            }
            _ => {}
        }
        let output = command.output().unwrap();
        match fault {
            Fault::DiskFull => self.disk.unwrap().free(),
            Fault::HostHung => host_is("-CONT"),
            Fault::HostNewer => {
                set_format(tent, self.format, host);
                host_is("-CONT");
            }
            _ => {}
        }
        output
    }

    fn check(&self, order: &Order, host: &mut Option<Child>) {
        let Cell { tent, fault, .. } = *self;
        let ask = order.whom.and_then(|name| golem::policy::asks(&life(tent, name)));
        let key = ask.map_or(0, |ask| ask.key);
        assert!(key > 0 || !order.args.contains(&"KEY"), "{order_of} has nothing to answer", order_of = order.args[2]);
        let number = key.to_string();
        let args: Vec<String> =
            order.args.iter().map(|arg| if *arg == "KEY" { number.clone() } else { (*arg).to_owned() }).collect();
        let output = self.give(&args, host.as_ref());
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        let told = format!("{fault:?}, {args:?}: {}\n{out}{err}", output.status);
        assert_eq!(output.status.code(), Some(fault.code(order)), "{told}");
        assert!(!err.contains("panicked"), "{told}");
        if fault == Fault::HomeReadOnly {
            return self.check_signalled(order, host, &err, &told);
        }
        let whom = || order.whom.map_or(GOLEMS.to_vec(), |name| vec![name]);
        let holds = || whom().into_iter().all(|name| (order.shows)(&life(tent, name), key));
        match host {
            Some(_) => within(Duration::from_secs(60), || format!("it never came to that: {told}"), holds),
            None => assert!(holds(), "{told}"),
        }
    }

    /// Nothing is on record, which is said; whoever lives what is to be stopped has been told to stop.
    fn check_signalled(&self, order: &Order, host: &mut Option<Child>, err: &str, told: &str) {
        assert!(err.contains("not on record") || order.settles && !err.is_empty(), "{told}");
        let child = host.as_mut().unwrap();
        if order.settles {
            assert!(child.try_wait().unwrap().is_none(), "nobody was told to stop: {told}");
            return;
        }
        assert!(err.contains("was told to stop"), "{told}");
        within(Duration::from_secs(60), || format!("it goes on: {told}"), || child.try_wait().unwrap().is_some());
        *host = Some(up(self.tent));
    }
}

fn every_order_under(fault: Fault) {
    let tent = Tent::bare();
    fs::create_dir_all(tent.root()).unwrap();
    let disk = match fault {
        Fault::DiskFull => match Disk::mount(tent.root(), tent.folder.path().join("image")) {
            Some(disk) => Some(disk),
            None => return,
        },
        _ => None,
    };
    let clock = library();
    match fault {
        Fault::ClockAhead | Fault::ClockBehind if clock.is_none() && !is_there("faketime", &["true"]) => return,
        Fault::HomeReadOnly if !is_there("unshare", &["-m", "true"]) => return,
        _ => {}
    }
    populate(&tent);
    let settings = tent.root().join("bardo.toml");
    let mut host = fault.has_host().then(|| up(&tent));
    match fault {
        Fault::SettingsBroken => fs::write(&settings, "[gateway]\nlisten = \"\"\n[gateway]\n").unwrap(),
        Fault::SettingsUnreadable => {
            fs::remove_file(&settings).unwrap();
            fs::create_dir(&settings).unwrap();
        }
        Fault::SettingsMissing => fs::remove_file(&settings).unwrap(),
        Fault::HostDead => {
            let mut host = host.take().unwrap();
            host.kill().unwrap();
            host.wait().unwrap();
        }
        _ => {}
    }
    let format = format_of(&tent);
    let cell = Cell { tent: &tent, fault, disk: disk.as_ref(), clock: clock.as_deref(), format: &format };
    for order in &ORDERS {
        cell.check(order, &mut host);
    }
    if let Some(mut host) = host {
        let _ = host.kill();
        let _ = host.wait();
    }
    println!("counted: {} orders under {fault:?}, of {} cells", ORDERS.len(), ORDERS.len() * FAULTS);
}

#[test]
fn every_brake_works_with_settings_that_are_broken() {
    every_order_under(Fault::SettingsBroken);
}

#[test]
fn every_brake_works_with_settings_that_cannot_be_read() {
    every_order_under(Fault::SettingsUnreadable);
}

#[test]
fn every_brake_works_without_settings() {
    every_order_under(Fault::SettingsMissing);
}

#[test]
fn every_brake_works_on_a_full_disk() {
    every_order_under(Fault::DiskFull);
}

#[test]
fn every_brake_holds_or_waits_while_a_host_hangs() {
    every_order_under(Fault::HostHung);
}

#[test]
fn every_brake_works_after_a_host_was_killed() {
    every_order_under(Fault::HostDead);
}

#[test]
fn every_brake_reaches_a_host_of_a_newer_version() {
    every_order_under(Fault::HostNewer);
}

#[test]
fn every_brake_works_under_a_clock_ten_years_ahead() {
    every_order_under(Fault::ClockAhead);
}

#[test]
fn every_brake_works_under_a_clock_ten_years_behind() {
    every_order_under(Fault::ClockBehind);
}

#[test]
fn every_brake_ends_whoever_lives_it_where_nothing_can_be_written() {
    every_order_under(Fault::HomeReadOnly);
}

#[test]
fn every_brake_works_with_few_descriptors() {
    every_order_under(Fault::FewDescriptors);
}

/// A host that is stopped while it closes a life holds the file alone, and not even its id can be read in it.
#[test]
fn a_brake_waits_for_a_process_that_holds_the_file() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "40"]);
    let held = rusqlite::Connection::open(tent.golem("ada").database()).unwrap();
    held.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
    held.execute_batch("BEGIN IMMEDIATE; DELETE FROM meta WHERE key = 'no such key'").unwrap();
    let given = tent.run(["halt", "--all", "--yes"]);
    let told = format!("{}{}", text(&given.stdout), text(&given.stderr));
    assert!(given.status.code() == Some(1) && told.contains("ada has not answered yet"), "{told}");
    drop(held);
    tent.run(["golem", "run", "ada", "--speed", "max", "--ticks", "1"]);
    assert!(life(&tent, "ada").is_dead());
}

/// The treasury has a lock of its own, which a host may hold when it is stopped.
#[test]
fn a_brake_works_while_a_process_holds_the_treasury() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "40"]);
    let own = life(&tent, "ada").id().to_string();
    let heads = fs::read_dir(tent.home().heads()).unwrap().map(|head| head.unwrap().path());
    let books: Vec<fs::File> = heads
        .filter(|path| !path.display().to_string().contains(&own))
        .map(|path| fs::File::options().read(true).write(true).open(path).unwrap())
        .collect();
    assert!(!books.is_empty());
    books.iter().for_each(|book| book.try_lock().unwrap());
    tent.run(["golem", "retire", "ada", "--confirm", "ada"]);
    assert!(life(&tent, "ada").is_dead());
}

/// `doctor` said that all is well of settings with which `up` ends at once.
#[test]
fn doctor_says_what_up_would_not_start_by() {
    let tent = Tent::new();
    for (settings, told) in [
        ("[gateway]\nlisten = \"\"\n[gateway]\n", "is in line 1 already"),
        ("[gateway]\nlisten = \"nowhere\"\n", "gateway.listen is not an address"),
        ("[api]\nlisten = \"nowhere\"\n", "api.listen is not an address"),
    ] {
        fs::write(tent.root().join("bardo.toml"), settings).unwrap();
        let examined = tent.run(["doctor"]);
        let said = text(&examined.stdout);
        assert_eq!(examined.status.code(), Some(1), "{said}");
        assert!(said.contains(told) && said.contains("`up` would not start"), "{said}");
        let up = tent.run(["up", "--speed", "1"]);
        assert!(!up.status.success() && text(&up.stderr).contains(told), "{}", text(&up.stderr));
    }
    fs::write(tent.root().join("bardo.toml"), "").unwrap();
    tent.ok(["doctor"]);
}
