//! Programs that were written for the first version go on working: their half of a recorded conversation is read as it
//! was meant, and everything they were told then is told today; messages may gain fields, and lose none.

use crate::wire::{Answer, Ask, Fate, Hello, Question, Shown, Welcome, Word};
use serde_json::Value;

const WORLDS: &str = include_str!("first_version/worlds.jsonl");
const MINDS: &str = include_str!("first_version/minds.jsonl");

fn lines(conversation: &str, side: &str) -> Vec<Value> {
    let all = conversation.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter_map(|mut line| line.get_mut(side).map(Value::take)).collect()
}

/// Checks that everything in the old message is in the new one, unchanged.
fn check_still_said(then: &Value, now: &Value) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for (key, value) in then {
                check_still_said(value, now.get(key).unwrap_or_else(|| panic!("{key} is not said any more")));
            }
        }
        _ => assert_eq!(then, now),
    }
}

#[test]
fn what_a_world_was_told_then_it_is_told_today() {
    let told = lines(WORLDS, "to");
    let hello: Hello = serde_json::from_value(told[0].clone()).unwrap();
    check_still_said(&told[0], &serde_json::to_value(&hello).unwrap());
    let mut asks = std::collections::BTreeSet::new();
    for line in &told[1..] {
        let question: Question = serde_json::from_value(line.clone()).unwrap();
        check_still_said(line, &serde_json::to_value(&question).unwrap());
        asks.insert(line["ask"].as_str().unwrap().to_owned());
    }
    assert_eq!(asks.len(), 6, "every question of the first version: {asks:?}");
}

#[test]
fn what_a_world_said_then_is_understood_today() {
    let said = lines(WORLDS, "from");
    let welcome: Welcome = serde_json::from_value(said[0].clone()).unwrap();
    let manifest = welcome.world.unwrap().read().unwrap();
    assert_eq!((manifest.world.as_str(), manifest.lot, manifest.paper), ("tides", 1, true));
    let answers: Vec<Answer> = said[1..].iter().map(|line| serde_json::from_value(line.clone()).unwrap()).collect();
    let bars = answers[1].bars.as_ref().unwrap();
    assert_eq!(bars[0].read(&manifest).unwrap().values[0], 1.25);
    assert_eq!(answers[2].quote.unwrap().unwrap().cash, -1_250_000);
    assert!(matches!(answers[3].fate, Some(Fate::Done(_))));
    assert_eq!(answers[4].fate, Some(Fate::Never));
    assert_eq!((answers[5].away.as_deref(), answers[5].again_ms), (Some("the gauge is frozen"), Some(5_000)));
    assert_eq!(answers[6].quote, Some(None), "null is an answer");
    assert_eq!(answers[7].fate, Some(Fate::Pending));
    // Unknown fields are ignored.
    let more =
        r#"{"id":3,"ask":"preview","order":{"action":0,"units":1,"most":0,"least":0,"gas":0,"until":0,"x":1},"y":2}"#;
    let question: Question = serde_json::from_str(more).unwrap();
    assert!(matches!(question.ask, Ask::Preview { .. }));
}

#[test]
fn what_a_mind_was_told_and_said_then_holds_today() {
    let (told, said) = (lines(MINDS, "to"), lines(MINDS, "from"));
    let hello: Hello = serde_json::from_value(told[0].clone()).unwrap();
    check_still_said(&told[0], &serde_json::to_value(&hello).unwrap());
    for line in &told[1..] {
        let shown: Shown = serde_json::from_value(line.clone()).unwrap();
        check_still_said(line, &serde_json::to_value(&shown).unwrap());
    }
    let world = hello.world.unwrap().read().unwrap();
    assert_eq!(serde_json::from_value::<Welcome>(said[0].clone()).unwrap().name.as_deref(), Some("moon"));
    let words: Vec<Word> = said[1..].iter().map(|line| serde_json::from_value(line.clone()).unwrap()).collect();
    let word = words[0].clone().read(&world).unwrap();
    assert_eq!((word.claims.len(), word.claims[0].value, word.rules.len()), (1, 1.5, 1));
    assert_eq!(word.proposal.map(|proposal| (proposal.action, proposal.size)), Some((0, 0.25)));
    let assessment = word.assessment.unwrap();
    assert_eq!((assessment.new[0].name.as_str(), assessment.claims[0].reason.as_str()), ("storm", "it turned"));
    assert_eq!(word.note, "the moon is full");
    assert_eq!(words[1].clone().read(&world).unwrap(), golem::outside::Word::default(), "nothing is an answer");
    assert_eq!(words[2].error.as_deref(), Some("the moon is gone"));
}
