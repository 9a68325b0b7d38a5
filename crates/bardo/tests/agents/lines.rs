//! `bardo wrap --lives`: a program run once more in each life of a line, on one sum for all of them, at a provider that bills.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Dice, Tent, full};
use crate::wrap::{AGENT, life, told, wrap};
use crate::wrap_ends::STUBBORN;
use golem::mortality::death::Cause;
use golem::{Life, Usdc};
use serde_json::{Value, json};
use testing::billing::{Double, Habit, Prices, Setting, Turn, always};
use testing::upstream::{Act, Upstream};

/// An agent that takes one step of its task in each life, never two, and asks its model before.
const STEP: &str = r#"curl -sS "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d "{\"model\":\"gpt-5-mini\",\"max_completion_tokens\":500,\"messages\":[{\"role\":\"user\",\"content\":\"step of $BARDO_GOLEM\"}]}" || exit 9
mkdir -p steps && touch "steps/$BARDO_GOLEM""#;

/// The task is done after five steps.
const DONE: &str = "done=test $(ls steps | wc -l) -ge 5";

fn double() -> Double {
    let prices = Prices::parse("gpt-5-mini=0.25/2/0.025").unwrap();
    Double::start(Setting::new(prices, always(Turn::words(60), Habit::HONEST))).unwrap()
}

/// A line in this folder, at that provider.
fn line(tent: &Tent, double: &Double, folder: &Path, args: &[&str], program: &str) -> Command {
    let all = [&["wrap", "--every", "1s", "--wind-up", "1s"][..], args, &["--", "sh", "-c", program]].concat();
    let mut command = tent.command(all);
    command.env("BARDO__GATEWAY__UPSTREAMS", format!("openai={}/v1", double.url)).env("OPENAI_API_KEY", "sk-canary");
    command.current_dir(folder);
    command
}

/// The lives of a line by its name, each the heir of the one before, and no other golem of that family.
fn lives(tent: &Tent, name: &str) -> Vec<Life> {
    let places = tent.home().list().unwrap();
    let mut all: Vec<Life> = places.iter().map(|place| place.wake().unwrap().0.life().clone()).collect();
    let first = life(tent, name);
    all.retain(|one| {
        one.id() == first.id() || one.birth().lineage.as_ref().is_some_and(|line| line.first == first.id())
    });
    all.sort_by_key(|one| one.birth().generation);
    for (at, one) in all.iter().enumerate() {
        let expected = if at == 0 { name.to_owned() } else { format!("{name}-{}", at + 1) };
        assert_eq!((one.birth().generation, one.birth().name.as_str()), (at as u32, expected.as_str()));
        assert_eq!(one.birth().lineage.as_ref().map(|line| line.parent), at.checked_sub(1).map(|at| all[at].id()));
        tent.verified(&expected);
    }
    all
}

fn causes(lives: &[Life]) -> Vec<String> {
    let cause = |life: &Life| match life.death().map(|death| &death.cause) {
        Some(Cause::OwnerKill { reason }) => reason.clone(),
        other => format!("{other:?}"),
    };
    lives.iter().map(cause).collect()
}

fn spent(lives: &[Life]) -> Usdc {
    lives.iter().map(|one| one.purse().spent).sum()
}

