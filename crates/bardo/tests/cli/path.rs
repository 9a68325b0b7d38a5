//! The path of a new user, from the first command to a golem taken over into another home: each step must say what it
//! did and what to do next. Whoever gets stuck here gives up, so a message that is missing is a fault.

use std::fmt::Write as _;
use std::fs;

use crate::common::{Tent, text};

/// One command of the path, and the words it must say.
fn says(tent: &Tent, line: &str, words: &[&str]) -> String {
    let args: Vec<String> = line.split(' ').map(|arg| arg.replace("FOLDER", &folder(tent))).collect();
    let output = tent.run(&args);
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "bardo {line}\n{said}");
    for word in words {
        assert!(said.contains(word), "bardo {line} does not say `{word}`:\n{said}");
    }
    said
}

fn folder(tent: &Tent) -> String {
    tent.folder.path().to_str().unwrap().to_owned()
}

/// Two months of hourly candles that go up and down.
fn candles() -> String {
    let mut text = String::from("ts,open,high,low,close,volume\n");
    for hour in 0..1_440_u64 {
        let close = 2_000 + (hour * 37 % 113) + (hour / 24 * 13 % 90);
        let (high, low) = (close + 9, close - 8);
        writeln!(text, "{},{close},{high},{low},{close},{}", 1_704_067_200 + hour * 3_600, 50 + hour % 24).unwrap();
    }
    text
}

#[test]
fn a_new_user_gets_from_the_demo_to_a_golem_in_another_home() {
    let tent = Tent::bare();
    says(
        &tent,
        "demo --headless --seed 1 --speed max",
        &["ada is born", "Dies", "[testament]", "Its heir", "bardo init"],
    );
    assert!(!tent.root().exists(), "the demo leaves nothing behind");
    says(&tent, "init", &["made a home", "$1000.00", "next: bardo golem new"]);

    fs::write(tent.folder.path().join("candles.csv"), candles()).unwrap();
    says(&tent, "data import FOLDER/candles.csv --name mine", &["1440 bars of 1h", "next: bardo golem new"]);
    says(&tent, "data list", &["mine"]);
    says(&tent, "golem new ada --data mine --seed 3", &["ada is born", "to live on", "next: bardo golem run ada"]);
    // An hour of the data in the time of a blink, and then the rest as fast as it goes.
    says(&tent, "golem run ada --speed 100000x --ticks 5", &["at tick 5"]);
    says(&tent, "golem run ada --speed max --ticks 495", &["at tick 500", "vitality"]);
    says(&tent, "golem list", &["ada", "500"]);
    says(&tent, "golem show ada", &["skill", "capital", "as good as naive", "memory"]);
    says(&tent, "golem events ada", &["was born", "was given"]);
    says(&tent, "golem stress ada", &["load"]);
    says(&tent, "grimoire stats ada", &["heuristic"]);

    says(&tent, "golem freeze ada --reason holidays", &["ada"]);
    says(&tent, "golem show ada", &["frozen"]);
    says(&tent, "golem resume ada", &["ada"]);
    assert!(!says(&tent, "golem show ada", &[]).contains("frozen"));
    says(&tent, "golem fund ada 1", &["was given $1.00"]);

    says(&tent, "golem retire ada --confirm ada --reason enough", &["ada"]);
    says(&tent, "golem show ada", &["dead", "retired by its owner (enough)"]);
    says(&tent, "testament ada", &["ada", "died 2024-", "retired by its owner (enough)", "secret"]);
    says(&tent, "testament ada --verify", &["chain of", "rolls are those", "signed and whole"]);
    says(&tent, "graveyard", &["ada"]);
    says(&tent, "golem successor ada", &["its line was ended (retired by its owner (enough))"]);
    says(&tent, "golem successor ada --yes --seed 4", &["ada-2 is born", "next: bardo golem run ada-2"]);
    says(&tent, "lineage ada-2", &["ada", "ada-2"]);
    says(&tent, "golem run ada-2 --speed max --ticks 50", &["at tick 50"]);
    says(&tent, "golem backup ada-2 FOLDER/kept", &["ada-2 at tick 50", "secret"]);
    says(&tent, "doctor", &["ok    home", "ok    treasury", "ok    ada-2: journal"]);

    // Another machine, to which the data was brought too; the first one is gone for good.
    let other = Tent::new();
    fs::write(other.folder.path().join("candles.csv"), candles()).unwrap();
    says(&other, "data import FOLDER/candles.csv --name mine", &["1440 bars"]);
    let kept = tent.folder.path().join("kept");
    let refused = other.fails(1, ["golem", "restore", kept.to_str().unwrap()]);
    assert!(refused.contains("--take-over"), "{refused}");
    let taken = other.ok(["golem", "restore", kept.to_str().unwrap(), "--take-over"]);
    assert!(taken.contains("ada-2"), "{taken}");
    let examined = says(&other, "doctor", &["ok    ada-2: journal", "ok    ada-2: money", "ok    ada-2: chance"]);
    assert!(!examined.contains("WRONG"), "{examined}");
    says(&other, "golem run ada-2 --speed max --ticks 10", &["at tick 60"]);
}

/// Nobody asks for man pages twice: they must be there for every command, and need no home.
#[test]
fn there_is_a_man_page_for_every_command() {
    let tent = Tent::bare();
    says(&tent, "man FOLDER/man1", &[]);
    for (page, words) in
        [("bardo", "under a cap"), ("bardo-golem-new", "the life repeatable"), ("bardo-up", "one process")]
    {
        let text = fs::read_to_string(tent.folder.path().join(format!("man1/{page}.1"))).unwrap();
        assert!(text.contains(words), "{page}: {text}");
    }
    says(&tent, "completions bash", &["complete -F _bardo"]);
    assert!(!tent.root().exists());
}
