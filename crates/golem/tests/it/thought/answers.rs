//! Nothing is taken from an answer but what an answer may hold.

use golem::books::Books;
use golem::thought::{Answer, Opinion, Purpose, Unusable, read, schema};
use golem::{Errand, Usdc, What};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::lived::Lived;

fn manifest() -> golem::world::Manifest {
    Lived::new(1, |_| {}).life().birth().world.clone()
}

#[test]
fn an_answer_is_typed_or_nothing() {
    let world = manifest();
    let said = json!({
        "claims": { "level": { "expect": 1.5, "sure": 0.5 } },
        "rules": [{ "when": [], "expect": { "domain": "level" }, "effect": 0.9, "then": "watch" }],
        "proposal": { "action": "none", "size": 0 },
        "questions": ["why?"],
        "note": "a note\u{1b}[31m",
        "deeper": true,
    });
    let fenced = format!("Sure, here it is:\n```json\n{said}\n```");
    let answer = read(&fenced, Purpose::Orient, &world).unwrap();
    assert_eq!(answer.claims[0], Opinion { domain: 0, effect: 1.25 }, "half as sure is half as far");
    assert_eq!((answer.rules.len(), answer.proposal, answer.deeper), (1, None, true));
    assert_eq!(answer.note, "a note[31m");
    let with = |field: &str, value: Value| {
        let mut other = said.clone();
        other[field] = value;
        read(&other.to_string(), Purpose::Orient, &world)
    };
    let nothing = |answer: &Answer| (answer.claims.len(), answer.rules.len(), answer.proposal);
    for (field, value, left) in [
        ("claims", json!({ "level": { "expect": 1e9, "sure": 1 } }), (0, 1, None)),
        ("claims", json!({ "level": { "expect": 1.5, "sure": 2 } }), (0, 1, None)),
        ("claims", json!({ "level": { "expect": 1.5, "sure": 0 } }), (0, 1, None)),
        ("claims", json!({ "nothing": { "expect": 1.5, "sure": 1 } }), (0, 1, None)),
        ("proposal", json!({ "action": "transfer", "size": 1 }), (1, 1, None)),
        ("proposal", json!({ "action": world.actions[0].name, "size": 7 }), (1, 1, None)),
        ("proposal", json!({ "action": world.actions[0].name, "size": 1, "to": "0xdeadbeef" }), (1, 1, None)),
        (
            "rules",
            json!([{ "when": [], "expect": { "domain": "level" }, "effect": 50, "then": "watch" }, 7]),
            (1, 0, None),
        ),
    ] {
        assert_eq!(nothing(&with(field, value.clone()).unwrap()), left, "{field} {value}");
    }
    for (field, value) in [("claims", json!([])), ("rules", json!("all")), ("amount", json!("1000000"))] {
        let wrong = with(field, value.clone());
        assert!(matches!(wrong, Err(Unusable::Wrong { .. })), "{field} {value}: {wrong:?}");
    }
    assert_eq!(read("{}", Purpose::Orient, &world), Err(Unusable::Empty));
    assert_eq!(read("no", Purpose::Orient, &world), Err(Unusable::NoObject));
    assert_eq!(read(&"{".repeat(40_000), Purpose::Orient, &world), Err(Unusable::Long));
    assert!(
        read(&format!("{}{}", "{\"claims\":[".repeat(2_000), "]}".repeat(2_000)), Purpose::Orient, &world).is_err()
    );
    for purpose in Purpose::ALL {
        let shape = schema(purpose, &world);
        let plain = purpose == Purpose::Fragment;
        assert!(if plain { shape.is_null() } else { shape["type"] == "object" }, "{purpose}: {shape}");
    }
}

