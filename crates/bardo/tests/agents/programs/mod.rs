//! Programs as worlds: they give the life that the same world gives inside, whatever they do wrong costs their own golem
//! alone and leaves nothing behind, and however they or their host are killed, each thing is done once or never.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::common::host::Host;
use crate::common::processes::{complains, none_is_left};
use crate::common::{Tent, full, text};
use golem::Record;
use testing::wait::within;
use vault::Reader;
use world::Ledger;

const BARDO: &str = env!("CARGO_BIN_EXE_bardo");
const HOSTILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/programs/hostile.py");

fn served(world: &str) -> String {
    format!("{BARDO} world serve {world}")
}

/// Everything after the birth, which alone says what kind of world it is.
fn lived(tent: &Tent, name: &str) -> Vec<Record> {
    let mut records = Vec::new();
    let keep = |record: Record| {
        records.push(record);
        Ok::<_, vault::Error>(ControlFlow::Continue(()))
    };
    Reader::open(&tent.golem(name).database()).unwrap().replay(keep).unwrap();
    records.split_off(1)
}

#[test]
fn a_world_outside_gives_the_same_life_to_the_byte_as_inside() {
    for world in ["sim", "queue"] {
        let [inside, outside] = [world.to_owned(), served(world)].map(|world| {
            let tent = Tent::new();
            let set = ["mind.kind=reflex", "reflex.act_every=7", "policy.max_drawdown=0", "policy.stop=0"];
            let mut args = vec!["golem", "new", "ada", "--seed", "9805", "--world", &world];
            set.iter().for_each(|set| args.extend(["--set", set]));
            tent.ok(&args);
            tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "1500"]);
            tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "500"]);
            tent.ok(["doctor"]);
            lived(&tent, "ada")
        });
        assert!(inside.len() > 1_500, "{}", inside.len());
        let apart = inside.iter().zip(&outside).position(|(inside, outside)| inside != outside);
        assert_eq!(apart.map(|at| (&inside[at], &outside[at])), None, "{world}");
        assert_eq!(inside.len(), outside.len());
    }
}

#[test]
fn our_own_worlds_keep_every_promise_from_outside_too() {
    let tent = Tent::new();
    for world in ["sim", "queue"] {
        let said = tent.ok(["world", "check", "--", BARDO, "world", "serve", world]);
        assert!(said.contains("keeps every promise a world makes"), "{said}");
    }
    // And the example in the book, which uses no library; without a home.
    let bare = Tent::bare();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tides.py");
    assert!(bare.ok(["world", "check", "--", "python3", example]).contains("keeps every promise a world makes"));
    let schema: serde_json::Value = serde_json::from_str(&bare.ok(["world", "schema"])).unwrap();
    assert!(schema["$defs"]["Answer"]["properties"]["fate"].is_object());
}

