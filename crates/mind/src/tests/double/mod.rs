//! The provider that bills is a judge, so it is judged here: every bill against one worked out by hand.

mod bills;
mod caches;
mod cuts;
mod media;
mod names;
mod says;

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use testing::billing::{Double, Habit, Plays, Price, Prices, Rate, Setting, Tokeniser, Turn, always};

/// A dollar and five for a million tokens, so that a token is a micro-dollar in and five out, and ten read are one.
const RATE: Rate =
    Rate { input: 1_000_000, output: 5_000_000, read: 100_000, write_5m: 2_000_000, write_1h: 3_000_000 };

/// One at which every byte is a token.
fn double(plays: Box<Plays>) -> Double {
    with(Price::of(RATE), Tokeniser::EachByte, plays)
}

fn with(price: Price, tokeniser: Tokeniser, plays: Box<Plays>) -> Double {
    let mut setting = Setting::new(Prices::one("*", price), plays);
    setting.tokeniser = tokeniser;
    Double::start(setting).unwrap()
}

fn honest(turn: Turn) -> Double {
    double(always(turn, Habit::HONEST))
}

struct DoubleAnswer {
    status: u16,
    head: String,
    body: String,
    /// The last chunk of a stream has come, or as many bytes as were promised.
    whole: bool,
}

impl DoubleAnswer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {}", self.body))
    }

    /// The events of a stream that are JSON.
    fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }
}

fn send(double: &Double, path: &str, key: &str, body: &Value) -> TcpStream {
    let address = double.url.strip_prefix("http://").unwrap();
    let mut line = TcpStream::connect(address).unwrap();
    let (body, length) = (body.to_string(), body.to_string().len());
    let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {key}\r\n");
    line.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes()).unwrap();
    line
}

fn post_as(double: &Double, path: &str, key: &str, body: &Value) -> DoubleAnswer {
    let mut bytes = Vec::new();
    send(double, path, key, body).read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).map_or(0, |status| status.parse().unwrap());
    let promised = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    let (body, whole) = match promised {
        Some(length) => (body.to_owned(), body.len() == length),
        None => (chunks(body), body.ends_with("0\r\n\r\n")),
    };
    DoubleAnswer { status, head: head.to_owned(), body, whole }
}

fn chunks(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        text += &rest[..size];
        body = rest.get(size + 2..).unwrap_or_default();
    }
    text
}

fn post(double: &Double, path: &str, body: &Value) -> DoubleAnswer {
    post_as(double, path, "ada", body)
}

/// A question of five letters, as each protocol asks it.
fn hello(protocol: &str) -> (String, Value) {
    let messages = json!([{ "role": "user", "content": "hello" }]);
    match protocol {
        "chat" => ("/v1/chat/completions".into(), json!({ "model": "m", "messages": messages })),
        "responses" => ("/v1/responses".into(), json!({ "model": "m", "input": "hello" })),
        "messages" => ("/v1/messages".into(), json!({ "model": "m", "max_tokens": 100, "messages": messages })),
        _ => {
            let body = json!({ "contents": [{ "role": "user", "parts": [{ "text": "hello" }] }] });
            ("/v1beta/models/m:generateContent".into(), body)
        }
    }
}

/// The same, to be answered in a stream.
fn streamed(protocol: &str) -> (String, Value) {
    let (path, mut body) = hello(protocol);
    if protocol == "gemini" {
        return ("/v1beta/models/m:streamGenerateContent?alt=sse".into(), body);
    }
    body["stream"] = json!(true);
    if protocol == "chat" {
        body["stream_options"] = json!({ "include_usage": true });
    }
    (path, body)
}

const SPOKEN: [&str; 4] = ["chat", "responses", "messages", "gemini"];

/// Tokens of that question: five letters, three around them, and three before an answer, which Gemini does not count.
fn asked(protocol: &str) -> u64 {
    if protocol == "gemini" { 8 } else { 11 }
}
