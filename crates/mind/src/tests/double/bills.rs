//! Honest calls, billed as by hand.

use serde_json::{Value, json};
use testing::billing::{
    Double, Extras, Habit, Part, Price, Prices, Rate, RequestEnd, Setting, Tokeniser, Turn, Used, always, bill,
    first_tool,
};

use super::{RATE, SPOKEN, asked, double, hello, honest, post, post_as, streamed, with};

#[test]
fn an_honest_call_is_billed_as_by_hand_in_every_protocol_at_once_and_in_a_stream() {
    for protocol in SPOKEN {
        for (path, body) in [hello(protocol), streamed(protocol)] {
            let double = honest(Turn::words(7));
            let answer = post(&double, &path, &body);
            assert!(answer.status == 200 && answer.whole, "{protocol}: {}", answer.body);
            let entry = double.ledger.last().unwrap();
            assert_eq!(entry.bill, asked(protocol) + 7 * 5, "{protocol}");
            assert_eq!((entry.used.input, entry.used.said, entry.ended), (asked(protocol), 7, RequestEnd::Whole));
            assert_eq!((entry.key.as_str(), entry.why.as_str()), ("ada", "honest"));
        }
    }
}

#[test]
fn embeddings_cost_what_goes_in_and_counting_costs_nothing() {
    let double = honest(Turn::words(7));
    let answer = post(&double, "/v1/embeddings", &json!({ "model": "m", "input": ["hello", "you"], "dimensions": 4 }));
    assert_eq!(answer.json()["data"][1]["embedding"].as_array().unwrap().len(), 4);
    assert_eq!(double.ledger.billed("ada"), 8);
    let packed = json!({ "model": "m", "input": [[1, 2, 3]], "encoding_format": "base64", "dimensions": 3 });
    assert_eq!(post(&double, "/v1/embeddings", &packed).json()["data"][0]["embedding"].as_str().unwrap().len(), 16);
    assert_eq!(double.ledger.billed("ada"), 8 + 3);
    let (_, body) = hello("messages");
    assert_eq!(post(&double, "/v1/messages/count_tokens", &body).json()["input_tokens"], 11);
    let (_, body) = hello("gemini");
    assert_eq!(post(&double, "/v1beta/models/m:countTokens", &body).json()["totalTokens"], 8);
    assert_eq!((double.ledger.billed("ada"), double.ledger.calls()), (11, 4));
}

#[test]
fn a_bill_is_rounded_up_once_at_its_end() {
    let price = Price::of(Rate::new(150_000, 600_000));
    let used = |input, said| Used { input, said, ..Used::default() };
    let extras = Extras::default();
    assert_eq!(bill(price, used(1, 0), extras), 1, "0.15 of a micro-dollar");
    assert_eq!(bill(price, used(3, 1), extras), 2, "0.45 and 0.60, not 1 and 1 and not 1");
    assert_eq!(bill(price, used(10, 0), extras), 2, "1.5");
    assert_eq!(bill(price, used(0, 0), extras), 0);
    let prices = Prices::parse("a=3/15, a-b*=0.25/2/0.025/0.3/0.5@1000:0.5/3+writes").unwrap();
    let found = prices.find("a-b-c").unwrap();
    assert_eq!((found.rate.read, found.rate.write_5m, found.rate.write_1h), (25_000, 300_000, 500_000));
    assert_eq!((found.above.unwrap().0, found.above.unwrap().1.output, found.counts_writes), (1_000, 3_000_000, true));
    assert_eq!(prices.find("a").unwrap().rate, Rate::new(3_000_000, 15_000_000));
    assert!(prices.find("b").is_none() && Prices::parse("a=3").is_err() && Prices::parse("a=1/2/x").is_err());
}

#[test]
fn above_a_threshold_all_of_a_call_costs_more() {
    let dear = Rate { input: 2_000_000, output: 7_000_000, ..RATE };
    let price = Price { above: Some((1_000, dear)), ..Price::of(RATE) };
    let double = with(price, Tokeniser::EachByte, always(Turn::words(7), Habit::HONEST));
    let chat =
        |letters: usize| json!({ "model": "m", "messages": [{ "role": "user", "content": "a".repeat(letters) }] });
    post_as(&double, "/v1/chat/completions", "at", &chat(994));
    post_as(&double, "/v1/chat/completions", "over", &chat(995));
    assert_eq!(double.ledger.billed("at"), 1_000 + 35);
    assert_eq!(double.ledger.billed("over"), 1_001 * 2 + 7 * 7);
}

