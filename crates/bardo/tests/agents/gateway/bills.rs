//! What a provider bills is never more than a golem was given. The judge is the ledger of a double that bills like the published
//! price pages, whatever it says was used; the first five are attacks that once came to thirty times the purse.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use golem::Usdc;
use serde_json::{Value, json};
use testing::billing::{Counted, Double, Habit, HangUp, Part, Prices, Says, Setting, Shown, Turn, always};

use super::{Agency, Answer, UNWATCHED, Up};

const PRICES: &str = "m=1/5";

fn double(plays: Box<testing::billing::Plays>) -> Double {
    Double::start(Setting::new(Prices::parse(PRICES).unwrap(), plays)).unwrap()
}

const CHAT: &str = "/g/ada/v1/chat/completions";
const MESSAGES: &str = "/g/ada/v1/messages";
const RESPONSES: &str = "/g/ada/v1/responses";

struct Held {
    double: Double,
    agency: Agency,
    up: Up,
    given: u64,
}

impl Held {
    fn new(double: Double, given: &str) -> Held {
        let agency = Agency::at(&double.url, given, &UNWATCHED);
        let up = agency.up();
        let given = (given.parse::<f64>().unwrap() * 1e6).round() as u64;
        Held { double, agency, up, given }
    }

    fn call(&self, path: &str, body: &Value) -> Answer {
        self.up.post(path, &self.agency.token, "anthropic-version: 2023-06-01\r\n", &body.to_string())
    }

    /// Asks until it is refused for good, and so many times at most; then the bill is within what was given.
    fn until_refused(self, path: &str, body: &Value, most: usize) {
        for _ in 0..most {
            if self.call(path, body).status != 200 {
                break;
            }
        }
        self.end();
    }

    fn end(self) {
        assert!(self.double.ledger.quiet(Duration::from_secs(60)), "something is still being billed");
        let life = self.agency.settled();
        let billed = self.double.ledger.billed_in_all();
        assert!(billed <= self.given, "billed {billed} of {}: {}", self.given, self.double.ledger.lines());
        assert!(billed <= life.calls().spent.as_micros() as u64, "billed {billed}, booked {}", life.calls().spent);
        self.up.stop();
        self.agency.tent.verified("ada");
    }
}

#[test]
fn text_that_poses_as_a_picture_in_what_a_tool_is_asked_is_text() {
    let held = Held::new(double(always(Turn::words(20), Habit::HONEST)), "0.1");
    let data = "All work and no play makes a long text. ".repeat(9_000);
    let input = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } });
    let body = json!({ "model": "m", "max_tokens": 64, "messages": [
        { "role": "user", "content": "go on" },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "t1", "name": "look", "input": input }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "done" }] },
    ] });
    held.until_refused(MESSAGES, &body, 30);
}

#[test]
fn items_that_are_only_named_are_refused() {
    let held = Held::new(double(always(Turn::words(20), Habit::HONEST)), "0.5");
    for item in [
        json!({ "id": "rs_1" }),
        json!({ "type": "reasoning", "id": "rs_1" }),
        json!({ "type": "item_reference", "id": "x" }),
    ] {
        let body =
            json!({ "model": "m", "max_output_tokens": 64, "input": [item, { "role": "user", "content": "go on" }] });
        assert_eq!(held.call(RESPONSES, &body).status, 400);
    }
    assert_eq!(held.double.ledger.calls(), 0);
    held.end();
}

#[test]
fn reasoning_that_is_counted_beside_the_answer_is_paid() {
    for counted in [Counted::Beside, Counted::OnlyInTotal] {
        let habit = Habit { counted, ..Habit::HONEST };
        let held = Held::new(double(always(Turn::thinks(900, Shown::Not).then(Part::Words(20)), habit)), "0.05");
        let body = json!({ "model": "m", "max_tokens": 1_000, "messages": [{ "role": "user", "content": "why?" }] });
        held.until_refused(CHAT, &body, 60);
    }
}

/// A client that hears the first bytes of a stream and hangs up.
pub(super) fn hangs_up(address: &str, path: &str, token: &str, body: &str) {
    // Whoever killed the host meanwhile hears nothing of it.
    let Ok(mut socket) = TcpStream::connect(address) else { return };
    let length = body.len();
    let head =
        format!("POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-length: {length}\r\n\r\n");
    let _ = socket.write_all(format!("{head}{body}").as_bytes());
    socket.set_read_timeout(Some(Duration::from_millis(150))).unwrap();
    let _ = socket.read(&mut [0; 200]);
}

