//! What is said was used, truly and otherwise: the bill is the same for all of it.

use serde_json::{Value, json};
use testing::billing::{Counted, Double, Habit, Part, Says, Shown, Turn, always};

use super::{SPOKEN, asked, double, hello, post, streamed};

fn saying(habit: Habit) -> Double {
    double(always(Turn::thinks(30, Shown::Not).then(Part::Words(10)), habit))
}

/// The last that a stream says of what was used.
fn last_usage(protocol: &str, events: &[Value]) -> Option<Value> {
    let places = ["/usage", "/response/usage", "/usageMetadata"];
    let found = events
        .iter()
        .rev()
        .find_map(|event| places.iter().find_map(|place| event.pointer(place).filter(|usage| usage.is_object())));
    let found = found.cloned();
    let first = events.first().and_then(|event| event.pointer("/message/usage")).cloned();
    if protocol == "messages" { found.or(first) } else { found }
}

fn output(usage: &Value) -> u64 {
    let names = ["completion_tokens", "output_tokens", "candidatesTokenCount"];
    names.iter().find_map(|name| usage[*name].as_u64()).unwrap()
}

#[test]
fn whatever_is_said_the_bill_is_what_was_used() {
    for protocol in SPOKEN {
        let own = if protocol == "gemini" { 10 } else { 40 };
        for (says, told) in [
            (Says::Honest, Some(own)),
            (Says::Times(10), Some(own * 10)),
            (Says::Part(10), Some(own / 10)),
            (Says::Zero, Some(0)),
            (Says::Nothing, None),
            (Says::OnlyAtEnd, Some(own)),
            (Says::Running, Some(own)),
        ] {
            let double = saying(Habit { says, ..Habit::HONEST });
            let bill = asked(protocol) + 40 * 5;
            let (path, body) = streamed(protocol);
            let events = post(&double, &path, &body).events();
            assert_eq!(last_usage(protocol, &events).as_ref().map(output), told, "{protocol} {says:?}");
            let (path, body) = hello(protocol);
            let whole = post(&double, &path, &body).json();
            let whole = [&whole["usage"], &whole["usageMetadata"]].into_iter().find(|usage| usage.is_object()).cloned();
            assert_eq!(whole.as_ref().map(output), told, "{protocol} {says:?}");
            assert_eq!(double.ledger.billed("ada"), 2 * bill, "{protocol} {says:?}");
        }
    }
}

#[test]
fn a_stream_that_is_told_at_its_end_begins_with_nothing_and_a_running_one_is_told_all_along() {
    let double = saying(Habit { says: Says::OnlyAtEnd, ..Habit::HONEST });
    let (path, body) = streamed("messages");
    let events = post(&double, &path, &body).events();
    assert_eq!(events[0]["message"]["usage"]["input_tokens"], 0);
    assert_eq!(last_usage("messages", &events).unwrap()["input_tokens"], 11);
    let double = saying(Habit { says: Says::Running, ..Habit::HONEST });
    let (path, body) = streamed("chat");
    let told: Vec<u64> = post(&double, &path, &body).events().iter().map(|event| output(&event["usage"])).collect();
    assert!(told.len() > 10 && told.is_sorted() && told[1] == 31 && told.last() == Some(&40), "{told:?}");
    let mut quiet = body.clone();
    quiet["stream_options"] = Value::Null;
    let double = saying(Habit::HONEST);
    assert_eq!(last_usage("chat", &post(&double, &path, &quiet).events()), None, "nobody asked");
}

#[test]
fn thinking_is_billed_wherever_it_is_counted() {
    // What is said of an answer, of its thinking, and of all.
    let said = |counted: Counted, protocol: &str| {
        let double = saying(Habit { counted, ..Habit::HONEST });
        let (path, body) = hello(protocol);
        let answer = post(&double, &path, &body).json();
        assert_eq!(double.ledger.billed("ada"), asked(protocol) + 40 * 5, "{counted:?}");
        let usage = if protocol == "gemini" { answer["usageMetadata"].clone() } else { answer["usage"].clone() };
        let details = ["completion_tokens_details", "output_tokens_details"];
        let thought = details.iter().find_map(|name| usage[*name]["reasoning_tokens"].as_u64());
        let thought = thought.or(usage["thoughtsTokenCount"].as_u64());
        let total = usage["total_tokens"].as_u64().or(usage["totalTokenCount"].as_u64()).unwrap();
        (output(&usage), thought, total - asked(protocol))
    };
    for protocol in ["chat", "responses"] {
        assert_eq!(said(Counted::Inside, protocol), (40, Some(30), 40));
        assert_eq!(said(Counted::Beside, protocol), (10, Some(30), 40));
        assert_eq!(said(Counted::OnlyInTotal, protocol), (10, None, 40));
        assert_eq!(said(Counted::OnlyInDetails, protocol), (10, Some(30), 10));
    }
    assert_eq!(said(Counted::Inside, "gemini"), (10, Some(30), 40));
    assert_eq!(said(Counted::OnlyInTotal, "gemini"), (10, None, 40));
}

/// As it was found: a completion of 10, reasoning of 1,990 beside it, each call at three hundredths of a dollar.
#[test]
fn reasoning_beside_the_completion_is_billed_and_may_pass_the_most_that_was_asked_for() {
    let turn = Turn::thinks(1_990, Shown::Not).then(Part::Words(10));
    let beside = Habit { counted: Counted::Beside, ..Habit::HONEST };
    let past = Habit { thinks_past_most: true, ..beside };
    let (path, mut body) = hello("chat");
    body["max_tokens"] = json!(2_000);
    let ask = |habit: Habit, body: &Value| {
        let double = double(always(turn.clone(), habit));
        let usage = post(&double, &path, body).json()["usage"].clone();
        (output(&usage), double.ledger.billed("ada"))
    };
    assert_eq!(ask(beside, &body), (10, 11 + 2_000 * 5));
    body["max_tokens"] = json!(16);
    assert_eq!(ask(beside, &body), (0, 11 + 16 * 5), "nothing is left to be said");
    assert_eq!(ask(past, &body), (10, 11 + 2_000 * 5));
}

#[test]
fn thoughts_are_shown_as_far_as_a_script_says() {
    for (shown, words) in [(Shown::Not, None), (Shown::Summary, Some("Let me see. ".len()))] {
        let double = double(always(Turn::thinks(30, shown).then(Part::Words(1)), Habit::HONEST));
        let (path, body) = hello("chat");
        let message = post(&double, &path, &body).json()["choices"][0]["message"].clone();
        assert_eq!(message["reasoning_content"].as_str().map(str::len), words);
        let (path, body) = streamed("messages");
        let thoughts = post(&double, &path, &body).body.matches("thinking_delta").count();
        assert_eq!(thoughts, usize::from(words.is_some()));
        let (path, body) = streamed("responses");
        let thoughts = post(&double, &path, &body).body.matches("event: response.reasoning_summary_text.delta").count();
        assert_eq!(thoughts, usize::from(words.is_some()));
    }
}