#[test]
fn tools_that_are_offered_count_and_a_script_uses_them() {
    let tool = json!({ "name": "look", "input_schema": { "type": "object" } });
    let schema = tool.to_string().len() as u64;
    let double = double(first_tool(json!({ "city": "Paris" }), Habit::HONEST));
    let (path, mut body) = hello("messages");
    body["tools"] = json!([tool]);
    let answer = post(&double, &path, &body).json();
    assert_eq!(answer["content"][0]["input"], json!({ "city": "Paris" }));
    assert_eq!(answer["stop_reason"], "tool_use");
    // What tells it how to use tools is 346 tokens; the call is its name and its arguments.
    let used = double.ledger.last().unwrap().used;
    assert_eq!((used.input, used.said), (346 + schema + 11, 4 + 16));
    body["messages"] = json!([{ "role": "user", "content": "hello" }, { "role": "assistant", "content": answer["content"] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "x", "content": "rain" }] }]);
    let answer = post(&double, &path, &body).json();
    assert_eq!(answer["content"][0]["text"], "Done.");
    assert_eq!(double.ledger.last().unwrap().used.input, 346 + schema + 11 + 3 + 4 + 16 + 3 + 3 + 4);
}

#[test]
fn tools_come_as_each_protocol_has_them() {
    let function = json!({ "name": "look", "description": "d", "parameters": { "type": "object" } });
    let offered = |protocol: &str| match protocol {
        "chat" => json!([{ "type": "function", "function": function }]),
        "responses" => json!([{ "type": "function", "name": "look", "parameters": {} }]),
        "messages" => json!([{ "name": "look", "input_schema": {} }]),
        _ => json!([{ "functionDeclarations": [function] }]),
    };
    let called = |protocol: &str, events: &[Value]| -> bool {
        let all = json!(events).to_string();
        let wanted = match protocol {
            "chat" => r#""function":{"arguments":"{\"a\":1}"}"#,
            "responses" => r#""arguments":"{\"a\":1}""#,
            "messages" => r#""partial_json":"{\"a\":1}""#,
            _ => r#""args":{"a":1}"#,
        };
        all.contains(wanted)
    };
    for protocol in SPOKEN {
        let double = double(first_tool(json!({ "a": 1 }), Habit::HONEST));
        let (path, mut body) = streamed(protocol);
        body["tools"] = offered(protocol);
        let answer = post(&double, &path, &body);
        assert!(called(protocol, &answer.events()), "{protocol}: {}", answer.body);
    }
}

#[test]
fn several_answers_are_billed_each_and_none_is_longer_than_was_asked_for() {
    let double = honest(Turn::words(50));
    let (path, mut body) = hello("chat");
    body["n"] = json!(3);
    body["max_tokens"] = json!(20);
    let answer = post(&double, &path, &body).json();
    assert_eq!(answer["choices"].as_array().unwrap().len(), 3);
    assert_eq!(answer["choices"][2]["finish_reason"], "length");
    assert_eq!(double.ledger.billed("ada"), 11 + 3 * 20 * 5);
    body["stream"] = json!(true);
    post(&double, &path, &body);
    assert_eq!(double.ledger.billed("ada"), 2 * (11 + 3 * 20 * 5));
}

#[test]
fn what_is_dearer_than_its_tokens_is_billed_so() {
    let double = honest(Turn::words(2));
    let ask = |path: &str, extra: Value| {
        let before = double.ledger.billed_in_all();
        let (_, mut body) = hello(if path.ends_with("messages") { "messages" } else { "chat" });
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let answer = post(&double, path, &body);
        assert_eq!(answer.status, 200, "{}", answer.body);
        double.ledger.billed_in_all() - before
    };
    let (chat, messages) = ("/v1/chat/completions", "/v1/messages");
    assert_eq!(ask(chat, json!({ "service_tier": "priority" })), 21 * 2);
    assert_eq!(ask(chat, json!({ "service_tier": "flex" })), 11, "ten and a half");
    assert_eq!(ask(messages, json!({ "speed": "fast" })), 21 * 6);
    assert_eq!(ask(messages, json!({ "inference_geo": "us" })), 24, "23.1");
    assert_eq!(ask(chat, json!({ "web_search_options": {} })), 21 + 8_000 + 10_000);
    assert_eq!(ask(chat, json!({ "search_parameters": { "mode": "on" } })), 21 + 8_000 + 20 * 25_000);
    assert_eq!(ask(chat, json!({ "prediction": { "type": "content", "content": "four" } })), 21 + 4 * 5);
    let tool = json!([{ "type": "web_search_20250305", "name": "web_search", "max_uses": 3 }]);
    let shown = tool[0].to_string().len() as u64;
    assert_eq!(ask(messages, json!({ "tools": tool })), 21 + 346 + shown + 3 * (8_000 + 10_000));
}