#[test]
fn a_world_that_ignores_the_bounds_of_orders_is_told_what_to_change() {
    let tent = Tent::bare();
    let example = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tides.py")).unwrap();
    let bounds = " or FEE - cash > order[\"most\"] and sign > 0 or cash - FEE < order[\"least\"] and sign < 0";
    let broken = example.replace(bounds, "");
    assert_ne!(broken, example, "the example looks at its bounds otherwise");
    let path = tent.folder.path().join("tides.py");
    fs::write(&path, broken).unwrap();
    let output = tent.run(["world", "check", "--", "python3", path.to_str().unwrap()]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for words in ["was the limit", "to mend it: where an order adds", "was the least", "`cash` less `fee`, is at least"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(said.matches("to mend it: where an order adds").count(), 1, "{said}");
    assert!(output.stderr.is_empty(), "progress is for terminals: {}", text(&output.stderr));
    let json = tent.run(["--json", "world", "check", "--", "python3", path.to_str().unwrap()]);
    let told: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let lengths = ["breaks", "changes"].map(|key| told[key].as_array().unwrap().len());
    assert!(lengths[0] > 1 && lengths[0] == lengths[1] && told["keeps_every_promise"] == false, "{told}");
}

/// What each does wrong, and what is said of it.
const WRONGS: &[(&str, &str)] = &[
    // Before it has said who it is.
    ("never_says_who", "it did not answer within 6 s when it was asked to say who it is"),
    ("exits_with_0", "it ended when it was asked to say who it is: with 0"),
    ("exits_with_3", "it ended when it was asked to say who it is: with 3"),
    ("is_killed", "by signal 9"),
    ("raises", "it last said: ValueError: no data in the cupboard"),
    ("prints_first", "standard output is for messages, print to standard error"),
    ("blank_line_first", "it wrote something that is not a message to its standard output"),
    ("binary_first", "it wrote something that is not a message to its standard output"),
    ("version_99", "it speaks version 99 of the protocol, and this program speaks version 1"),
    ("version_0", "it speaks version 0"),
    ("is_a_mind", "it is a mind, and a world was expected"),
    ("has_no_manifest", "its answer has no world"),
    ("has_no_start", "its answer has no start"),
    ("bar_of_nothing", "a bar lasts a millisecond at least and a day at most"),
    ("too_many_domains", "8 domains and 8 actions at most"),
    ("two_domains_alike", "two domains are named level"),
    ("weight_is_nan", "it wrote something that is not a message"),
    ("name_of_a_megabyte", "the name of a world has"),
    ("welcome_is_a_list", "what it said cannot be: invalid type"),
    ("deep_nesting", "what it said cannot be: invalid type"),
    ("a_line_of_a_gigabyte", "a line of its answer is longer than 4 MiB"),
    ("half_a_line", "it ended when it was asked to say who it is"),
    ("drips", "it did not answer within 6 s"),
    // When it is lived in.
    ("answers_early", "it said something without being asked"),
    ("says_who_twice", "it said something without being asked"),
    ("dies_at_seek", "it ended when it was asked to stand where its golem last looked: by signal 9"),
    ("hangs_at_seek", "it did not answer within 2 s when it was asked to stand where its golem last looked"),
    ("dies_at_observe", "it ended when it was asked to show its bars: by signal 9"),
    ("hangs_at_observe", "it did not answer within 2 s when it was asked to show its bars"),
    ("errs_at_observe", "it says: the cupboard is bare"),
    ("is_away_at_observe", "it waits: the exchange is closed"),
    ("too_few_values", "a bar has 0 values for 1 domains"),
    ("value_is_nan", "it wrote something that is not a message"),
    ("number_too_large", "it wrote something that is not a message"),
    ("unit_below_nothing", "a unit cannot be worth -5 micro-dollars"),
    ("bar_too_early", "is not in its order after"),
    ("bar_told_before", "is not in its order after"),
    ("bars_backwards", "is not in its order after"),
    ("too_many_bars", "are more than the"),
    ("no_bars", "its answer has no bars"),
    ("wrong_number", "when it was asked question"),
    ("prints_between", "standard output is for messages"),
    ("closes_its_output", "it did not answer within 2 s when it was asked to show its bars"),
    ("answers_twice", "it said something without being asked"),
    ("floods", "it said something without being asked"),
    ("forks_then_dies", "it ended when it was asked to show its bars: with 9"),
    // When it is acted in.
    ("dies_at_preview", "it ended when it was asked to say what an order would do: by signal 9"),
    ("hangs_at_preview", "it did not answer within 2 s when it was asked to say what an order would do"),
    ("no_quote", "its answer has no quote"),
    ("dies_at_commit", "it ended when it was asked to do what is ordered: by signal 9"),
    ("hangs_at_commit", "it did not answer within 2 s when it was asked to do what is ordered"),
    ("no_fate", "its answer has no fate"),
    ("fate_unheard_of", "what it said cannot be: unknown variant `perhaps`"),
    ("does_more_than_ordered", "the world reports an outcome of action 1 that was never asked for"),
    ("fee_below_nothing", "the world reports an outcome of action 1 that was never asked for"),
];

/// Whatever it does wrong, somebody is born or not, and the sentence is told.
fn check_wrong(mode: &str, sentence: &str) {
    let (tent, mark) = (Tent::new(), format!("{HOSTILE} {mode} {}", std::process::id()));
    let program = format!("python3 {mark}");
    let set = ["mind.kind=reflex", "reflex.act_every=1", "policy.max_drawdown=0", "policy.stop=0"];
    let mut args = vec!["golem", "new", "ada", "--world", &program, "--answers-within", "2"];
    set.iter().for_each(|set| args.extend(["--set", set]));
    let born = tent.run(&args);
    let mut said = text(&born.stderr);
    if born.status.success() {
        let mut run = tent.command(["golem", "run", "ada", "--speed", "max", "--ticks", "40"]);
        let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (told, heard) = complains(&mut run, sentence);
        said += &heard;
        if told {
            let _ = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
        }
        within(Duration::from_secs(40), || format!("{mode}: it does not end"), || run.try_wait().unwrap().is_some());
    }
    assert!(said.contains(sentence), "{mode}: {said}");
    none_is_left(&mark, mode);
    // Its own golem's life is whole, whatever it did.
    if born.status.success() {
        tent.ok(["doctor"]);
    }
}

#[test]
fn whatever_a_program_does_wrong_has_its_sentence_and_leaves_nothing_behind() {
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
    println!("counted: {} programs that do something wrong, each with its sentence", WRONGS.len());
    assert!(WRONGS.len() >= 40);
}

#[test]
fn what_is_not_wrong_is_lived_in_and_what_ignores_its_end_is_ended() {
    for mode in ["fine", "ignores_the_end", "ignores_term", "forks", "forks_and_ignores", "floods_aside"] {
        let (tent, mark) = (Tent::new(), format!("{HOSTILE} {mode} {}", std::process::id()));
        tent.ok(["golem", "new", "ada", "--world", &format!("python3 {mark}")]);
        tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "30"]);
        none_is_left(&mark, mode);
    }
    let tent = Tent::new();
    let missing = tent.run(["golem", "new", "ada", "--world", "./no_such_world.py"]);
    assert!(
        !missing.status.success() && text(&missing.stderr).contains("cannot be started"),
        "{}",
        text(&missing.stderr)
    );
    let mistyped = tent.run(["golem", "new", "ada", "--world", "sinn"]);
    assert!(text(&mistyped.stderr).contains("there is no world"), "{}", text(&mistyped.stderr));
}

