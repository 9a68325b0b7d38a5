//! Kill anything, at any instant. The real binary lives golems that act, earn and are paid, and is killed
//! with SIGKILL at random moments, as are the commands an owner gives meanwhile. Afterwards everything
//! that was acknowledged is there, once; the chain holds; the fold matches; what was owed was done once;
//! and not a micro-USDC is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use crate::common::{Dice, Tent, full, text};
use golem::event::Event;
use golem::heartbeat::State;
use golem::mortality;
use golem::policy;
use golem::{Golem, Usdc};
use vault::Reader;

/// What a run said before it was killed: only whole lines count.
struct Said {
    lines: Vec<String>,
}

/// Starts a run, lets it live for a moment, kills it, and returns what it had acknowledged. Half of the moments count from
/// its first word: on a busy machine those that count from the start all end before it lives.
fn run_and_kill(tent: &Tent, name: &str, speed: &str, moment: Duration, dice: &mut Dice) -> Said {
    let mut child = tent
        .command(["--json", "golem", "run", name, "--speed", speed])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdout = child.stdout.take().unwrap();
    let (spoke, first_word) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut out = BufReader::new(stdout);
        let (mut lines, mut line) = (Vec::new(), String::new());
        while out.read_line(&mut line).unwrap_or(0) > 0 {
            if line.ends_with('\n') {
                lines.push(line.trim_end().to_owned());
                let _ = spoke.send(());
            }
            line.clear();
        }
        lines
    });
    if dice.roll(2) == 0 {
        // One that is dead or frozen says nothing and ends, which ends the wait too.
        let _ = first_word.recv_timeout(Duration::from_secs(5));
    }
    // Now and then an owner interferes, and may be killed too.
    if dice.roll(3) == 0 {
        let order: &[&str] = match dice.roll(6) {
            0 => &["golem", "fund", name, "0.5"],
            1 => &["golem", "fund", name, "3", "--capital"],
            2 => &["golem", "withdraw", name, "0.25"],
            3 => &["golem", "withdraw", name, "1", "--capital"],
            4 => &["golem", "freeze", name],
            _ => &["golem", "resume", name],
        };
        let mut owner = tent.command(order).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(moment);
        let _ = owner.kill();
        let _ = owner.wait();
    } else {
        std::thread::sleep(moment);
    }
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    let complaint = text(&output.stderr);
    assert!(!complaint.contains("panicked"), "{complaint}");
    Said { lines: reader.join().unwrap() }
}

/// Everything the journal says, in the words of the wire.
fn told(tent: &Tent, name: &str) -> String {
    tent.ok(["--json", "golem", "events", name])
}

fn check(tent: &Tent, name: &str, acknowledged: &[String]) -> Golem {
    // Chain, state hashes, snapshots, anchored head.
    let golem = tent.verified(name);
    // Nothing acknowledged is missing, nothing is there twice.
    let journal = told(tent, name);
    let mut in_journal = BTreeMap::<&str, u32>::new();
    journal.lines().for_each(|line| *in_journal.entry(line).or_default() += 1);
    for line in acknowledged {
        assert_eq!(in_journal.get(line.as_str()), Some(&1), "acknowledged, then lost or doubled: {line}");
    }
    // Ticks are numbered without a gap; what the world did and what the life settled are the same.
    let (mut ticks, mut settled) = (0, BTreeMap::new());
    let place = tent.golem(name);
    Reader::open(&place.database())
        .unwrap()
        .replay(|record| {
            for event in &record.events {
                match event {
                    Event::Mortality(mortality::Event::Aged { .. }) => ticks += 1,
                    Event::Policy(policy::Event::Settled { key, outcome }) => {
                        assert!(settled.insert(*key, *outcome).is_none(), "settled twice: {key}");
                    }
                    _ => {}
                }
            }
            Ok::<_, vault::Error>(ControlFlow::Continue(()))
        })
        .unwrap();
    assert_eq!(ticks, golem.life().tick());
    let under_way: BTreeSet<u64> = golem.life().flights().iter().map(|f| f.key).collect();
    let ledger = std::fs::read_to_string(place.ledger()).unwrap_or_default();
    let mut done = BTreeMap::new();
    for line in ledger.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        let key = entry["key"].as_u64().unwrap();
        assert!(!done.contains_key(&key), "done twice: {key}");
        done.insert(key, serde_json::from_value::<Option<golem::world::Outcome>>(entry["outcome"].clone()).unwrap());
    }
    for (key, outcome) in &settled {
        assert_eq!(done.get(key), Some(&Some(*outcome)), "settled but not done: {key}");
    }
    for (key, outcome) in &done {
        let known = settled.contains_key(key) || under_way.contains(key) || outcome.is_none();
        assert!(known, "done but never settled: {key}");
    }
    golem
}