#[test]
fn of_several_models_the_dearest_is_billed_and_one_without_a_price_is_not_there() {
    let dear = Price::of(Rate::new(10_000_000, 50_000_000));
    let prices = Prices::one("m", Price::of(RATE)).and("dear", dear);
    let mut setting = Setting::new(prices, always(Turn::words(2), Habit::HONEST));
    setting.tokeniser = Tokeniser::EachByte;
    let double = Double::start(setting).unwrap();
    let (path, mut body) = hello("chat");
    body["models"] = json!(["m", "dear"]);
    post(&double, &path, &body);
    assert_eq!(double.ledger.billed("ada"), 210);
    body["model"] = json!("nobody");
    body["models"] = Value::Null;
    assert_eq!(post(&double, &path, &body).status, 404);
    assert_eq!((double.ledger.billed("ada"), double.ledger.calls()), (210, 2));
}

#[test]
fn the_fine_tokeniser_counts_as_the_models_do() {
    let double = with(Price::of(RATE), Tokeniser::O200k, always(Turn::text("tiktoken is great!"), Habit::HONEST));
    let (path, mut body) = hello("chat");
    body["messages"][0]["content"] = json!("hello world, antidisestablishmentarianism \u{65e5}\u{672c}");
    post(&double, &path, &body);
    // The published example counts six; by pieces at white space it is the same.
    assert_eq!(double.ledger.last().unwrap().used.said, 6);
    assert_eq!(Tokeniser::O200k.count("hello world"), 2);
    assert_eq!(Tokeniser::Quarter.count("hello world"), 3);
    assert_eq!(Tokeniser::EachByte.count("h\u{e9}"), 3);
    let long = " ".repeat(1 << 20);
    let spaces = Tokeniser::O200k.count(&long);
    assert!(spaces > 0 && spaces < 1 << 20, "endless white space is counted, and fast: {spaces}");
}

#[test]
fn the_ledger_adds_up_by_key_and_goes_to_a_file_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger");
    let mut setting = Setting::new(Prices::one("*", Price::of(RATE)), always(Turn::words(7), Habit::HONEST));
    (setting.tokeniser, setting.ledger) = (Tokeniser::EachByte, Some(file.clone()));
    let double = Double::start(setting).unwrap();
    for key in ["ada", "bob", "ada"] {
        let (path, mut body) = hello("chat");
        body["user"] = json!(format!("agent of {key}"));
        post_as(&double, &path, key, &body);
    }
    assert_eq!((double.ledger.billed("ada"), double.ledger.billed("bob"), double.ledger.billed("eve")), (92, 46, 0));
    assert_eq!((double.ledger.billed_in_all(), double.ledger.calls()), (138, 3));
    let lines: Vec<Value> =
        std::fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().map(|line| line["bill_micros"].as_u64().unwrap()).sum::<u64>(), 138);
    assert_eq!((&lines[1]["key"], &lines[1]["user"]), (&json!("bob"), &json!("agent of bob")));
    assert_eq!((&lines[1]["tokens"]["input"], &lines[1]["ended"]), (&json!(11), &json!("Whole")));
    assert_eq!(double.ledger.lines().lines().count(), 3);
    assert_eq!(double.heard().len(), 3);
}

#[test]
fn a_script_is_followed_by_how_far_a_conversation_is() {
    let parts = json!([{ "think": 5, "shown": "summary" }, { "text": "first" }, { "tool": "f", "input": { "a": 1 } }]);
    let turn = Turn::parse(&parts).unwrap();
    assert!(Turn::parse(&json!([{ "sing": 1 }])).is_err() && Turn::parse(&json!({})).is_err());
    assert_eq!(turn.0[1], Part::Text("first".into()));
    let double = double(testing::billing::turns(vec![turn], Habit::HONEST));
    let (path, mut body) = hello("chat");
    assert_eq!(post(&double, &path, &body).json()["choices"][0]["message"]["content"], "Done.", "f is not offered");
    body["tools"] = json!([{ "type": "custom", "custom": { "name": "f" } }]);
    let message = post(&double, &path, &body).json()["choices"][0]["message"].clone();
    assert_eq!((&message["content"], &message["tool_calls"][0]["type"]), (&json!("first"), &json!("custom")));
    assert_eq!(message["reasoning_content"], "Let me see. ");
    body["messages"].as_array_mut().unwrap().push(message);
    assert_eq!(post(&double, &path, &body).json()["choices"][0]["message"]["content"], "Done.");
}
