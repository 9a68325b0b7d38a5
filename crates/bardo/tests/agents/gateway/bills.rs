//! What a provider bills is never more than a golem was given. The judge is the ledger of a double that bills like the published
//! price pages, whatever it says was used; the first five are attacks that once came to thirty times the purse.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use testing::billing::{
    Counted, Double, Fault, Habit, HangUp, Part, Prices, Says, Setting, Shown, Tokeniser, Turn, always,
};

use super::{Agency, Answer, UNWATCHED, Up};
use crate::common::Dice;

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
        assert!(billed <= life.calls.spent.as_micros() as u64, "billed {billed}, booked {}", life.calls.spent);
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
fn hangs_up(held: &Held, body: &Value) {
    let body = body.to_string();
    let mut socket = TcpStream::connect(&held.up.address).unwrap();
    let head = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: {}\r\n\r\n{body}",
        held.agency.token,
        body.len()
    );
    socket.write_all(head.as_bytes()).unwrap();
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
            hangs_up(&held, &body);
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

/// One request of whatever shape, in one of the protocols, small or long, with what each of them may have.
fn request(dice: &mut Dice) -> (&'static str, Value) {
    let text = |dice: &mut Dice, most: u64| "word and more ".repeat(dice.roll(most) as usize + 1);
    let most = [16, 200, 900][dice.roll(3) as usize];
    let (system, turns) = (text(dice, 80), dice.roll(4) + 1);
    let mut talk: Vec<Value> = Vec::new();
    for turn in 0..turns {
        let role = if turn % 2 == 0 { "user" } else { "assistant" };
        talk.push(json!({ "role": role, "content": text(dice, 150) }));
    }
    let stream = dice.roll(2) == 0;
    match dice.roll(4) {
        0 => {
            let tools =
                json!([{ "type": "function", "function": { "name": "look", "parameters": { "type": "object" } } }]);
            let mut body = json!({ "model": "m", "stream": stream, "max_tokens": most, "messages": talk });
            if dice.roll(2) == 0 {
                body["tools"] = tools;
            }
            if dice.roll(4) == 0 {
                body["n"] = json!(2);
            }
            (CHAT, body)
        }
        1 => {
            let mut system = json!([{ "type": "text", "text": system.repeat(8) }]);
            match dice.roll(3) {
                0 => system[0]["cache_control"] = json!({ "type": "ephemeral" }),
                1 => system[0]["cache_control"] = json!({ "type": "ephemeral", "ttl": "1h" }),
                _ => {}
            }
            (
                MESSAGES,
                json!({ "model": "m", "stream": stream, "max_tokens": most, "system": system, "messages": talk }),
            )
        }
        2 => (
            RESPONSES,
            json!({ "model": "m", "stream": stream, "max_output_tokens": most, "instructions": system, "input": talk }),
        ),
        _ => ("/g/ada/v1/embeddings", json!({ "model": "m", "input": [system, "short"] })),
    }
}

fn habit(dice: &mut Dice) -> Habit {
    let fault = match dice.roll(12) {
        0 => Some(Fault::CutAt(dice.roll(20))),
        1 => Some(Fault::ErrorAt(dice.roll(20))),
        2 => Some(Fault::Status([429, 500][dice.roll(2) as usize])),
        _ => None,
    };
    let says = [Says::Honest, Says::Honest, Says::Nothing, Says::OnlyAtEnd, Says::Running][dice.roll(5) as usize];
    let counted = [Counted::Inside, Counted::Beside, Counted::OnlyInTotal][dice.roll(3) as usize];
    let hang_up = if dice.roll(2) == 0 { HangUp::Stops } else { HangUp::GoesOn };
    Habit { says, counted, hang_up, fault, ..Habit::HONEST }
}

/// Whatever is asked of whichever provider, with the host killed meanwhile: what was billed is never more than what was given.
#[test]
fn no_bill_passes_what_was_given_whatever_is_asked_and_of_whom() {
    let (purses, requests) = (crate::common::full(10_000, 8), crate::common::full(100, 60));
    let (mut billed_in_all, mut asked, mut refused) = (0, 0, 0);
    for purse in 0..purses {
        let mut dice = Dice(7_100 + purse);
        let given = ["0.02", "0.05", "0.3", "2"][dice.roll(4) as usize];
        let plays = move |number: u64, _: &testing::billing::Asked| {
            let mut dice = Dice(purse * 1_000 + number);
            let turn = match dice.roll(3) {
                0 => Turn::words(dice.roll(300) + 1),
                1 => Turn::thinks(dice.roll(500), Shown::Not).then(Part::Words(dice.roll(40) + 1)),
                _ => Turn::text("Done."),
            };
            (turn, habit(&mut dice))
        };
        let mut setting = Setting::new(Prices::parse(PRICES).unwrap(), Box::new(plays));
        setting.tokeniser = [Tokeniser::O200k, Tokeniser::Quarter, Tokeniser::EachByte][dice.roll(3) as usize];
        let mut held = Held::new(Double::start(setting).unwrap(), given);
        let kill_at = requests / 2 + dice.roll(requests / 2);
        for nth in 0..requests {
            let (path, body) = request(&mut dice);
            let hangs_up_on_it = path == CHAT && body["stream"] == true && dice.roll(4) == 0;
            if hangs_up_on_it {
                hangs_up(&held, &body);
            } else {
                let status = held.call(path, &body).status;
                refused += u64::from(matches!(status, 402 | 429));
            }
            asked += 1;
            if nth == kill_at {
                held.up.kill();
                held.up = held.agency.up();
            }
        }
        billed_in_all += held.double.ledger.billed_in_all();
        held.end();
    }
    println!(
        "counted: {asked} requests over {purses} purses, {refused} refused for money; billed {billed_in_all} micro-dollars in all, never more than was given"
    );
}
