//! One seed, one life: to the byte the same in one run, in pieces, killed at any instant, under a host and in the lab,
//! with its dreams.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::memory::{must_be_the_same, records, rehearse};
use crate::common::{Dice, Tent, full, text};
use golem::grimoire::{Entry, How, Kind};
use testing::wait::{until, within};
use vault::Reader;
use vault::codec::Hash;

const TICKS: u64 = 12_000;

fn born(seed: u64, more: &[&str]) -> Tent {
    let tent = Tent::new();
    let seed = seed.to_string();
    let mut args = vec!["golem", "new", "ada", "--seed", &seed, "--set", "dream.enabled=true"];
    more.iter().for_each(|set| args.extend(["--set", set]));
    tent.ok(args);
    tent
}

fn run(tent: &Tent, ticks: u64) {
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", &ticks.to_string()]);
}

/// Lived by SIGKILL and starting again.
fn killed(seed: u64, more: &[&str]) -> Vec<Hash> {
    let (tent, mut dice) = (born(seed, more), Dice(seed));
    let mut ticks = 0;
    while ticks < TICKS {
        let left = (TICKS - ticks).to_string();
        let mut command = tent.command(["golem", "run", "ada", "--speed", "max", "--ticks", &left]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_millis(200 + dice.roll(1_500));
        while Instant::now() < until && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        let _ = child.wait();
        ticks = records(&tent).1;
    }
    records(&tent).0
}

/// Lived by a host, from so many ticks on.
fn hosted(seed: u64, more: &[&str], from: u64, ticks: u64) -> Vec<Hash> {
    let tent = born(seed, more);
    if from > 0 {
        run(&tent, from);
    }
    let mut command = tent.command(["--json", "up", "--listen", "", "--speed", "1000000"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let goal = from + ticks;
    let tick = || {
        let shown: serde_json::Value = serde_json::from_str(&tent.ok(["--json", "golem", "show", "ada"])).unwrap();
        shown["tick"].as_u64().unwrap_or_else(|| panic!("{shown}"))
    };
    within(
        Duration::from_secs(600),
        || format!("only {} of {goal} ticks", tick()),
        || {
            // Not asked all the time: who asks takes what the host would need.
            std::thread::sleep(Duration::from_millis(200));
            tick() >= goal
        },
    );
    stop(child);
    records(&tent).0
}

fn stop(child: Child) {
    let asked = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(asked.success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// Lived in memory, from its birth record and its secret.
fn rehearsed(tent: &Tent) -> Vec<Hash> {
    rehearse(tent, TICKS, |life| life).0
}

/// A night saw what its golem knew only where that happened to lie in memory: in the middle of a run, never after a start,
/// and never at a host. So a life that was interrupted, or lived at a host, dreamt less than its twin that was not.
#[test]
fn one_seed_is_one_life_however_it_is_lived() {
    let seeds = [11, 21, 22, 5, 1_234, 77, 8, 99];
    for (at, seed) in seeds.into_iter().take(full(8, 3) as usize).enumerate() {
        // Every other one dreams long and whole nights.
        let more: &[&str] = if at % 2 == 1 { &["dream.tier=hardened"] } else { &[] };
        let tent = born(seed, more);
        run(&tent, TICKS);
        let (whole, ticks) = records(&tent);
        let nights = tent.verified("ada").life().dreams().nights;
        assert!(ticks == TICKS && nights >= 2, "seed {seed}: {nights} nights in {ticks} ticks");
        must_be_the_same(&whole, &rehearsed(&tent), &format!("seed {seed}, in memory"));

        let pieces = born(seed, more);
        (0..9).for_each(|_| run(&pieces, TICKS / 9));
        run(&pieces, TICKS % 9);
        assert_eq!(records(&pieces), (whole.clone(), TICKS), "seed {seed}, interrupted nine times");

        let killed = killed(seed, more);
        assert_eq!(killed.len(), whole.len(), "seed {seed}, killed");
        must_be_the_same(&whole, &killed, &format!("seed {seed}, killed"));

        // A host takes its time: fifty syncs a second at most.
        let ticks = full(4_000, 200);
        let hosted = hosted(seed, more, TICKS - 300 - ticks, ticks);
        must_be_the_same(&whole, &hosted, &format!("seed {seed}, at a host"));
    }
}

/// Threats were worked out, printed and dropped; nothing ever carried the mark of having been validated by a dream; and what
/// a night had borne out or spoken against was written down and read by nobody.
#[test]
fn what_nights_bring_reaches_memory() {
    let tent = born(21, &["dream.tier=hardened"]);
    run(&tent, 8_000);
    let reader = Reader::open(&tent.golem("ada").database()).unwrap();
    let (entries, now) = (reader.entries().unwrap(), reader.wake().unwrap().0.life().now());
    let dreamt = |entry: &&Entry| entry.provenance.sources.iter().any(|source| source.how == How::Dreamt);
    let warnings: Vec<&Entry> = entries.iter().filter(dreamt).filter(|entry| entry.kind == Kind::Warning).collect();
    // Whether an omen has held is the life's; what is warned of has.
    for warning in warnings {
        assert!(warning.text.contains("rehearsed in night"), "with its answer: {}", warning.text);
        assert!(warning.condition.is_some() && warning.claim.is_some(), "to be tried: {}", warning.text);
        assert!(warning.evidence_for >= 2.0, "has held elsewhere: {warning:?}");
        assert!(warning.initial <= 0.3, "and hardly believed before: {}", warning.initial);
    }
    let fades: Vec<&Entry> =
        entries.iter().filter(|entry| entry.dream_validated && entry.class.half_life().is_some()).collect();
    assert!(!fades.is_empty(), "nothing was validated by a dream");
    for entry in fades {
        let half_life = entry.class.half_life().unwrap();
        let plain = Entry { dream_validated: false, ..entry.clone() };
        let (since, twice) = (entry.validated_at + half_life, entry.validated_at + half_life + half_life);
        assert!(now >= entry.validated_at);
        assert_eq!(entry.confidence(twice), plain.confidence(since), "half the speed: {}", entry.text);
    }
}

/// Programs written against the documents find the fields the documents give.
#[test]
fn messages_of_a_night_have_the_documents_fields() {
    let tent = born(14, &["dream.tier=hardened"]);
    run(&tent, 5_000);
    let events = tent.ok(["--json", "golem", "events", "ada"]);
    let told: Vec<serde_json::Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (name, fields) in [
        ("DreamStart", &["cycle_id", "trigger"][..]),
        ("DreamPhase", &["cycle_id", "phase", "budget_tokens"]),
        ("DreamHypothesis", &["cycle_id", "hypothesis", "seed_episode_tick"]),
        ("DreamCounterfactual", &["cycle_id", "hypothesis", "outcome", "lesson", "confidence"]),
        (
            "DreamComplete",
            &[
                "cycle_id",
                "episodes_replayed",
                "counterfactuals_generated",
                "insights_crystallized",
                "heuristics_proposed",
                "episodes_depotentiated",
                "playbook_edits",
            ],
        ),
        ("mode_change", &["mode", "tick"]),
        ("dream_progress", &["phase", "cycleNumber", "budgetSpent"]),
        ("dream_complete", &["cycleNumber", "hypothesesGenerated", "insightsFound", "costUsdc"]),
    ] {
        let ours: Vec<&serde_json::Value> = told.iter().filter(|message| message["event"] == name).collect();
        assert!(!ours.is_empty(), "no {name}");
        for (message, field) in ours.iter().flat_map(|message| fields.iter().map(move |field| (message, field))) {
            assert!(!message[field].is_null(), "{name} without {field}: {message}");
        }
    }
    let said = |name: &str, field: &str| -> BTreeSet<String> {
        let ours = told.iter().filter(|message| message["event"] == name);
        ours.map(|message| message[field].as_str().unwrap_or_default().to_owned()).collect()
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
    assert!(said("DreamStart", "trigger").is_subset(&words(&["time", "emotional_load", "novelty_streak"])));
    assert_eq!(said("DreamPhase", "phase"), words(&["NREM", "REM", "Integration"]));
    assert_eq!(said("dream_progress", "phase"), words(&["onset", "nrem", "rem", "integration", "return"]));
    assert!(said("mode_change", "mode").is_superset(&words(&["dreaming", "waking"])));
}

/// Light nights are on without asking, whole ones are not; and an owner may change their mind.
#[test]
fn an_owner_switches_the_dreams_of_a_living_golem() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "light", "--seed", "3"]);
    tent.ok(["golem", "new", "whole", "--seed", "3", "--set", "dream.tier=hardened"]);
    for name in ["light", "whole"] {
        tent.ok(["golem", "run", name, "--speed", "max", "--ticks", "4000"]);
    }
    let nights = |name: &str| tent.verified(name).life().dreams().nights;
    assert!(nights("light") > 10 && nights("whole") == 0);
    let why = tent.fails(6, ["dream", "now", "whole"]);
    assert!(why.contains("bardo dream on"), "{why}");
    assert!(tent.ok(["dream", "report", "whole"]).contains("bardo dream on whole"));
    tent.ok(["dream", "on", "whole"]);
    tent.ok(["dream", "now", "whole"]);
    assert_eq!(nights("whole"), 1);
    tent.ok(["dream", "off", "light"]);
    let before = nights("light");
    tent.ok(["golem", "run", "light", "--speed", "max", "--ticks", "500"]);
    assert_eq!(nights("light"), before);
    assert!(tent.ok(["--json", "golem", "events", "light"]).contains("dream.switched"));
}

/// At a host, which is the way to run more than one, there was no PLAYBOOK.md at all.
#[test]
fn a_host_keeps_the_playbook() {
    let tent = born(5, &[]);
    let mut command = tent.command(["--json", "up", "--listen", "", "--speed", "1000000"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let path = tent.golem("ada").playbook();
    let read = || std::fs::read_to_string(&path).unwrap_or_default();
    until("no playbook", || !read().is_empty());
    let first = read();
    until("it is not kept", || read() != first);
    let mine = format!("{}\n- always expect volatility x2 over 24\n", read());
    std::fs::write(&path, &mine).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(read(), mine, "what somebody edited is not written over");
    stop(child);
    assert_eq!(read(), mine);
}
