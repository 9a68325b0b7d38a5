//! Programs as minds: they give the life that the same mind gives inside, whatever they do wrong costs no more than their
//! word and leaves nothing behind, and their record decides how far they are followed.

mod forecaster;

use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::common::memory::{must_be_the_same, records, rehearse};
use crate::common::processes::{complains, none_is_left};
use crate::common::{Tent, full, text};
use golem::Life;
use golem::outside::{Expected, Word};
use golem::policy::Proposal;
use golem::stress::{Assessment, assessment::New};
use golem::world::Observation;

const HOSTILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/minds/hostile.py");
const PLAIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/minds/plain.py");

/// What `plain.py` says, here.
fn plain(life: &Life, seen: &Observation) -> Option<Word> {
    let (world, now) = (&life.birth().world, &seen.bars.last()?.features);
    let feature = |name: &str| now[world.features.iter().position(|known| known == name).unwrap()];
    let domain = |name: &str| world.domains.iter().position(|known| known.name == name).unwrap() as u8;
    let claim = |name: &str, value: f64| Expected { domain: domain(name), value };
    let mut word = Word::default();
    if life.tick().is_multiple_of(3) {
        word.claims.push(claim("direction", if feature("ret_6") > 0.0 { 0.625 } else { 0.375 }));
    }
    word.claims.push(claim("volatility", (feature("vol_24") + feature("vol_168")) / 2.0));
    if life.tick().is_multiple_of(5) {
        let held = life.capital().holding > 0;
        word.proposal =
            Some(if held { Proposal { action: 1, size: 1.0 } } else { Proposal { action: 0, size: 0.0625 } });
    }
    if life.tick() % 400 == 7 {
        word.rules.push(format!("when ret_24 > {}% expect direction 60% over 24", life.tick() / 400 + 1));
    }
    if life.tick() % 1_000 == 9 {
        word.note = format!("at tick {}", life.tick());
    }
    if life.tick() % 700 == 11 {
        let new = New { name: "storm".to_owned(), condition: "vol_24 > 2%".to_owned(), ..New::default() };
        word.assessment = Some(Box::new(Assessment { new: vec![new], claims: Vec::new() }));
    }
    Some(word)
}

fn born(tent: &Tent, mind: &str, kind: &str, seed: u64, more: &[&str]) {
    let (seed, kind) = (seed.to_string(), format!("mind.kind={kind}"));
    let mut args = vec!["golem", "new", "ada", "--seed", &seed, "--mind", mind, "--set", &kind];
    args.extend(["--set", "mortality.mode=immortal", "--set", "policy.max_drawdown=0"]);
    args.extend(more);
    tent.ok(&args);
}

/// Beside its rules and as its only voice, in one go and interrupted.
#[test]
fn a_mind_outside_gives_the_same_life_to_the_byte_as_inside() {
    for kind in ["rules", "outside"] {
        let (tent, ticks) = (Tent::new(), full(20_000, 3_000));
        born(&tent, &format!("python3 {PLAIN}"), kind, 9_811, &[]);
        for part in [2 * ticks / 3, ticks - 2 * ticks / 3] {
            tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", &part.to_string()]);
        }
        tent.ok(["doctor"]);
        let (outside, _) = records(&tent);
        let (inside, life) = rehearse(&tent, ticks, |life| life.minded(Box::new(plain)));
        must_be_the_same(&outside, &inside, kind);
        assert_eq!(inside.len(), outside.len(), "{kind}");
        let it = &life.life().outside();
        let taken = life.life().playbook().iter().any(|rule| rule.provenance == golem::rule::Provenance::Thought);
        assert!(it.words > ticks * 4 / 5 && it.note.starts_with("at tick"), "{} {}", it.words, it.note);
        assert!(it.standing.iter().any(|standing| standing.resolved > ticks / 4) && (taken || kind == "outside"));
        let acted = life.life().flights_made();
        println!(
            "counted: {kind}: {} records, {} words, {acted} actions, the same to the byte",
            outside.len(),
            it.words
        );
    }
}