#[test]
fn whatever_is_killed_nothing_acknowledged_is_lost_or_doubled() {
    let kills = full(5_000, 120);
    let seed = std::env::var("BARDO_KILL_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    println!("seed {seed} (BARDO_KILL_SEED repeats the choices, not the timing)");
    let mut dice = Dice(seed);
    let (mut killed, mut generation, mut acknowledged_total, mut deaths, mut commits) = (0, 0, 0, 0, 0);
    let (mut nights_slept, mut pressed) = (0, 0);
    // What was under way when it was killed, by how far it had come.
    let mut under_way = BTreeMap::<String, u32>::new();
    while killed < kills {
        let tent = Tent::new();
        let total = tent.all_money();
        generation += 1;
        let seed = generation.to_string();
        let world = if generation % 3 == 0 { "queue" } else { "sim" };
        // Busy lives that also end: something is owed every few ticks, and death comes within the test.
        // By the calendar, or on next to no evidence.
        let mind = if generation % 2 == 0 { "mind.kind=reflex" } else { "mind.kind=rules" };
        // Asleep every so often for a tick, or for a night; and pressed as hard as that makes them.
        let nights = if generation % 4 < 2 { "dream.tier=core" } else { "dream.tier=hardened" };
        let set = [
            mind,
            "dream.enabled=true",
            "dream.schedule.mode=autonomous",
            nights,
            "mind.samples=2",
            "mind.sureness=0",
            "policy.rebalances_per_day=100000",
            "reflex.act_every=7",
            "mortality.mode=hosted",
            "mortality.economic.machine_per_day=2",
            "policy.max_drawdown=0.4",
        ];
        let mut new = vec!["golem", "new", "ada", "--world", world, "--seed", &seed];
        set.iter().for_each(|key| new.extend(["--set", key]));
        // A world that takes its time to answer, and longer to say what became of an order.
        if generation % 3 == 1 {
            let slow = ["world.latency=2ms", "world.settle_bars=3", "mortality.economic.machine_per_day=40"];
            slow.iter().for_each(|key| new.extend(["--set", key]));
        }
        tent.ok(new);
        let mut acknowledged = Vec::new();
        for _ in 0..20 {
            // Transaction by transaction, or hundreds of ticks in one.
            let speed = if dice.roll(2) == 0 { "max" } else { "100000x" };
            let moment = Duration::from_micros(dice.roll(60_000));
            let said = run_and_kill(&tent, "ada", speed, moment, &mut dice);
            killed += 1;
            acknowledged_total += said.lines.len();
            acknowledged.extend(said.lines);
            assert_eq!(tent.all_money(), total, "money is conserved, wherever it was when the power went");
            for flight in awake(&tent).life().flights() {
                *under_way.entry(format!("{:?}", flight.stage)).or_default() += 1;
            }
            if killed % 5 == 0 {
                check(&tent, "ada", &acknowledged);
            }
        }
        // Left in peace it lives on, dies, settles, and everything adds up.
        if !is_dead(&tent) {
            tent.ok(["golem", "resume", "ada"]);
        }
        let finish = tent.run(["golem", "run", "ada", "--speed", "max"]);
        assert!(matches!(finish.status.code(), Some(0 | 4)), "{}", text(&finish.stderr));
        let golem = check(&tent, "ada", &acknowledged);
        assert_eq!(golem.life().heartbeat().state, State::Dead);
        assert!(golem.owes_nothing());
        assert_eq!(tent.all_money(), total);
        let life = golem.life();
        assert_eq!((life.purse().credit, life.capital().cash), (Usdc::ZERO, Usdc::ZERO), "all of it went back");
        deaths += 1;
        commits += life.flights_made();
        nights_slept += life.dreams().nights;
        pressed += life.stress().past.len() + life.stress().active.len();
    }
    println!(
        "counted: {killed} kills over {deaths} lives, {acknowledged_total} messages acknowledged, {commits} actions asked for, \
         {nights_slept} nights, {pressed} stressors"
    );
    println!("counted: flights under way when it was killed: {under_way:?}");
    for stage in ["Asked", "Permitted", "Sent"] {
        assert!(under_way.contains_key(stage), "never killed with one {stage}: {under_way:?}");
    }
    assert!(nights_slept > 0 && pressed > 0, "{nights_slept} {pressed}");
    assert!(acknowledged_total > 1_000, "the kills came too early to mean anything");
}

fn is_dead(tent: &Tent) -> bool {
    awake(tent).life().is_dead()
}

fn awake(tent: &Tent) -> Golem {
    Reader::open(&tent.golem("ada").database()).unwrap().wake().unwrap().0
}
