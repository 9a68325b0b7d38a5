//! Every word a person sees about an event comes from one place, `shell::view::saying`: whoever tells of it repeats the same
//! sentence. If one is taken out there, it is gone from the command line, the streams that screens and page read, and notes.

use std::fs;
use std::time::Duration;

use crate::common::Tent;
use crate::common::host::Host;
use serde_json::{Value, json};
use testing::wait::{until, within};

/// What `golem events` tells of each, with the words beside it.
fn told(tent: &Tent, name: &str) -> Vec<(String, String)> {
    let lines = tent.ok(["--json", "golem", "events", name, "--all"]);
    let each = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no words in {value}")).to_owned();
    each.map(|told| (text(&told["event"]), text(&told["says"]))).collect()
}

#[test]
fn the_command_line_the_streams_and_notes_say_the_same() {
    let tent = Tent::new();
    let notes = tent.folder.path().join("notes");
    let toml = tent.root().join("bardo.toml");
    fs::write(&toml, format!("[notify]\ncommand = \"cat >> {}\"\ngather = \"0s\"\n", notes.display())).unwrap();
    tent.ok(["golem", "new", "ada", "--seed", "3", "--credit", "0.5", "--set", "mortality.mode=hosted"]);
    tent.ok(["golem", "run", "ada", "--speed", "max"]);
    let said = told(&tent, "ada");
    let kinds: std::collections::BTreeSet<&str> = said.iter().map(|(event, _)| event.as_str()).collect();
    assert!(kinds.len() > 12 && kinds.contains("mortality.dead"), "{kinds:?}");
    // On the terminal: the time, the tick, and the very same words.
    let lines = tent.ok(["golem", "events", "ada", "--all"]);
    for (line, (event, says)) in lines.lines().zip(&said) {
        assert!(line.ends_with(says.as_str()) && !says.is_empty(), "{event}: {line} is not {says}");
    }
    assert_eq!(lines.lines().count(), said.len());
    // On the stream that the screens and the page repeat.
    let host = Host::up(&tent, "1");
    let heard = host.listen("/v1/golems/ada/events?all=true", Some("0.0"), said.len());
    let heard: Vec<(String, String)> =
        heard.into_iter().map(|(_, event, data)| (event, data["says"].as_str().unwrap().to_owned())).collect();
    assert!(heard == said, "the stream has words of its own");
    // In what an owner is told without asking.
    tent.ok(["golem", "new", "bob", "--seed", "1"]);
    until("bob is not found", || host.get("/v1/golems").to_string().contains("\"bob\""));
    assert_eq!(host.post("/v1/golems/bob/freeze", &json!({ "reason": "to be read" })).0, 200);
    assert_eq!(host.post("/v1/golems/bob/retire", &json!({ "confirm": "bob", "reason": "to be read" })).0, 200);
    let expected: Vec<String> = ["golem.frozen", "mortality.dead"]
        .iter()
        .map(|event| {
            let said = told(&tent, "bob").into_iter().find(|(name, _)| name == event);
            format!("bob {}", said.unwrap_or_else(|| panic!("no {event}")).1)
        })
        .collect();
    let heard = || fs::read_to_string(&notes).unwrap_or_default();
    let late = || format!("{expected:?} are not in {}", heard());
    within(Duration::from_secs(90), late, || expected.iter().all(|note| heard().contains(note.as_str())));
}