/// What each does wrong, and what is said of it.
const WRONGS: &[(&str, &str)] = &[
    ("never_says_who", "it did not answer within 6 s when it was asked to say who it is"),
    ("exits_with_3", "it ended when it was asked to say who it is: with 3"),
    ("raises", "it last said: ValueError: no weights in the cupboard"),
    ("prints_first", "standard output is for messages, print to standard error"),
    ("version_99", "it speaks version 99 of the protocol, and this program speaks version 1"),
    ("is_a_world", "it is a world, and a mind was expected"),
    ("answers_early", "it said something without being asked"),
    ("hangs", "it did not answer within 2 s when it was asked to say what it makes of a look"),
    ("dies", "it ended when it was asked to say what it makes of a look: by signal 9"),
    ("forks_then_dies", "it ended when it was asked to say what it makes of a look: with 9"),
    ("errs", "it says: the cupboard is bare"),
    ("wrong_number", "when it was asked question"),
    ("no_number", "what it said cannot be: missing field `id`"),
    ("prints_between", "standard output is for messages"),
    ("speaks_of_nothing", "there is no domain 'the weather'"),
    ("a_chance_of_two", "2 is not a possible value of direction"),
    ("claims_too_much", "is not a possible value of volatility"),
    ("not_a_number", "it wrote something that is not a message"),
    ("number_too_large", "it wrote something that is not a message"),
    ("claims_are_a_list", "what it said cannot be: invalid type"),
    ("no_such_action", "there is no action 'rob a bank'"),
    ("all_and_more", "a size must be above 0 and at most 1, not 40"),
    ("a_rule_of_nothing", "cannot be read"),
    ("rules_without_end", "a word may carry 3 rules at most, not 1000"),
    ("assesses_too_much", "its assessment is out of bounds"),
    ("deep_nesting", "it was asked to say what it makes of a look"),
    ("a_line_of_a_gigabyte", "a line of its answer is longer than 4 MiB"),
    ("answers_twice", "it said something without being asked"),
    ("floods", "it said something without being asked"),
    ("closes_its_output", "it did not answer within 2 s when it was asked to say what it makes of a look"),
];

/// Whatever it does wrong, its golem goes on without it, and its owner is told why.
fn check_wrong(mode: &str, sentence: &str) {
    let (tent, mark) = (Tent::new(), format!("{HOSTILE} {mode} {}", std::process::id()));
    born(&tent, &format!("python3 {mark}"), "rules", 9_812, &["--answers-within", "2"]);
    let mut run = tent.command(["golem", "run", "ada", "--speed", "max", "--ticks", "400"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let (_, said) = complains(&mut run, sentence);
    assert!(said.contains(sentence), "{mode}: {said}");
    let until = Instant::now() + Duration::from_secs(60);
    let ended = loop {
        if let Some(ended) = run.try_wait().unwrap() {
            break ended;
        }
        assert!(Instant::now() < until, "{mode}: it does not go on");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(ended.success(), "{mode}: {ended}");
    none_is_left(&mark, mode);
    assert_eq!(tent.verified("ada").life().tick(), 400, "{mode}");
}

#[test]
fn whatever_a_mind_does_wrong_has_its_sentence_and_costs_no_more_than_its_word() {
    let wrongs = Mutex::new(WRONGS.iter());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((mode, sentence)) = { wrongs.lock().unwrap().next() } {
                    check_wrong(mode, sentence);
                }
            });
        }
    });
    println!("counted: {} minds that do something wrong, each with its sentence", WRONGS.len());
}

#[test]
fn what_ignores_its_end_is_ended_and_a_mind_can_be_taken_away() {
    for mode in ["fine", "ignores_the_end", "ignores_term", "forks", "floods_aside"] {
        let (tent, mark) = (Tent::new(), format!("{HOSTILE} {mode} {}", std::process::id()));
        let program = format!("python3 {mark}");
        born(&tent, &program, "rules", 9_813, &[]);
        assert!(tent.ok(["golem", "program", "ada"]).contains(&program));
        tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "60"]);
        none_is_left(&mark, mode);
        let words = tent.verified("ada").life().outside().words;
        assert!(words >= 59, "{mode}: {words}");
        assert!(tent.ok(["golem", "show", "ada"]).contains("mind       spoke"), "{mode}");
        tent.ok(["golem", "program", "ada", "--no-mind"]);
        tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "10"]);
        assert_eq!(tent.verified("ada").life().outside().words, words, "{mode}");
    }
}

