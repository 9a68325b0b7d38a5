//! No escape sequence from outside reaches a terminal: planted in every text somebody else can set, and looked for in
//! everything that every reading command prints.

use std::fs;
use std::process::Output;

use crate::common::{Tent, text};
use golem::grimoire::bundle::BundleLine;
use shell::home::key::OwnerKey;
use shell::legacy::bundle;

/// A title for the window, a colour by each of both ways, a bell, a question the terminal answers, a line turned around,
/// a carriage return over what was said before.
const HOSTILE: &str = "x\u{1b}]0;owned\u{7}\u{1b}[31m\u{9b}31m\u{1b}[6n\u{202e}txet\r\u{8}\u{2066}\u{7f}y";

fn is_safe(c: char) -> bool {
    golem::plain::is_plain(c) || c == '\n' || c == '\t'
}

fn check(what: &str, output: &Output) {
    for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let said = text(bytes);
        let bad = said.chars().position(|c| !is_safe(c));
        assert!(bad.is_none(), "{what}: {:?} on {stream}: {said:?}", bad.and_then(|at| said.chars().nth(at)));
    }
}

fn line(text: &str, rule: Option<&str>, confidence: f64) -> BundleLine {
    let line = serde_json::json!({
        "bundle": 1, "kind": "insight", "text": text, "rule": rule, "class": "structural", "confidence": 0.5,
        "evidence_for": 1.0, "evidence_against": 0.0, "born": 0, "validated_at": 0,
        "provenance": { "sources": [], "crossings": 0 }
    });
    let mut line: BundleLine = serde_json::from_value(line).unwrap();
    line.confidence = confidence;
    line
}

/// `library import` took a stranger's bundle as it was: names and texts that set the window's title, and an entry that
/// was sure to 309 digits and stood first in every list.
#[test]
fn nothing_a_stranger_wrote_moves_the_terminal_or_stands_first_for_being_sure() {
    let (tent, stranger) = (Tent::new(), Tent::new());
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "300"]);
    let key = OwnerKey::of(&stranger.home()).unwrap();
    let lines = [
        line(HOSTILE, None, 1e308),
        line("plain words", Some(&format!("{HOSTILE} holds")), 0.9),
        line(&format!("{HOSTILE} of the moon"), None, -3.0),
    ];
    let packed = tent.folder.path().join("theirs.bundle");
    fs::write(&packed, bundle::pack(&key, HOSTILE, None, &lines)).unwrap();
    let from = packed.to_str().unwrap();
    check("library import", &tent.run(["library", "import", from]));
    let books = tent.home().library().unwrap().search(&[]).unwrap();
    assert_eq!(books.len(), 3, "{:?}", books.iter().map(|book| &book.line).collect::<Vec<_>>());
    assert!(books.iter().all(|book| (0.0..=0.3).contains(&book.line.confidence)), "a stranger is not surer than us");
    let shown = text(&tent.run(["library", "list"]).stdout);
    assert!(shown.lines().all(|line| line.len() < 400), "{shown}");
    check("grimoire import", &tent.run(["grimoire", "import", "ada", from]));
    check("golem new --from", &tent.run(["golem", "new", "eve", "--seed", "2", "--from", from]));

    // Reasons, letters, configuration, files of its own, and names of files.
    for reason in [HOSTILE, "\u{1b}c"] {
        check("freeze", &tent.run(["golem", "freeze", "ada", "--reason", reason]));
        fs::write(tent.golem("ada").frozen_marker(), reason).unwrap();
    }
    fs::write(tent.golem("ada").playbook(), format!("# {HOSTILE}\n\n- {HOSTILE}\n")).unwrap();
    check("playbook", &tent.run(["golem", "playbook", "ada"]));
    let csv = tent.folder.path().join("odd\u{1b}[31m.csv");
    fs::write(&csv, format!("{HOSTILE},{},b\n1,2,3\n", "w".repeat(1 << 20))).unwrap();
    let output = tent.run(["data", "import", csv.to_str().unwrap(), "--name", "odd"]);
    check("data import", &output);
    assert!(output.stderr.len() < 1_000, "a message is no place for a whole file: {} bytes", output.stderr.len());
    fs::write(tent.home().data().join("odd\u{1b}[31m.csv"), "ts\n").unwrap();
    fs::write(tent.root().join("golems/.odd\u{1b}]0;x\u{7}"), "").unwrap();
    for name in [HOSTILE, "ada\u{1b}[31m"] {
        for verb in ["show", "events", "run", "pause", "policy"] {
            check(verb, &tent.run(["golem", verb, name]));
        }
    }
    check("retire", &tent.run(["golem", "retire", "ada", "--confirm", "ada", "--reason", HOSTILE]));

    let reads: [&[&str]; 25] = [
        &["golem", "list"],
        &["golem", "show", "ada"],
        &["golem", "events", "ada"],
        &["golem", "stress", "ada"],
        &["golem", "policy", "ada"],
        &["golem", "report", "ada"],
        &["golem", "playbook", "ada"],
        &["golem", "approve", "ada"],
        &["grimoire", "search", "ada", "moon"],
        &["grimoire", "search", "ada", HOSTILE],
        &["grimoire", "stats", "ada"],
        &["grimoire", "verify", "ada"],
        &["grimoire", "export", "ada"],
        &["grimoire", "stats", "eve"],
        &["dream", "list", "ada"],
        &["testament", "ada"],
        &["graveyard"],
        &["lineage", "ada"],
        &["library", "list"],
        &["library", "search", "moon"],
        &["library", "propose"],
        &["treasury"],
        &["data", "list"],
        &["doctor"],
        &["config", "show"],
    ];
    for read in reads {
        check(&read.join(" "), &tent.run(read));
        let output = tent.run(["--json"].iter().chain(read));
        check(&format!("--json {}", read.join(" ")), &output);
    }
    fs::write(tent.home().config(), format!("[api]\nlisten = \"{HOSTILE}\"\n\"{HOSTILE}\" = 1\n")).unwrap();
    for read in [vec!["config", "check"], vec!["up"], vec!["golem", "run", "eve", "--ticks", "1"]] {
        check(&read.join(" "), &tent.run(read));
    }
}