fn aside(output: &Output) -> Vec<Value> {
    told(output).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn a_line_lives_until_its_check_passes_and_its_money_is_right_to_the_micro() {
    let (tent, double, folder) = (Tent::bare(), double(), tempfile::tempdir().unwrap());
    let args = ["--name", "ada", "--credit", "20", "--lives", "8", "--check", DONE, "--until", "done"];
    let output = line(&tent, &double, folder.path(), &args, STEP).output().unwrap();
    let said = told(&output);
    assert!(output.status.success(), "{said}");
    let all = lives(&tent, "ada");
    let causes = causes(&all);
    assert_eq!(causes[..4], ["line: itself, its program ended"; 4], "{said}");
    assert_eq!(causes[4..], ["line: passed, done passes"], "{said}");
    // Each had its share of what the others had left, and what was billed is what was booked.
    let mut left = Usdc::dollars(20);
    for (at, one) in all.iter().enumerate() {
        assert_eq!(one.purse().given, left.share(1, 8 - at as i64), "life {}", at + 1);
        assert!(one.purse().spent.is_positive() && one.purse().credit == Usdc::ZERO);
        left -= one.purse().spent;
    }
    assert!(double.ledger.quiet(Duration::from_secs(10)));
    assert_eq!(spent(&all), Usdc::micros(double.ledger.billed_in_all() as i64));
    assert_eq!(tent.all_money(), Usdc::dollars(1_000));
    assert_eq!(tent.home().treasury().unwrap().balance().unwrap(), Usdc::dollars(1_000) - spent(&all));
    for words in
        ["life 1 of 8, ada: $0.", "its program ended; done fails;", "the line of ada is over: done passes after 5"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    // The tree of the line has all of it, life by life.
    let tree: Value = serde_json::from_str(&tent.ok(["golem", "costs", "ada", "--tree", "--json"])).unwrap();
    assert_eq!(tree["cost"], json!(spent(&all).as_micros()), "{tree}");
    let lives_told = tree["lives"].as_array().unwrap();
    let rows: Vec<_> =
        lives_told.iter().map(|one| (one["name"].clone(), one["after"].clone(), one["cost"].clone())).collect();
    for (at, one) in all.iter().enumerate() {
        let after = at.checked_sub(1).map_or(Value::Null, |at| json!(all[at].birth().name));
        assert_eq!(rows[at], (json!(one.birth().name), after, json!(one.purse().spent.as_micros())), "life {}", at + 1);
    }
    for name in ["ada", "ada-4", "ada-5"] {
        assert!(tent.golem(name).testament("md").exists(), "{name} left no testament");
    }
    // The same command again finds it done, and lives no life twice.
    let billed = double.ledger.billed_in_all();
    let args = [&args[..], &["--json"]].concat();
    let again = line(&tent, &double, folder.path(), &args, STEP).output().unwrap();
    assert!(again.status.success() && lives(&tent, "ada").len() == 5, "{}", told(&again));
    assert_eq!(double.ledger.billed_in_all(), billed);
    let last = aside(&again).pop().unwrap();
    assert_eq!((&last["ended"], &last["lives"], &last["check"]), (&json!("passed"), &json!(5), &json!(true)), "{last}");
}

#[test]
fn lives_that_are_used_up_are_an_end_with_a_code_of_its_own_and_more_go_on_with_the_line() {
    let (tent, double, folder) = (Tent::bare(), double(), tempfile::tempdir().unwrap());
    let run = |lives: &str| {
        let args = ["--json", "--name", "ada", "--lives", lives, "--check", "done=false", "--until", "done"];
        line(&tent, &double, folder.path(), &args, STEP).output().unwrap()
    };
    for (most, there) in [("2", 2), ("2", 2), ("3", 3)] {
        let output = run(most);
        assert_eq!(output.status.code(), Some(9), "{}", told(&output));
        let told = aside(&output);
        assert_eq!(told.last().unwrap()["ended"], "lives");
        let all = lives(&tent, "ada");
        assert!(all.len() == there && all.iter().all(Life::is_dead), "{} of {there}", all.len());
        for one in told.iter().filter(|one| one["life"].is_u64()) {
            assert_eq!((&one["ended"], &one["check"]), (&json!("itself"), &json!(false)), "{one}");
        }
    }
    // Its owner's end is the end of the line, until the owner makes an heir.
    tent.ok(["golem", "successor", "ada-3", "--yes", "--force-similarity"]);
    tent.ok(["golem", "retire", "ada-4", "--reason", "enough", "--confirm", "ada-4"]);
    let output = run("9");
    assert!(output.status.code() == Some(4) && told(&output).contains("\"owner\""), "{}", told(&output));
    // A program that does not begin is not lived eight times.
    let broken = ["--name", "bob", "--lives", "8"];
    let output = line(&tent, &double, folder.path(), &broken, "exit 3").output().unwrap();
    assert!(output.status.code() == Some(3) && !life(&tent, "bob").is_dead(), "{}", told(&output));
}

#[test]
fn a_life_that_has_spent_its_share_is_followed_until_what_is_left_pays_for_no_call() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let log = tent.folder.path().join("refusals");
    let money = ["--name", "ada", "--credit", "0.004", "--share", "0.003", "--lives", "9"];
    let args = [&money[..], &["--wind-up", "1s", "--set", "policy.calls_leap=0"]].concat();
    let output = wrap(&tent, &upstream, &args, &["sh", "-c", STUBBORN]).env("LOG", &log).output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", told(&output));
    let all = lives(&tent, "ada");
    assert!((2..5).contains(&all.len()), "{}", told(&output));
    assert!(
        causes(&all).iter().all(|cause| cause == "line: spent, its share of the money is spent"),
        "{:?}",
        causes(&all)
    );
    assert!(spent(&all) <= Usdc::micros(4_000) && all.iter().all(|one| one.purse().given <= Usdc::micros(3_000)));
    assert_eq!(spent(&all), Usdc::micros(upstream.worth() as i64));
    assert!(told(&output).contains("its money is used up"), "{}", told(&output));
}

#[test]
fn a_life_ends_by_its_age_by_a_check_gone_red_and_by_a_loop() {
    let (tent, double, folder) = (Tent::bare(), double(), tempfile::tempdir().unwrap());
    let end = |name: &str, args: &[&str], program: &str| {
        let args = [&["--name", name, "--lives", "1"], args].concat();
        let output = line(&tent, &double, folder.path(), &args, program).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        causes(&lives(&tent, name)).remove(0)
    };
    let asks = STEP.replace("step of", &"a long story of ".repeat(200)) + "\nsleep 60";
    let aged = end("ann", &["--context", "0.001"], &asks);
    assert!(aged.starts_with("line: context, it has aged"), "{aged}");
    assert_eq!(end("ben", &["--retire-after", "1"], &asks), "line: calls, it has aged: it has made its call");
    // Where half of all lives end by three calls, none has four hundred.
    let many = format!("for i in $(seq 1 400); do\n{STEP}\ndone").replace("step of", "step $i of");
    let by_chance = end("eve", &["--chance", "3", "--set", "policy.calls_leap=0"], &many);
    assert_eq!(by_chance, "line: chance, it has aged, and chance has ended it");
    let flips = "touch ok; sleep 3; rm ok; sleep 60";
    let red = end("cyd", &["--check", "tests=test -f ok", "--red", "2"], flips);
    assert!(red.starts_with("line: red, tests passed in it, and then failed in "), "{red}");
    let upstream = Upstream::start(|_| Act::Honest);
    let mut looped = wrap(&tent, &upstream, &["--name", "dan", "--lives", "1"], &["sh", "-c", AGENT]);
    let looped = looped.env("TIMES", "12").output().unwrap();
    assert!(looped.status.success(), "{}", told(&looped));
    let cause = causes(&lives(&tent, "dan")).remove(0);
    assert!(cause.starts_with("line: loop, it went round in a loop"), "{cause}");
}

/// A line went on after a halt that found its last life dead, and after a retirement whose reason began like one of its own.
#[test]
fn an_end_by_its_owner_is_the_end_of_a_line_whatever_its_last_life_died_of() {
    for halts in [true, false] {
        let (tent, double, folder) = (Tent::bare(), double(), tempfile::tempdir().unwrap());
        let run = |lives: &str, program: &str| {
            line(&tent, &double, folder.path(), &["--name", "ada", "--lives", lives], program).output().unwrap()
        };
        if halts {
            assert!(run("1", STEP).status.success());
            tent.ok(["halt", "--all", "--yes"]);
        } else {
            assert_eq!(run("3", "exit 3").status.code(), Some(3));
            tent.ok(["golem", "retire", "ada", "--reason", "line: itself, enough", "--confirm", "ada"]);
        }
        let output = run("3", STEP);
        assert_eq!(output.status.code(), Some(4), "{}", told(&output));
        assert_eq!(lives(&tent, "ada").len(), 1, "{}", told(&output));
        tent.ok(["golem", "successor", "ada", "--yes", "--force-similarity"]);
        assert!(run("3", STEP).status.success() && lives(&tent, "ada").len() == 3, "its owner began it again");
        assert_eq!(tent.all_money(), Usdc::dollars(1_000));
    }
}

#[test]
fn a_line_waits_for_its_owner_where_that_has_stopped_it() {
    let (tent, double, folder) = (Tent::bare(), double(), tempfile::tempdir().unwrap());
    let run = |credit: &str, program: &str| {
        let args = ["--name", "ada", "--credit", credit, "--lives", "2"];
        line(&tent, &double, folder.path(), &args, program).output().unwrap()
    };
    assert_eq!(run("20", "exit 3").status.code(), Some(3));
    tent.ok(["golem", "pause", "ada"]);
    assert_eq!(run("20", STEP).status.code(), Some(6));
    tent.ok(["golem", "resume", "ada"]);
    // Half of the sum is in its first life, and that is more than the new sum.
    let output = run("5", STEP);
    assert!(!output.status.success() && told(&output).contains("say --credit 10"), "{}", told(&output));
    assert!(double.ledger.billed_in_all() == 0 && lives(&tent, "ada").iter().all(|one| !one.is_dead()));
    assert!(run("20", STEP).status.success() && lives(&tent, "ada").len() == 2);
}

/// A check whose folder was gone had failed, and life after life was spent on it.
#[test]
fn checks_that_cannot_be_run_end_no_life() {
    let (tent, double, folder) = (Tent::bare(), double(), tempfile::tempdir().unwrap());
    let (checked, gone) = (folder.path().join("checked"), folder.path().join("gone"));
    std::fs::create_dir(&checked).unwrap();
    let run = |program: &str| {
        let args = ["--name", "ada", "--lives", "2", "--check", "done=test -e ok", "--until", "done"];
        line(&tent, &double, &checked, &args, program).output().unwrap()
    };
    assert_eq!(run("exit 3").status.code(), Some(3));
    tent.ok(["golem", "check", "ada", "--limit", "1s"]);
    let output = run("mv ../checked ../gone; sleep 1");
    assert!(output.status.code() == Some(1) && told(&output).contains("no round of checks"), "{}", told(&output));
    assert!(lives(&tent, "ada").len() == 1 && !life(&tent, "ada").is_dead());
    std::fs::rename(&gone, &checked).unwrap();
    let output = run("touch ok");
    assert!(output.status.success(), "{}", told(&output));
    assert_eq!(causes(&lives(&tent, "ada")), ["line: passed, done passes"]);
}

#[test]
fn what_does_not_fit_a_line_is_refused_before_anything_is_made() {
    let (tent, double, folder) = (Tent::bare(), double(), tempfile::tempdir().unwrap());
    for (args, words) in [
        (&["--lives", "3", "--until", "done"][..], "--check done="),
        (&["--lives", "3", "--number", "done=echo 1", "--until", "done"], "--check done="),
        (&["--until", "done"], "--lives"),
        (&["--lives", "0"], "1..=999"),
        (&["--lives", "3", "--per-day", "2"], "--per-day"),
        (&["--lives", "3", "--context", "80"], "at most 1"),
        (&["--lives", "3", "--tell=hooks"], "claude and codex"),
    ] {
        let output = line(&tent, &double, folder.path(), args, STEP).output().unwrap();
        assert!(!output.status.success() && told(&output).contains(words), "{args:?}: {}", told(&output));
    }
    assert!(!tent.root().join("bardo.toml").exists());
}

/// Whatever moment it is killed at, the same command goes on: five steps are five lives, each of them the heir of one other, and
/// no micro-dollar is lost or spent twice.
#[test]
fn a_line_that_is_killed_again_and_again_lives_no_life_twice_and_loses_none() {
    let (tent, double) = (Tent::bare(), double());
    let (mut dice, mut kills, mut lines) = (Dice(4_700), 0, Vec::new());
    let most = full(300, 20);
    while kills < most {
        let (name, folder) = (format!("line{}", lines.len()), tempfile::tempdir().unwrap());
        let args = ["--name", &name, "--credit", "20", "--lives", "8", "--check", DONE, "--until", "done"];
        let late = Instant::now() + Duration::from_secs(300);
        loop {
            let mut command = line(&tent, &double, folder.path(), &args, STEP);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            if kills < most && Instant::now() < late {
                std::thread::sleep(Duration::from_millis(dice.roll(3_500)));
                if child.try_wait().unwrap().is_none() {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    kills += 1;
                    continue;
                }
            }
            assert!(child.wait().unwrap().success(), "{name}");
            break;
        }
        let steps = std::fs::read_dir(folder.path().join("steps")).unwrap();
        let steps: BTreeSet<String> = steps.map(|step| step.unwrap().file_name().into_string().unwrap()).collect();
        let all = lives(&tent, &name);
        let names: BTreeSet<String> = all.iter().map(|one| one.birth().name.to_string()).collect();
        assert!(steps == names && all.len() == 5, "{steps:?} in the lives {names:?}");
        let causes = causes(&all);
        assert_eq!(causes[..4], ["line: itself, its program ended"; 4]);
        assert_eq!(causes[4..], ["line: passed, done passes"]);
        assert!(spent(&all) <= Usdc::dollars(20) && all.iter().all(|one| one.purse().credit == Usdc::ZERO));
        lines.push(name);
    }
    let all: Vec<Life> = lines.iter().flat_map(|name| lives(&tent, name)).collect();
    let ids: BTreeSet<_> = all.iter().map(Life::id).collect();
    assert!(ids.len() == all.len() && ids.len() == tent.home().list().unwrap().len());
    assert!(double.ledger.quiet(Duration::from_secs(10)));
    let billed = Usdc::micros(double.ledger.billed_in_all() as i64);
    assert!(billed <= spent(&all), "billed {billed}, booked {}", spent(&all));
    assert_eq!(tent.all_money(), Usdc::dollars(1_000));
    println!(
        "counted: {kills} kills of {} lines, {} lives, {} booked and {billed} billed",
        lines.len(),
        all.len(),
        spent(&all)
    );
}