#[test]
fn a_mind_that_is_not_there_is_told_at_birth() {
    let tent = Tent::new();
    let missing = tent.run(["golem", "new", "ada", "--mind", "./no_such_mind.py"]);
    assert!(!missing.status.success() && text(&missing.stderr).contains("there is no such file"));
}

/// A mind is tried out by itself, and says what it makes of a paper life.
#[test]
fn a_mind_is_checked_before_anybody_has_it() {
    let bare = Tent::bare();
    let fine = bare.ok(["mind", "check", "--", "python3", PLAIN]);
    assert!(fine.contains("spoke 100 times at 100 looks"), "{fine}");
    let wrong = bare.run(["mind", "check", "--", "python3", HOSTILE, "a_chance_of_two"]);
    assert!(!wrong.status.success());
    let said = text(&wrong.stdout);
    assert!(said.contains("2 is not a possible value of direction"), "{said}");
}

/// What asking a mind costs a tick, beside the same mind inside.
#[test]
fn a_tick_with_a_mind_outside_costs_little_more_than_one_without() {
    let ticks = full(100_000, 8_000);
    let run = |mind: Option<&str>| {
        let tent = Tent::new();
        let mut args = vec!["golem", "new", "ada", "--seed", "9814", "--set", "mortality.mode=immortal"];
        mind.iter().for_each(|mind| args.extend(["--mind", mind]));
        tent.ok(&args);
        tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "100"]);
        let began = Instant::now();
        tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", &ticks.to_string()]);
        began.elapsed().as_secs_f64() * 1e6 / ticks as f64
    };
    let silent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/minds/silent.py");
    // The machine may be busy with something else in one round; what asking costs would be there in all.
    let fair = (0..4).any(|_| {
        let (without, beside) = (run(None), run(Some(&format!("python3 {silent}"))));
        // What the program itself takes to read a look and to answer, with nobody around it.
        let alone = alone(silent);
        let more = beside - without;
        println!(
            "counted: a tick takes {without:.0} µs without a mind and {beside:.0} with one outside, {more:.0} more; the program itself takes {alone:.0} of it"
        );
        more < 500.0
    });
    assert!(fair, "asking a mind outside costs too much");
}

/// What a program takes for a look, there and back, over bare pipes.
fn alone(program: &str) -> f64 {
    use std::io::{BufRead, BufReader, Write};
    let mut python = Command::new("python3").arg(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut to, mut from) = (python.stdin.take().unwrap(), BufReader::new(python.stdout.take().unwrap()));
    let features: Vec<String> = (0..19).map(|at| format!("0.0{at}234567891234")).collect();
    let features = features.join(",");
    let look = format!(
        r#"{{"id":1,"ask":"look","now":1700000000000,"bars":[{{"closed":1700000000000,"values":[2000.5,0.0123456,2000.5],"features":[{features}],"unit":2000500000}}],"resolved":[{{"domain":"volatility","said":0.0123,"naive":0.0122,"actual":0.0124}}],"golem":{{"tick":1000,"age_ms":36000000,"phase":"stable","vitality":0.5,"epistemic":0.5,"credit":100000000,"cash":100000000,"worth":100000000,"held":0,"frozen":false,"pressure":0.0,"pressed_by":[],"record":[]}}}}"#
    );
    let (mut heard, times) = (String::new(), 5_000);
    let mut ask = |line: &str| {
        to.write_all(line.as_bytes()).unwrap();
        to.write_all(b"\n").unwrap();
        heard.clear();
        from.read_line(&mut heard).unwrap();
    };
    ask(r#"{"bardo":"mind","version":1,"golem":"ada","folder":"/tmp","seed":1,"world":{"features":[]}}"#);
    let began = Instant::now();
    (0..times).for_each(|_| ask(&look));
    let took = began.elapsed().as_secs_f64() * 1e6 / f64::from(times);
    let _ = python.kill();
    let _ = python.wait();
    took
}
