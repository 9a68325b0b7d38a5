//! What is named and not shown: answers and reasoning of before, conversations, sealed thoughts.

use serde_json::{Value, json};
use testing::billing::{Double, Part, Shown, Turn};

use super::{honest, post};

/// Thinks 8,000 tokens and says two.
fn thinker() -> Double {
    honest(Turn::thinks(8_000, Shown::Not).then(Part::Words(2)))
}

fn respond(double: &Double, extra: &Value) -> Value {
    let mut body = json!({ "model": "m", "input": "x" });
    body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let answer = post(double, "/v1/responses", &body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

fn read(double: &Double) -> u64 {
    let used = double.ledger.last().unwrap().used;
    used.input + used.read
}

#[test]
fn an_item_that_is_named_is_billed_with_or_without_saying_that_it_is_a_reference() {
    let double = thinker();
    let first = respond(&double, &json!({ "include": ["reasoning.encrypted_content"] }));
    let item = &first["output"][0];
    assert_eq!(
        (&item["type"], first["output"][1]["content"][0]["text"].as_str()),
        (&json!("reasoning"), Some("word word"))
    );
    let id = &item["id"];
    for shape in [
        json!({ "id": id }),
        json!({ "type": "item_reference", "id": id }),
        json!({ "type": "reasoning", "id": id, "summary": [] }),
        json!({ "type": "reasoning", "summary": [], "encrypted_content": item["encrypted_content"] }),
    ] {
        let items: Vec<Value> = (0..60).map(|_| shape.clone()).collect();
        let input = [items, vec![json!({ "role": "user", "content": "x" })]].concat();
        respond(&double, &json!({ "input": input }));
        assert_eq!(read(&double), 60 * 8_000 + 3 + 1 + 3, "{shape}");
    }
    let seal = item["encrypted_content"].as_str().unwrap().len();
    assert!(seal >= 8_000, "a sealed thought is no shorter than its tokens: {seal}");
}

#[test]
fn a_response_that_goes_on_from_another_brings_all_of_it_along() {
    let double = thinker();
    let first = respond(&double, &json!({}));
    let all = 7 + 8_000 + 2;
    let second = respond(&double, &json!({ "previous_response_id": first["id"] }));
    assert_eq!(read(&double), all + 7);
    respond(&double, &json!({ "previous_response_id": second["id"] }));
    assert_eq!(read(&double), all + 7 + 8_002 + 7);
    respond(&double, &json!({ "conversation": "conv_1" }));
    assert_eq!(read(&double), 20_000 + 7, "one from elsewhere");
    respond(&double, &json!({ "conversation": { "id": "conv_1" } }));
    assert_eq!(read(&double), 20_007 + 8_002 + 7);
    respond(&double, &json!({ "prompt": { "id": "pmpt_1" } }));
    assert_eq!(read(&double), 20_000 + 7);
}

#[test]
fn what_was_not_to_be_kept_is_not_known_by_its_name() {
    let double = thinker();
    let first = respond(&double, &json!({ "store": false }));
    respond(&double, &json!({ "input": [{ "id": first["output"][0]["id"] }] }));
    assert_eq!(read(&double), 20_000 + 3, "whatever is there under that name");
}

#[test]
fn a_thought_that_was_shown_in_part_is_billed_whole_when_it_comes_back() {
    let double = honest(Turn::thinks(500, Shown::Summary).then(Part::Words(1)));
    let ask = |messages: Value| {
        let body = json!({ "model": "m", "max_tokens": 1_000, "messages": messages });
        post(&double, "/v1/messages", &body).json()
    };
    let question = json!({ "role": "user", "content": "x" });
    let first = ask(json!([question]));
    assert_eq!(first["content"][0]["thinking"], "Let me see. ");
    assert_eq!(first["usage"]["output_tokens"], 501);
    ask(json!([question, { "role": "assistant", "content": first["content"] }, question]));
    assert_eq!(read(&double), 3 + 1 + 3 + 500 + 4 + 3 + 1 + 3);
    let body =
        json!({ "contents": [{ "role": "user", "parts": [{ "text": "x" }] }], "cachedContent": "cachedContents/1" });
    let answer = post(&double, "/v1beta/models/m:generateContent", &body).json();
    assert_eq!(read(&double), 20_000 + 3 + 1);
    let content = answer["candidates"][0]["content"].clone();
    let body = json!({ "contents": [{ "role": "user", "parts": [{ "text": "x" }] }, content] });
    post(&double, "/v1beta/models/m:generateContent", &body);
    assert_eq!(read(&double), 3 + 1 + 3 + 12 + 4 + 500);
}