#[test]
fn hanging_up_while_a_model_reasons_unseen_leaves_nothing_unpaid() {
    for hang_up in [HangUp::Stops, HangUp::GoesOn] {
        let habit = Habit { hang_up, pace: Some(3_000), ..Habit::HONEST };
        let held = Held::new(double(always(Turn::thinks(2_000, Shown::Not).then(Part::Words(20)), habit)), "0.05");
        let body = json!({ "model": "m", "stream": true, "max_tokens": 4_000, "messages": [{ "role": "user", "content": "why?" }] });
        for _ in 0..6 {
            hangs_up(&held.up.address, CHAT, &held.agency.token, &body.to_string());
        }
        held.end();
    }
}

#[test]
fn a_document_by_its_address_is_refused() {
    let held = Held::new(double(always(Turn::words(20), Habit::HONEST)), "0.2");
    let part = json!({ "type": "document_url", "document_url": "https://example.com/long.pdf" });
    let body = json!({ "model": "m", "max_tokens": 64, "messages": [{ "role": "user", "content": [part] }] });
    assert_eq!(held.call(CHAT, &body).status, 400);
    for field in ["models", "plugins", "provider", "search_parameters", "extra_body", "inference_geo", "speed"] {
        let mut body = json!({ "model": "m", "max_tokens": 64, "messages": [{ "role": "user", "content": "hi" }] });
        body[field] = json!({ "id": "dear" });
        assert_eq!(held.call(CHAT, &body).status, 400, "{field}");
    }
    assert_eq!(held.double.ledger.calls(), 0);
    held.end();
}

/// A count of nothing is none, so that whoever says it is not believed. Where one says less than it bills, nobody can see that:
/// its bill can pass the purse, by as much as it says too little and no more.
#[test]
fn a_provider_that_says_less_than_it_bills_is_over_by_its_own_lie_and_no_more() {
    let body =
        json!({ "model": "m", "max_tokens": 64, "messages": [{ "role": "user", "content": "why? ".repeat(60) }] });
    let mut streamed = body.clone();
    streamed["stream"] = json!(true);
    for (path, body) in [(CHAT, &body), (CHAT, &streamed), (MESSAGES, &body), (MESSAGES, &streamed)] {
        let held = Held::new(double(always(Turn::words(50), Habit { says: Says::Zero, ..Habit::HONEST })), "0.01");
        held.until_refused(path, body, 200);
    }
    let lie = 4;
    let held = Held::new(double(always(Turn::words(50), Habit { says: Says::Part(lie), ..Habit::HONEST })), "0.01");
    let answered = (0..400).take_while(|_| held.call(CHAT, &body).status == 200).count() as u64;
    assert!((1..400).contains(&answered), "{answered} were answered");
    let (spent, billed) = (held.agency.settled().calls().spent, held.double.ledger.billed_in_all());
    assert!(spent <= Usdc::micros(held.given as i64), "{spent}");
    // Of each kind of tokens less than one for each so many is not said.
    let unsaid = answered * 2 * 5 * (lie - 1);
    println!("counted: {billed} micro-dollars billed on {} where a quarter of that was said", held.given);
    assert!(billed <= lie * held.given + unsaid, "{billed} on {}", held.given);
    held.up.stop();
}

/// What climbs out of the place of models would be asked at the price of what it seems to be.
#[test]
fn no_model_is_reached_by_climbing_from_another() {
    let held = Held::new(double(always(Turn::words(20), Habit::HONEST)), "0.2");
    let body = json!({ "contents": [{ "role": "user", "parts": [{ "text": "hi" }] }] });
    for model in ["x%2F..%2Fm", "..%2Fm", "%2E%2E%2Fm", "m%2F", "a%2F%2Fm"] {
        let path = format!("/g/ada/v1beta/models/{model}:generateContent");
        assert_eq!(held.call(&path, &body).status, 404, "{model}");
    }
    assert_eq!(held.double.ledger.calls(), 0);
    held.end();
}
