//! Many golems in one process: killed at any instant nothing acknowledged is lost and nothing is there twice; who is
//! lived by a host is lived by nobody else; one that breaks harms no other.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::common::{Dice, Tent, full, text};
use testing::wait::{until, within};
use vault::{Log, Reader};

/// A host, and everything it has said.
struct Host {
    child: Child,
    reader: std::thread::JoinHandle<Vec<String>>,
}

impl Host {
    fn up(tent: &Tent, speed: &str) -> Host {
        let mut command = tent.command(["--json", "up", "--listen", "", "--speed", speed]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || {
            let mut out = BufReader::new(stdout);
            let (mut lines, mut line) = (Vec::new(), String::new());
            while out.read_line(&mut line).unwrap_or(0) > 0 {
                // Only whole lines count.
                if line.ends_with('\n') {
                    lines.push(line.trim_end().to_owned());
                }
                line.clear();
            }
            lines
        });
        Host { child, reader }
    }

    fn kill(mut self) -> Vec<String> {
        let _ = self.child.kill();
        let complaint = text(&self.child.wait_with_output().unwrap().stderr);
        assert!(!complaint.contains("panicked"), "{complaint}");
        self.reader.join().unwrap()
    }

    /// Asked politely, it puts everything into place.
    fn stop(self) -> Vec<String> {
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        self.reader.join().unwrap()
    }
}

/// What was said of golems, as (name, record, words).
fn messages(lines: &[String]) -> impl Iterator<Item = (String, u64, &str)> {
    lines.iter().filter(|line| line.starts_with("{\"golem\":")).map(|line| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = value["golem"].as_str().unwrap().to_owned();
        let words = line.split_once(',').unwrap().1;
        (name, value["seq"].as_u64().unwrap(), words)
    })
}

fn settle_down(tent: &Tent, golems: u64) {
    let host = Host::up(tent, "100");
    until("it does not come up", || tent.home().is_up());
    std::thread::sleep(Duration::from_millis(500 + 5 * golems));
    host.stop();
}

#[test]
fn a_host_killed_anywhere_loses_nothing_and_repeats_nothing() {
    let tent = Tent::new();
    let (golems, kills) = (200, full(5_000, 80));
    tent.ok(["treasury", "add", "1000000"]);
    for n in 0..golems {
        let (name, seed) = (format!("g{n}"), (n + 1).to_string());
        let world = if n % 3 == 0 { "queue" } else { "sim" };
        let mut new = vec!["golem", "new", &name, "--world", world, "--seed", &seed];
        for set in ["mind.samples=2", "mind.sureness=0", "policy.rebalances_per_day=100000", "dream.enabled=true"] {
            new.extend(["--set", set]);
        }
        // Some live in worlds that take their time to answer, and longer to say what became of an order.
        if n % 4 == 1 {
            new.extend(["--set", "world.latency=5ms", "--set", "world.settle_bars=3"]);
        }
        tent.ok(new);
    }
    let total = tent.all_money();
    let mut dice = Dice(8);
    // How often each acknowledged message was heard; in the journal each is once.
    let mut heard: BTreeMap<String, BTreeMap<u64, BTreeSet<String>>> = BTreeMap::new();
    let mut messages_heard = 0;
    for n in 0..kills {
        let host = Host::up(&tent, "20000");
        std::thread::sleep(Duration::from_millis(dice.roll(900)));
        // Now and then an owner says something meanwhile.
        if dice.roll(4) == 0 {
            let name = format!("g{}", dice.roll(golems));
            let order =
                if dice.roll(2) == 0 { vec!["golem", "fund", &name, "0.5"] } else { vec!["golem", "pause", &name] };
            let mut owner = tent.command(order).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(dice.roll(100)));
            let _ = owner.kill();
            let _ = owner.wait();
        }
        let lines = host.kill();
        for (name, seq, words) in messages(&lines) {
            messages_heard += 1;
            let new = heard.entry(name.clone()).or_default().entry(seq).or_default().insert(words.to_owned());
            assert!(new, "{name}: said twice: {words}");
        }
        // What the log holds follows on from what each file holds, or is there already.
        // The first may have been killed before there was a log.
        if n % 10 == 0
            && let Some(log) = Log::reader(&tent.root(), &tent.home().heads()).unwrap()
        {
            for id in log.golems().unwrap() {
                let place = tent.home().list().unwrap().into_iter().find(|place| place.is(id)).unwrap();
                let reader = Reader::open(&place.database()).unwrap();
                let (lines, tip) = (log.lines(id).unwrap(), reader.tip().unwrap());
                assert!(lines[0].seq <= tip.seq + 1, "a gap before {}", lines[0].seq);
                for line in lines.iter().filter(|line| line.seq <= tip.seq) {
                    assert_eq!(reader.hash_at(line.seq).unwrap(), Some(line.hash));
                }
            }
        }
    }
    settle_down(&tent, golems);
    assert!(
        Log::reader(&tent.root(), &tent.home().heads()).unwrap().unwrap().golems().unwrap().is_empty(),
        "all of it was carried over"
    );
    assert_eq!(tent.all_money(), total, "to the micro-USDC");
    let mut records = 0;
    for n in 0..golems {
        let name = format!("g{n}");
        records += tent.verified(&name).seq();
        let journal = tent.ok(["--json", "golem", "events", &name]);
        let mut there: BTreeMap<&str, u32> = BTreeMap::new();
        journal.lines().for_each(|line| *there.entry(line).or_default() += 1);
        for words in heard.get(&name).into_iter().flat_map(|seqs| seqs.values().flatten()) {
            assert_eq!(there.get(format!("{{{words}").as_str()), Some(&1), "{name}: {words}");
        }
    }
    println!(
        "counted: {kills} kills of a host with {golems} golems: {messages_heard} messages acknowledged, {records} records"
    );
    assert!(messages_heard > 1_000, "the kills came too early to mean anything");
}