/// What a program of ours was told to do, and did, by its own book.
fn its_book(tent: &Tent) -> Ledger {
    Ledger::look(tent.golem("ada").own().join("world.log")).unwrap()
}

/// The program of a run that has all of this in its command line, if it has been started.
fn program_of(marks: &[&str]) -> Option<i32> {
    fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let line = String::from_utf8_lossy(&fs::read(entry.path().join("cmdline")).ok()?).replace('\0', " ");
        let is = marks.iter().all(|mark| line.contains(mark)) && !line.contains(" keep ") && !line.contains("golem");
        if is { entry.file_name().to_str()?.parse().ok() } else { None }
    })
}

/// The same, once it has been.
fn started(marks: &[&str]) -> Option<i32> {
    let late = Instant::now() + Duration::from_secs(5);
    loop {
        match program_of(marks) {
            None if Instant::now() < late => std::thread::sleep(Duration::from_millis(2)),
            program => return program,
        }
    }
}

#[test]
fn however_host_and_program_are_killed_each_thing_is_done_once_or_never() {
    let kills = full(2_000, 24);
    let tent = Tent::new();
    let bin = tent.folder.path().join("world-of-ada");
    fs::copy(BARDO, &bin).unwrap();
    let mark = bin.display().to_string();
    let set =
        ["mind.kind=reflex", "reflex.act_every=1", "policy.max_drawdown=0", "policy.stop=0", "mortality.immortal=true"];
    // A world and a mind, either of which may be killed beside their host.
    let world = format!("{mark} world serve sim");
    let script = tent.folder.path().join("mind-of-ada.py");
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/minds/plain.py"), &script).unwrap();
    let mind = format!("python3 {}", script.display());
    let mut args = vec!["golem", "new", "ada", "--seed", "9806", "--world", &world, "--mind", &mind];
    set.iter().for_each(|set| args.extend(["--set", set]));
    tent.ok(&args);
    let (mut hosts, mut worlds, mut minds) = (0, 0, 0);
    let mut seed = 9_806_u64;
    for kill in 0..kills {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut run = tent.command(["golem", "run", "ada", "--speed", "max"]);
        let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let moment = Duration::from_micros((seed >> 40) % 120_000);
        let (of, killed) = match kill % 4 {
            1 => (vec!["world serve sim", &mark], &mut worlds),
            3 => (vec!["mind-of-ada.py"], &mut minds),
            _ => (Vec::new(), &mut hosts),
        };
        if of.is_empty() {
            std::thread::sleep(Duration::from_millis(40) + moment);
            run.kill().unwrap();
            *killed += 1;
        } else if let Some(program) = started(&of) {
            std::thread::sleep(moment);
            let _ = Command::new("kill").args(["-KILL", &program.to_string()]).status();
            *killed += 1;
            std::thread::sleep(Duration::from_millis((seed >> 33) % 700));
            let _ = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
        }
        let _ = run.kill();
        run.wait().unwrap();
        none_is_left(&mark, "after a kill");
        none_is_left("mind-of-ada.py", "after a kill");
    }
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "50"]);
    tent.ok(["doctor"]);
    // What its golem was told is what the program did, by the program's own book.
    let (theirs, ours) = (its_book(&tent), Ledger::look(tent.golem("ada").ledger()).unwrap());
    let ours: Vec<_> = ours.entries().map(|(key, entry)| (key, entry.outcome)).collect();
    let done = ours.iter().filter(|(_, outcome)| outcome.is_some()).count();
    for (key, outcome) in &ours {
        assert_eq!(theirs.entry(*key).map(|entry| entry.outcome), Some(*outcome), "key {key}");
    }
    let extra: Vec<u64> =
        theirs.entries().map(|(key, _)| key).filter(|key| !ours.iter().any(|(own, _)| own == key)).collect();
    println!(
        "counted: {hosts} kills of the host, {worlds} of the world, {minds} of the mind; {done} actions done of {}, all once",
        ours.len()
    );
    assert!(extra.is_empty(), "done and never told: {extra:?}");
    assert!(done > kills as usize / 2 && hosts > 0 && worlds > 0 && minds > 0, "{done} {hosts} {worlds} {minds}");
    assert!(hosts + worlds + minds >= kills * 19 / 20, "{hosts} {worlds} {minds}");
    assert!(tent.verified("ada").life().outside().words > 20, "it was heard");
}

