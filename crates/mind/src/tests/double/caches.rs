//! What is written to caches and read from them, and for how long.

use std::time::Duration;

use serde_json::{Value, json};
use testing::billing::{Double, Habit, Price, Tokeniser, Turn, Used, always};

use super::{RATE, honest, post, with};

/// Two thousand letters behind a mark, and two after it: 2,000 of the one kind and 3 + 2 + 3 of the other.
fn marked(ttl: &str) -> Value {
    let system =
        json!([{ "type": "text", "text": "a".repeat(2_000), "cache_control": { "type": "ephemeral", "ttl": ttl } }]);
    json!({ "model": "m", "max_tokens": 9, "system": system, "messages": [{ "role": "user", "content": "hi" }] })
}

fn used(double: &Double, body: &Value) -> Used {
    let path = if body["max_tokens"].is_null() { "/v1/chat/completions" } else { "/v1/messages" };
    let answer = post(double, path, body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    Used { said: 0, ..double.ledger.last().unwrap().used }
}

#[test]
fn a_prefix_is_written_once_and_read_until_its_time_is_over() {
    let double = honest(Turn::words(1));
    let wrote = Used { input: 8, write_5m: 2_000, ..Used::default() };
    let read = Used { input: 8, read: 2_000, ..Used::default() };
    assert_eq!(used(&double, &marked("5m")), wrote);
    assert_eq!(double.ledger.last().unwrap().bill, 2_000 * 2 + 8 + 5);
    assert_eq!(used(&double, &marked("5m")), read);
    assert_eq!(double.ledger.last().unwrap().bill, 200 + 8 + 5);
    double.later(Duration::from_secs(299));
    assert_eq!(used(&double, &marked("5m")), read, "and reading keeps it");
    double.later(Duration::from_secs(299));
    assert_eq!(used(&double, &marked("5m")), read);
    double.later(Duration::from_secs(302));
    assert_eq!(used(&double, &marked("5m")), wrote);
}

#[test]
fn an_hour_costs_more_and_lasts_an_hour() {
    let double = honest(Turn::words(1));
    assert_eq!(used(&double, &marked("1h")), Used { input: 8, write_1h: 2_000, ..Used::default() });
    assert_eq!(double.ledger.last().unwrap().bill, 2_000 * 3 + 8 + 5);
    double.later(Duration::from_secs(3_500));
    assert_eq!(used(&double, &marked("1h")), Used { input: 8, read: 2_000, ..Used::default() });
    double.later(Duration::from_secs(3_602));
    assert_eq!(used(&double, &marked("1h")), Used { input: 8, write_1h: 2_000, ..Used::default() });
}

#[test]
fn both_lifetimes_share_a_request_and_only_what_is_new_is_written() {
    let double = honest(Turn::words(1));
    let mut body = marked("1h");
    let block = |letters: usize| {
        json!({ "role": "user", "content": [{ "type": "text", "text": "b".repeat(letters),
            "cache_control": { "type": "ephemeral" } }] })
    };
    body["messages"] = json!([block(500)]);
    // Three around the message stand before its text.
    assert_eq!(used(&double, &body), Used { input: 3, write_1h: 2_000, write_5m: 503, ..Used::default() });
    body["messages"] = json!([block(500), { "role": "assistant", "content": "ok" }, block(100)]);
    assert_eq!(used(&double, &body), Used { input: 3, read: 2_503, write_5m: 3 + 2 + 103, ..Used::default() });
    let usage = post(&double, "/v1/messages", &body).json()["usage"].clone();
    assert_eq!(usage["cache_read_input_tokens"], 2_503 + 108);
    body["messages"] = json!([block(100), block(500)]);
    assert_eq!(used(&double, &body).read, 2_000, "from the first difference on nothing is known");
}

#[test]
fn what_is_short_or_changed_or_of_another_key_is_not_read() {
    let double = honest(Turn::words(1));
    let mut short = marked("5m");
    short["system"][0]["text"] = json!("a".repeat(1_000));
    for _ in 0..2 {
        assert_eq!(used(&double, &short), Used { input: 1_008, ..Used::default() });
    }
    used(&double, &marked("5m"));
    super::post_as(&double, "/v1/messages", "bob", &marked("5m"));
    assert_eq!(double.ledger.last().unwrap().used.write_5m, 2_000);
    let mut wrong = marked("5m");
    wrong["messages"] = json!([{ "role": "user", "content": vec![json!({ "type": "text", "text": "a",
        "cache_control": { "type": "ephemeral" } }); 4] }]);
    assert_eq!(post(&double, "/v1/messages", &wrong).status, 400, "five marks");
    assert_eq!(post(&double, "/v1/messages", &marked("1d")).status, 400);
    let mut top = marked("5m");
    top["system"] = json!("a".repeat(2_000));
    top["cache_control"] = json!({ "type": "ephemeral" });
    assert_eq!(used(&double, &top), Used { input: 3, read: 2_000, write_5m: 5, ..Used::default() });
}

#[test]
fn a_cache_that_works_by_itself_reads_in_steps() {
    let chat = |text: String| json!({ "model": "m", "messages": [{ "role": "user", "content": text }] });
    let double = honest(Turn::words(1));
    let (same, other) = ("a".repeat(2_000), "a".repeat(1_500) + &"b".repeat(500));
    assert_eq!(used(&double, &chat(same.clone())), Used { input: 2_006, ..Used::default() });
    assert_eq!(used(&double, &chat(same.clone())), Used { input: 2_006 - 1_920, read: 1_920, ..Used::default() });
    assert_eq!(used(&double, &chat(other)), Used { input: 2_006 - 1_408, read: 1_408, ..Used::default() });
    let answer = post(&double, "/v1/chat/completions", &chat(same.clone())).json();
    assert_eq!(answer["usage"]["prompt_tokens"], 2_006);
    assert_eq!(answer["usage"]["prompt_tokens_details"]["cached_tokens"], 1_920);
    double.later(Duration::from_secs(601));
    assert_eq!(used(&double, &chat(same)).read, 0);
    for _ in 0..2 {
        assert_eq!(used(&double, &chat("a".repeat(1_000))).read, 0, "too short");
    }
}

#[test]
fn newer_models_bill_what_they_write_to_it_as_well() {
    let price = Price { counts_writes: true, ..Price::of(RATE) };
    let double = with(price, Tokeniser::EachByte, always(Turn::words(1), Habit::HONEST));
    let body = json!({ "model": "m", "input": "a".repeat(2_000) });
    let answer = post(&double, "/v1/responses", &body).json();
    assert_eq!(answer["usage"]["input_tokens_details"]["cache_write_tokens"], 1_920);
    assert_eq!(double.ledger.last().unwrap().bill, 1_920 * 2 + 86 + 5);
    post(&double, "/v1/responses", &body);
    assert_eq!(double.ledger.last().unwrap().bill, 192 + 86 + 5);
}
