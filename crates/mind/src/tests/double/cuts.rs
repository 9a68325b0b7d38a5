//! Calls that do not end as they should: who hangs up, what is refused, what is lost.

use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use testing::billing::{Double, Fault, Habit, HangUp, Part, RequestEnd, Shown, Turn, always};
use testing::wait::within;

use super::{SPOKEN, asked, double, hello, post, send, streamed};

/// Thinks for long before it says a word, 500 tokens a second.
fn thinker(hang_up: HangUp) -> Double {
    let habit = Habit { hang_up, pace: Some(500), ..Habit::HONEST };
    double(always(Turn::thinks(400, Shown::Not).then(Part::Words(100)), habit))
}

/// Hangs up while it thinks; what was billed, and how long that took.
fn hang_up(double: &Double, protocol: &str, stream: bool) -> (u64, Duration) {
    let (path, mut body) = if stream { streamed(protocol) } else { hello(protocol) };
    // Longer than it is listened to, also on a busy machine.
    match protocol {
        "chat" => body["max_completion_tokens"] = json!(1_000),
        "messages" => body["max_tokens"] = json!(1_000),
        _ => {}
    }
    let began = Instant::now();
    let mut line = send(double, &path, "ada", &body);
    if stream {
        line.read_exact(&mut [0; 64]).unwrap();
    }
    // What went in is billed as soon as it is read.
    within(Duration::from_secs(10), || "it was never read".to_owned(), || double.ledger.billed_in_all() > 0);
    thread::sleep(Duration::from_millis(200));
    drop(line);
    assert!(double.ledger.quiet(Duration::from_secs(10)));
    let entry = double.ledger.last().unwrap();
    assert_eq!(entry.ended, RequestEnd::HungUp, "{protocol}");
    (entry.bill, began.elapsed())
}

#[test]
fn who_hangs_up_while_it_thinks_unseen_pays_for_what_was_thought() {
    for protocol in SPOKEN {
        let (bill, took) = hang_up(&thinker(HangUp::Stops), protocol, true);
        let made = (bill - asked(protocol)) / 5;
        let most = took.as_millis() as u64 / 2 + 5;
        assert!((90..=most.min(399)).contains(&made), "{protocol}: {made} of at most {most}");
    }
    let (bill, _) = hang_up(&thinker(HangUp::Stops), "chat", false);
    assert!((11 + 90 * 5..11 + 400 * 5).contains(&bill), "an answer that would have come at once: {bill}");
}

#[test]
fn who_hangs_up_on_one_that_goes_on_pays_for_the_longest_answer() {
    for stream in [true, false] {
        let (bill, _) = hang_up(&thinker(HangUp::GoesOn), "chat", stream);
        assert_eq!(bill, 11 + 1_000 * 5);
        let (bill, _) = hang_up(&thinker(HangUp::GoesOn), "responses", stream);
        assert_eq!(bill, 11 + 64_000 * 5, "it was not told how long it may be");
    }
}

#[test]
fn who_hangs_up_before_it_begins_pays_for_what_went_in() {
    let habit = Habit { first: Duration::from_secs(5), ..Habit::HONEST };
    let (bill, took) = hang_up(&double(always(Turn::words(9), habit)), "chat", false);
    assert!(bill == 11 && took < Duration::from_secs(4), "{bill} after {took:?}");
}

#[test]
fn who_has_heard_all_of_it_has_hung_up_on_nothing() {
    let habit = Habit { hang_up: HangUp::GoesOn, ..Habit::HONEST };
    let double = double(always(Turn::words(9), habit));
    let (path, body) = streamed("chat");
    drop(send(&double, &path, "ada", &body));
    thread::sleep(Duration::from_millis(50));
    assert!(double.ledger.quiet(Duration::from_secs(10)));
    assert_eq!((double.ledger.billed("ada"), double.ledger.last().unwrap().ended), (11 + 45, RequestEnd::Whole));
}

#[test]
fn what_is_refused_costs_nothing_and_what_is_lost_costs_all() {
    for protocol in SPOKEN {
        let (path, body) = streamed(protocol);
        for status in [429, 500, 529] {
            let double = double(always(Turn::words(9), Habit::fault(Fault::Status(status))));
            let answer = post(&double, &path, &body);
            assert_eq!((answer.status, double.ledger.billed("ada")), (status, 0), "{protocol}");
            assert!(answer.json()["error"]["message"].is_string(), "{protocol}: {}", answer.body);
            assert_eq!(answer.head.contains("retry-after: 1"), status == 429);
            assert_eq!(double.ledger.last().unwrap().ended, RequestEnd::Failed);
        }
        let double = double(always(Turn::words(9), Habit::fault(Fault::Lost(504))));
        assert_eq!(post(&double, &path, &body).status, 504);
        assert_eq!(double.ledger.billed("ada"), asked(protocol) + 45, "{protocol}");
    }
}

#[test]
fn a_line_that_is_cut_costs_what_was_made_until_then() {
    for protocol in SPOKEN {
        for (path, body) in [hello(protocol), streamed(protocol)] {
            let double = double(always(Turn::words(9), Habit::fault(Fault::CutAt(4))));
            let answer = post(&double, &path, &body);
            assert!(!answer.whole && answer.status == 200, "{protocol}: {}", answer.body);
            assert_eq!(double.ledger.billed("ada"), asked(protocol) + 4 * 5, "{protocol}");
            let entry = double.ledger.last().unwrap();
            assert_eq!((entry.ended, entry.why.as_str()), (RequestEnd::Cut, "CutAt(4)"));
        }
    }
}

#[test]
fn a_stream_that_ends_with_word_of_an_error_costs_what_was_made_until_then() {
    for protocol in SPOKEN {
        let double = double(always(Turn::words(9), Habit::fault(Fault::ErrorAt(4))));
        let (path, body) = streamed(protocol);
        let answer = post(&double, &path, &body);
        assert!(answer.whole && answer.events().last().unwrap().to_string().contains("it failed in the middle"));
        assert_eq!(double.ledger.billed("ada"), asked(protocol) + 4 * 5, "{protocol}");
    }
}

#[test]
fn one_that_falls_silent_at_the_end_has_done_all_of_it() {
    let habit = Habit::fault(Fault::Stalls(Duration::from_millis(150)));
    for (path, body) in [hello("chat"), streamed("chat")] {
        let double = double(always(Turn::words(9), habit));
        let began = Instant::now();
        let answer = post(&double, &path, &body);
        assert!(!answer.whole && !answer.body.contains("[DONE]") && began.elapsed() >= Duration::from_millis(150));
        assert_eq!(double.ledger.billed("ada"), 11 + 45);
    }
}

#[test]
fn a_slow_one_takes_the_time_its_tokens_take() {
    let habit = Habit { first: Duration::from_millis(100), pace: Some(100), ..Habit::HONEST };
    let double = double(always(Turn::words(20), habit));
    let (path, body) = streamed("messages");
    let began = Instant::now();
    assert!(post(&double, &path, &body).whole);
    assert!(began.elapsed() >= Duration::from_millis(290), "{:?}", began.elapsed());
    assert_eq!(double.ledger.billed("ada"), 11 + 100);
    assert_eq!(double.ledger.last().unwrap().why, "100 tokens a second, waits 100ms");
}