#[test]
fn neighbours_of_programs_that_do_wrong_are_on_time() {
    let (tent, many) = (Tent::new(), full(200, 60));
    let mark = format!("neighbour-{}", std::process::id());
    let wrongs =
        ["hangs_at_observe", "dies_at_observe", "floods", "answers_twice", "floods_aside", "ignores_term", "forks"];
    for (n, mode) in wrongs.iter().enumerate() {
        let program = format!("python3 {HOSTILE} {mode} {mark}");
        tent.ok(["golem", "new", &format!("bad-{n}"), "--world", &program, "--capital", "1", "--credit", "1"]);
    }
    let minds = ["hangs", "dies", "floods", "a_chance_of_two", "floods_aside", "ignores_term", "forks", "errs"];
    for (n, mode) in minds.iter().enumerate() {
        let hostile = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/minds/hostile.py");
        let program = format!("python3 {hostile} {mode} {mark}");
        tent.ok(["golem", "new", &format!("mad-{n}"), "--mind", &program, "--capital", "1", "--credit", "1"]);
    }
    for n in 0..many {
        tent.ok(["golem", "new", &format!("good-{n}"), "--capital", "0", "--credit", "1"]);
    }
    let plain = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/minds/plain.py");
    tent.ok(["golem", "new", "wise", "--mind", &format!("python3 {plain} {mark}"), "--capital", "1", "--credit", "1"]);
    let mut host = Host::up(&tent, "40");
    std::thread::sleep(Duration::from_secs(2));
    let ticks = || {
        let all = host.get("/v1/golems?limit=1000");
        let all = all["golems"].as_array().cloned().unwrap_or_else(|| all.as_array().cloned().unwrap_or_default());
        let good = all.iter().filter(|one| one["name"].as_str().is_some_and(|name| name.starts_with("good")));
        good.map(|one| one["tick"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let before = ticks();
    std::thread::sleep(Duration::from_secs(20));
    let after = ticks();
    assert_eq!((before.len(), after.len()), (many as usize, many as usize));
    let lived: Vec<u64> = before.iter().zip(&after).map(|(before, after)| after - before).collect();
    let (least, most) = (lived.iter().min().unwrap(), lived.iter().max().unwrap());
    let wrong = wrongs.len() + minds.len();
    println!("counted: {many} neighbours of {wrong} that do wrong: {least} to {most} ticks in 20 s");
    assert!(*least >= 18, "{lived:?}");
    let told = text(&tent.run(["golem", "list"]).stdout);
    assert!(told.contains("bad-0"), "{told}");
    // A mind that does nothing wrong is heard at a host too.
    let wise = text(&tent.run(["golem", "show", "wise"]).stdout);
    let words =
        wise.split("spoke ").nth(1).and_then(|rest| rest.split(' ').next()).and_then(|words| words.parse().ok());
    assert!(words.is_some_and(|words: u64| words >= 15), "{wise}");
    host.child.kill().unwrap();
    host.child.wait().unwrap();
    none_is_left(&mark, "its host was killed");
}

/// What asking costs a tick, beside what a line there and back costs without anybody thinking about it.
#[test]
fn a_tick_in_a_world_outside_costs_little_more_than_a_line_there_and_back() {
    let echo = {
        let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut to, mut from) = (cat.stdin.take().unwrap(), BufReader::new(cat.stdout.take().unwrap()));
        let (line, mut heard, times) = (format!("{}\n", "x".repeat(500)), String::new(), 20_000);
        let began = Instant::now();
        for _ in 0..times {
            to.write_all(line.as_bytes()).unwrap();
            heard.clear();
            from.read_line(&mut heard).unwrap();
        }
        let took = began.elapsed();
        drop(to);
        cat.wait().unwrap();
        took.as_secs_f64() * 1e6 / f64::from(times)
    };
    let ticks = full(100_000, 8_000);
    let run = |world: &str| {
        let tent = Tent::new();
        tent.ok(["golem", "new", "ada", "--seed", "9807", "--world", world, "--set", "mortality.immortal=true"]);
        tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "100"]);
        let began = Instant::now();
        tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", &ticks.to_string()]);
        began.elapsed().as_secs_f64() * 1e6 / ticks as f64
    };
    let (inside, outside) = (run("sim"), run(&served("sim")));
    let more = outside - inside;
    println!(
        "counted: a tick takes {inside:.0} µs inside and {outside:.0} outside, {more:.0} more; a bare line there and back {echo:.0}"
    );
    assert!(more < 400.0, "{more}");
}

#[test]
fn a_golem_from_elsewhere_runs_no_program_until_its_owner_names_one() {
    let (tent, other) = (Tent::new(), Tent::new());
    tent.ok(["golem", "new", "ada", "--world", &served("sim"), "--seed", "9808"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "20"]);
    let parcel = tent.folder.path().join("parcel");
    tent.ok([Path::new("golem"), Path::new("backup"), Path::new("ada"), &parcel]);
    other.ok([Path::new("golem"), Path::new("restore"), &parcel, Path::new("--take-over")]);
    let said = text(&other.run(["golem", "run", "ada", "--ticks", "1"]).stderr);
    assert!(said.contains("lives in a program that is not named here"), "{said}");
    other.ok(["golem", "program", "ada", "--world", &served("sim")]);
    other.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
}