#[test]
fn who_is_lived_by_a_host_is_lived_by_nobody_else() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "new", "eve", "--seed", "2"]);
    let mut alone = tent.command(["golem", "run", "eve", "--speed", "100x"]).stdout(Stdio::null()).spawn().unwrap();
    until("it lives alone", || tent.golem("eve").wake().unwrap().0.life().tick() > 0);
    let host = Host::up(&tent, "1000");
    let lodged = |name: &str| {
        let late = || format!("{name} is not lived by the host");
        within(Duration::from_secs(30), late, || tent.golem(name).lodges().unwrap());
    };
    lodged("ada");
    let refused = tent.fails(1, ["golem", "run", "ada"]);
    assert!(refused.contains("host"), "{refused}");
    let second = tent.fails(6, ["up", "--listen", ""]);
    assert!(second.contains("already"), "{second}");
    // A host says that it wants one before it finds it taken.
    within(Duration::from_secs(5), || "somebody else lives it".to_owned(), || !tent.golem("eve").lodges().unwrap());
    // The owner's word reaches a lodger, and whoever reads finds everything.
    tent.ok(["golem", "fund", "ada", "3"]);
    let shown: serde_json::Value = serde_json::from_str(&tent.ok(["--json", "golem", "show", "ada"])).unwrap();
    assert_eq!(shown["purse"]["given"], 13_000_000, "{}", shown["purse"]);
    tent.ok(["golem", "freeze", "ada", "--reason", "enough"]);
    let shown: serde_json::Value = serde_json::from_str(&tent.ok(["--json", "golem", "show", "ada"])).unwrap();
    assert_eq!(shown["heartbeat"]["frozen"], true);
    // Once it is let go the host takes it in by itself.
    let _ = alone.kill();
    let _ = alone.wait();
    lodged("eve");
    host.stop();
    for name in ["ada", "eve"] {
        tent.verified(name);
        tent.ok(["golem", "run", name, "--speed", "max", "--ticks", "5"]);
    }
}

