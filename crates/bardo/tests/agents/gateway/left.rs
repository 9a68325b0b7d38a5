//! What an agent is told is left to it, in the headers of every answer.

use serde_json::json;
use testing::upstream::{Act, Upstream};

use super::{Agency, Answer, hello, streamed};

/// Of the five cents that its owner allows in a day.
const DAY: i64 = 50_000;

fn left(answer: &Answer) -> i64 {
    answer
        .header("x-bardo-left-micros")
        .and_then(|micros| micros.parse().ok())
        .unwrap_or_else(|| panic!("{}", answer.head))
}

/// It said 24 micro-dollars with $1.32 left, and later the whole purse where a day's cap left a twentieth of it.
#[test]
fn what_is_said_to_be_left_is_what_the_next_call_may_use() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "1", &["policy.calls_per_day=0.05"]);
    let up = agency.up();
    let whole = up.chat(&agency, &hello());
    let spent = agency.settled().calls().spent.as_micros();
    assert!(spent > 0);
    assert_eq!(left(&whole), DAY - spent, "what this one came to is taken off");
    // What a stream comes to is not known when its headers are sent.
    let stream = up.chat(&agency, &streamed());
    let aside: i64 = stream.header("x-bardo-aside-micros").unwrap().parse().unwrap();
    assert_eq!(left(&stream), DAY - spent);
    let cost = agency.settled().calls().spent.as_micros() - spent;
    assert!(0 < cost && cost <= aside, "{cost} of {aside}");
    let long = json!({ "model": "m", "messages": [{ "role": "user", "content": "x".repeat(60_000) }] });
    let refused = up.chat(&agency, &long);
    assert_eq!((refused.header("x-bardo-refused"), left(&refused)), (Some("budget_day"), DAY - spent - cost));
    up.stop();
}

#[test]
fn after_a_bill_above_its_bound_nothing_is_left_until_its_owner_says_yes() {
    let upstream = Upstream::start(|_| Act::SaysMore);
    let agency = Agency::new(&upstream, "1", &[]);
    let up = agency.up();
    let billed = up.chat(&agency, &json!({ "model": "m", "max_tokens": 3, "messages": [] }));
    assert_eq!((billed.status, left(&billed)), (200, 0));
    up.stop();
}

#[test]
fn what_else_is_capped_is_told_as_it_was_before_a_call_and_with_no_call_left_no_money_may_be_used() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "1", &["policy.cap.calls=1", "policy.cap.tokens=100000"]);
    let up = agency.up();
    let first = up.chat(&agency, &hello());
    let beside = |answer: &Answer| {
        ["x-bardo-left-calls", "x-bardo-left-tokens"].map(|name| answer.header(name).unwrap().parse::<u64>().unwrap())
    };
    assert_eq!((beside(&first), left(&first) > 0), ([1, 100_000], true));
    agency.settled();
    let refused = up.chat(&agency, &hello());
    let [calls, tokens] = beside(&refused);
    assert_eq!((refused.header("x-bardo-refused"), calls, left(&refused)), (Some("budget_calls"), 0, 0));
    assert!(0 < tokens && tokens < 100_000, "{tokens}");
    up.stop();
}