#[test]
fn nights_and_last_words_are_typed_or_nothing() {
    let world = manifest();
    let rule = json!({ "when": [{ "feature": "other", "is": "above", "than": 0.5 }], "expect": { "domain": "level" }, "then": "watch" });
    let nights = json!({ "rules": [rule, 7, { "when": 1 }], "note": "n" });
    for purpose in [Purpose::Replay, Purpose::Integrate] {
        let answer = read(&nights.to_string(), purpose, &world).unwrap();
        assert_eq!((answer.rules.len(), answer.note.as_str()), (1, "n"));
        let other = json!({ "rules": [], "note": "n", "claims": {} });
        assert!(read(&other.to_string(), purpose, &world).is_err(), "a night claims nothing");
    }
    let threat = |fall: Value| {
        let said = json!({ "rules": [], "threat": { "when": rule["when"], "fall": fall }, "note": "n" });
        read(&said.to_string(), Purpose::Imagine, &world).unwrap().fear.map(|fear| fear.fall_bps)
    };
    assert_eq!(threat(json!(0.25)), Some(2_500));
    for impossible in [json!(0), json!(1.01), json!(-1), json!(1e300), json!("all"), json!(null)] {
        assert_eq!(threat(impossible.clone()), None, "{impossible}");
    }
    let fragments = json!({ "fragments": [
        { "novelty": 0.5, "rule": rule },
        { "novelty": 0.49, "rule": rule },
        { "novelty": "very", "rule": rule },
        { "rule": rule },
    ] });
    assert_eq!(read(&fragments.to_string(), Purpose::Observe, &world).unwrap().rules.len(), 1, "what is new is kept");
    let half = read("and the level\n was a \u{1b}[31m door that", Purpose::Fragment, &world).unwrap();
    assert_eq!(half.note, "and the level was a [31m door that");
    assert_eq!(read("  ", Purpose::Fragment, &world).unwrap().note, "  ");
    assert_eq!(read("", Purpose::Fragment, &world), Err(Unusable::Empty));
    let told = json!({ "text": "x".repeat(9_999), "records": [3, 1, 3, -1, "7", 2, 4, 5, 6, 7, 8, 9, 10] });
    let told = read(&told.to_string(), Purpose::Answer, &world).unwrap();
    assert_eq!((told.note.len(), &told.cites[..]), (1_200, &[1, 2, 3, 4, 5, 6, 7, 8][..]));
    assert_eq!(read(r#"{"text":"","records":[1]}"#, Purpose::Answer, &world), Err(Unusable::Empty));
    assert!(read(r#"{"text":"a","amount":1}"#, Purpose::Reflect, &world).is_err());
}

/// Words that mean something in an answer.
const WORDS: &[&str] = &[
    "claims",
    "rules",
    "proposal",
    "questions",
    "note",
    "deeper",
    "domain",
    "expect",
    "sure",
    "action",
    "size",
    "level",
    "none",
    "new",
    "when",
    "than",
    "fragments",
    "novelty",
    "rule",
    "threat",
    "fall",
    "text",
    "records",
    "feature",
    "other",
    "is",
    "above",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(WORDS).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(WORDS), inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if std::env::var_os("BARDO_FULL").is_some() { 500_000 } else { 3_000 }, ..ProptestConfig::default() })]

    /// Whatever is said, a golem that takes it in is as well as before, and as large.
    #[test]
    fn nothing_anybody_says_gets_further_than_an_answer_may(value in any_json(), text in any::<String>(), purpose in 0..9_usize) {
        let world = manifest();
        let purpose = Purpose::ALL[purpose];
        for said in [value.to_string(), text] {
            if let Ok(answer) = read(&said, purpose, &world) {
                let mut lived = ASKING.with(|asking| asking[purpose as usize].again());
                let Errand::Ask { key } = lived.owed()[0] else { unreachable!() };
                let money = Books::of(lived.life());
                let events = lived.feed(What::Answered { key, cost: Usdc::ZERO, said: Ok(Box::new(answer)) });
                prop_assert!(!events.is_empty());
                prop_assert_eq!(Books::of(lived.life()), money);
            }
        }
    }
}

thread_local! {
    /// A golem with a question under way for each purpose.
    static ASKING: Vec<Lived> = Purpose::ALL.into_iter().map(Lived::asked).collect();
}