#[test]
fn a_host_that_went_down_in_haste_leaves_everything_to_be_found() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let host = Host::up(&tent, "20000");
    until("it lives", || tent.golem("ada").wake().unwrap().0.life().tick() > 200);
    let said = host.kill();
    let newest = messages(&said).map(|(_, seq, _)| seq).max().unwrap();
    assert!(Reader::open(&tent.golem("ada").database()).unwrap().tip().unwrap().seq < newest, "it is still in the log");
    let shown: serde_json::Value = serde_json::from_str(&tent.ok(["--json", "golem", "show", "ada"])).unwrap();
    assert!(shown["records"].as_u64().unwrap() >= newest, "{} < {newest}", shown["records"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
    tent.verified("ada");
}

#[test]
fn copies_are_made_by_themselves_and_a_drill_proves_them() {
    let tent = Tent::new();
    for name in ["ada", "eve"] {
        tent.ok(["golem", "new", name, "--seed", "1"]);
    }
    let copies = tent.folder.path().join("copies");
    let config = format!("[backup]\nfolder = \"{}\"\nevery = \"1d\"\nkeep = 2\n", copies.display());
    std::fs::write(tent.root().join("bardo.toml"), config).unwrap();
    let host = Host::up(&tent, "2000");
    until("no copies were made", || shell::care::backups::newest(&copies).len() >= 2);
    host.stop();
    let folder = copies.to_str().unwrap();
    let drilled = tent.ok(["golem", "drill", folder]);
    assert_eq!(drilled.matches("ok    ").count(), 2, "{drilled}");
    let victim = rusqlite::Connection::open(shell::care::backups::newest(&copies)[0].join("life.db")).unwrap();
    victim.execute("UPDATE journal SET body = zeroblob(length(body)) WHERE seq = 1", []).unwrap();
    drop(victim);
    let output = tent.run(["golem", "drill", folder]);
    let told = text(&output.stdout);
    assert_eq!((output.status.code(), told.matches("WRONG").count()), (Some(1), 1), "{told}");
}

#[test]
fn systemd_hears_that_it_is_up_that_it_still_is_and_that_it_goes_down() {
    let tent = Tent::new();
    let path = tent.folder.path().join("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut host = tent
        .command(["up", "--listen", ""])
        .env("NOTIFY_SOCKET", &path)
        .env("WATCHDOG_USEC", "400000")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let hear = || {
        let mut buffer = [0; 64];
        let length = socket.recv(&mut buffer).unwrap();
        text(&buffer[..length])
    };
    assert_eq!([hear(), hear(), hear()], ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]);
    let pid = host.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    while hear() != "STOPPING=1" {}
    assert!(host.wait().unwrap().success());
}

#[test]
fn a_line_goes_on_under_a_host_where_its_owner_wants_it() {
    let tent = Tent::new();
    let set = [
        "succession.auto=true",
        "succession.min_divergence=0",
        "mortality.mode=hosted",
        "mortality.economic.machine_per_day=8",
    ];
    let mut new = vec!["golem", "new", "ada", "--seed", "5", "--credit", "0.6"];
    set.iter().for_each(|key| new.extend(["--set", key]));
    tent.ok(new);
    let host = Host::up(&tent, "20000");
    within(
        Duration::from_secs(60),
        || format!("no heir lives: {}", tent.ok(["golem", "list"])),
        || tent.home().golem("ada-2").is_ok_and(|heir| heir.lodges().unwrap_or(false)),
    );
    host.stop();
    // Being stopped and started again makes no second heir.
    let host = Host::up(&tent, "1");
    std::thread::sleep(Duration::from_secs(1));
    host.stop();
    let family = tent.ok(["lineage", "ada"]);
    assert!(family.contains("† ada ") && family.contains("ada-2"), "{family}");
    assert_eq!(family.lines().filter(|line| line.contains("generation 1")).count(), 1, "{family}");
}

#[test]
fn without_a_home_a_host_says_how_to_make_one() {
    let told = Tent::bare().fails(1, ["up"]);
    assert!(told.contains("bardo init"), "{told}");
}
