//! A life without a market: what it is held to are checks of its owner's, run by whoever runs it. Who makes the claims can
//! neither run them nor write what they say.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::Tent;
use golem::Life;
use serde_json::{Value, json};
use testing::wait::until;
use vault::Reader;

fn life(tent: &Tent) -> Life {
    Reader::open(&tent.golem("ada").database()).unwrap().wake().unwrap().0.life().clone()
}

/// A golem held to whether a file is there and how many lines another has, once a second.
fn held(tent: &Tent, work: &Path) {
    std::fs::write(work.join("lines"), "a\n").unwrap();
    let new = ["golem", "new", "ada", "--check", "tests=test -f ok", "--number", "lines=wc -l < lines"];
    let pace = ["--interval", "1s", "--set", "world.bar=1s", "--credit", "2"];
    let set =
        ["--set", "mortality.epistemic.recovery_grace_period=1", "--set", "mortality.epistemic.senescent_period=1"];
    let mut command = tent.command([&new[..], &pace, &set].concat());
    assert!(command.current_dir(work).output().unwrap().status.success());
}

fn runs(tent: &Tent) -> std::process::Child {
    let mut run: Command = tent.command(["golem", "run", "ada"]);
    run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn ends(mut child: std::process::Child) {
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    child.wait().unwrap();
}

#[test]
fn checks_are_run_shown_and_decide_what_was_claimed() {
    let (tent, work) = (Tent::new(), tempfile::tempdir().unwrap());
    held(&tent, work.path());
    let refused = tent.fails(6, ["golem", "claim", "ada", "tests", "0.9", "--in", "5s"]);
    assert!(refused.contains("nothing has been seen of it yet"), "{refused}");
    let running = runs(&tent);
    until("nothing was checked", || life(&tent).seen().bars >= 2);
    let shown = tent.ok(["golem", "check", "ada"]);
    assert!(shown.contains("tests  fails") && shown.contains("lines  1"), "{shown}");
    tent.ok(["golem", "claim", "ada", "tests", "0.9", "--in", "2s"]);
    std::fs::write(work.path().join("ok"), "").unwrap();
    until("the claim was not answered", || life(&tent).dated_made() == 1 && life(&tent).dated().is_empty());
    ends(running);
    let life = life(&tent);
    assert!((life.epistemic().domains[0].error - 1.01).abs() < 0.03, "{:?}", life.epistemic().domains[0]);
    let told = tent.ok(["golem", "events", "ada"]);
    assert!(told.contains("predicted tests = 0.9") && told.contains("tests came out at 1"), "{told}");
    let json: Value = serde_json::from_str(&tent.ok(["golem", "check", "ada", "--json"])).unwrap();
    assert_eq!((&json["checks"][0]["value"], &json["checks"][1]["value"]), (&json!(1.0), &json!(1.0)));
    assert!(tent.ok(["golem", "show", "ada"]).contains("claims     1 made, 0 of them still to be answered"));
    tent.verified("ada");
    assert!(tent.ok(["doctor"]).contains("ada: checks"));
}

#[test]
fn what_was_checked_is_told_once_however_often_it_is_killed() {
    let (tent, work) = (Tent::new(), tempfile::tempdir().unwrap());
    std::fs::write(work.path().join("ok"), "").unwrap();
    held(&tent, work.path());
    for nth in 0..8 {
        let mut running = runs(&tent);
        let seen = life(&tent).seen().bars;
        until("nothing was checked", || life(&tent).seen().bars > seen);
        std::thread::sleep(Duration::from_millis(130 * nth % 700));
        running.kill().unwrap();
        running.wait().unwrap();
    }
    ends({
        let running = runs(&tent);
        let seen = life(&tent).seen().bars;
        until("it does not go on", || life(&tent).seen().bars > seen);
        running
    });
    let text = std::fs::read_to_string(tent.golem("ada").check_results()).unwrap();
    let rounds: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let at = |round: &Value| round["at"].as_u64().unwrap();
    assert!(rounds.windows(2).all(|two| at(&two[0]) < at(&two[1])), "one round for each bar");
    assert_eq!(rounds.len() as u64, life(&tent).seen().bars, "and each was told");
    tent.verified("ada");
}

/// What comes from elsewhere brings its record and no commands: nothing runs here that was not written here.
#[test]
fn a_golem_from_elsewhere_runs_nothing_until_its_new_owner_says_what() {
    let (tent, work) = (Tent::new(), tempfile::tempdir().unwrap());
    held(&tent, work.path());
    let running = runs(&tent);
    until("nothing was checked", || life(&tent).seen().bars >= 1);
    ends(running);
    let copy = work.path().join("copy");
    let new = Tent::new();
    tent.ok(["golem", "backup", "ada", copy.to_str().unwrap()]);
    let moved = work.path().join("moved");
    tent.send("ada", moved.to_str().unwrap(), &new);
    new.receive(moved.to_str().unwrap(), &tent);
    for folder in [copy, moved, new.root()] {
        for entry in walk(&folder) {
            assert_ne!(entry.file_name().unwrap(), "checks.json", "{}", entry.display());
        }
    }
    let examined = String::from_utf8(new.run(["doctor"]).stdout).unwrap();
    assert!(examined.contains("tests, lines runs nothing here"), "{examined}");
    let (seen, tick) = (life(&new).seen().bars, life(&new).tick());
    let running = runs(&new);
    until("it does not live here", || life(&new).tick() > tick + 1);
    assert_eq!(life(&new).seen().bars, seen);
    let mut set = new.command(["golem", "check", "ada", "tests=true", "lines=echo 7"]);
    assert!(set.current_dir(work.path()).output().unwrap().status.success());
    until("it does not check here", || life(&new).seen().values[..] == [1.0, 7.0]);
    ends(running);
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries
        .flatten()
        .flat_map(|entry| if entry.path().is_dir() { walk(&entry.path()) } else { vec![entry.path()] })
        .collect()
}

#[test]
fn a_check_that_hangs_holds_up_no_tick_and_no_stop() {
    let (tent, work) = (Tent::new(), tempfile::tempdir().unwrap());
    let new = ["golem", "new", "ada", "--check", "slow=sleep 50", "--interval", "1s", "--set", "world.bar=1s"];
    let mut command = tent.command(new);
    assert!(command.current_dir(work.path()).output().unwrap().status.success());
    let running = runs(&tent);
    until("it does not live", || life(&tent).tick() >= 3);
    assert_eq!(life(&tent).seen().bars, 0);
    let began = Instant::now();
    ends(running);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    let sleeping = Command::new("pgrep").args(["-fx", "sleep 50"]).output().unwrap();
    assert!(sleeping.stdout.is_empty(), "what a check started is ended with it");
}

#[test]
fn confident_false_claims_end_in_lost_touch_and_an_heir_is_held_to_the_same() {
    let (tent, work) = (Tent::new(), tempfile::tempdir().unwrap());
    held(&tent, work.path());
    let running = runs(&tent);
    until("nothing was checked", || life(&tent).seen().bars >= 1);
    let end = Instant::now() + Duration::from_secs(240);
    while !life(&tent).is_dead() {
        assert!(Instant::now() < end, "{:?}", life(&tent).epistemic());
        tent.run(["golem", "claim", "ada", "tests", "0.99", "--in", "1s"]);
        std::thread::sleep(Duration::from_millis(300));
    }
    drop(running.wait_with_output());
    assert!(tent.ok(["golem", "show", "ada"]).contains("lost touch"), "{}", tent.ok(["golem", "show", "ada"]));
    let refused = tent.fails(4, ["golem", "claim", "ada", "tests", "0.5", "--in", "1s"]);
    assert!(refused.contains("dead"), "{refused}");
    tent.ok(["golem", "successor", "ada", "--name", "bob", "--yes"]);
    let plan = |name: &str| std::fs::read_to_string(tent.golem(name).checks()).unwrap();
    assert_eq!(plan("bob"), plan("ada"));
}

#[test]
fn what_is_no_check_is_refused_with_what_to_say_instead() {
    let tent = Tent::new();
    for wrong in ["tests", "Tests=true", "tests=", "9=true", "te sts=true"] {
        let told = tent.fails(1, ["golem", "new", "ada", "--check", wrong]);
        assert!(told.contains("tests='cargo test'"), "{told}");
    }
    let told = tent.fails(1, ["golem", "new", "ada", "--check", "a=true", "--number", "a=echo 1"]);
    assert!(told.contains("same name"), "{told}");
    tent.ok(["golem", "new", "ada", "--world", "checks"]);
    let shown = tent.ok(["golem", "check", "ada"]);
    assert!(shown.contains("no checks: only money and chance can end it"), "{shown}");
}
