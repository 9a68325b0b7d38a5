//! A provider that speaks both protocols, whole and in streams, and misbehaves by the number of the call. It keeps its own
//! book of what it has done, in its own tokens: four bytes in are one, and a word out is one.

use std::collections::BTreeMap;
use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::{Request, request};

/// Micro-dollars for a token in and out.
pub const PRICE: (u64, u64) = (1, 5);
/// Words of an answer, if the request does not ask for fewer.
pub const WORDS: u64 = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Honest,
    /// Says that it used ten times what it did.
    SaysMore,
    /// Says that it used nothing.
    SaysNothing,
    /// Says nothing about what it used.
    Silent,
    /// Stops in the middle and hangs up.
    Cuts,
    /// Says nothing for so many milliseconds and hangs up.
    Stalls(u64),
    Fails,
    /// One word after the other, so many milliseconds apart.
    Slowly(u64),
    /// Says everything, and leaves the line open for so many milliseconds.
    Lingers(u64),
}

#[derive(Debug, Default)]
struct UpstreamBook {
    calls: u64,
    /// Micro-dollars that what was done is worth.
    worth: u64,
    /// Requests that came, newest last.
    heads: Vec<String>,
    bodies: Vec<Value>,
    /// Names that calls give themselves in `user`, and how often.
    heard: BTreeMap<String, u64>,
    /// Somebody came with a key.
    keyed: bool,
    /// Bytes of the newest answer, as they were sent.
    sent: Vec<u8>,
}

#[derive(Clone)]
pub struct Upstream {
    pub url: String,
    book: Arc<Mutex<UpstreamBook>>,
}

impl Upstream {
    pub fn start(act: impl Fn(u64) -> Act + Send + Sync + 'static) -> Upstream {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (book, number, act) = (Arc::<Mutex<UpstreamBook>>::default(), Arc::new(AtomicU64::new(0)), Arc::new(act));
        let theirs = Arc::clone(&book);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (book, number, act) = (Arc::clone(&theirs), Arc::clone(&number), Arc::clone(&act));
                thread::spawn(move || serve(stream, &book, &number, &*act));
            }
        });
        Upstream { url, book }
    }

    pub fn calls(&self) -> u64 {
        self.book.lock().unwrap().calls
    }

    /// Names that calls gave themselves in `user`, and how often.
    pub fn heard(&self) -> BTreeMap<String, u64> {
        self.book.lock().unwrap().heard.clone()
    }

    pub fn keys_seen(&self) -> bool {
        self.book.lock().unwrap().keyed
    }

    pub fn worth(&self) -> u64 {
        self.book.lock().unwrap().worth
    }

    pub fn last(&self) -> (String, Value) {
        let book = self.book.lock().unwrap();
        (book.heads.last().unwrap().clone(), book.bodies.last().unwrap().clone())
    }

    /// The bytes of its newest answer.
    pub fn sent(&self) -> String {
        String::from_utf8(self.book.lock().unwrap().sent.clone()).unwrap()
    }
}

fn serve(
    mut stream: TcpStream,
    book: &Mutex<UpstreamBook>,
    number: &AtomicU64,
    act: &dyn Fn(u64) -> Act,
) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let Request { head, body: bytes } = request(&mut reader).ok()??;
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let act = act(number.fetch_add(1, Ordering::SeqCst));
        let input = bytes.len() as u64 / 4;
        {
            let mut book = book.lock().unwrap();
            book.calls += 1;
            book.sent.clear();
            if act != Act::Fails {
                book.worth += input * PRICE.0;
            }
            if let Some(user) = body["user"].as_str() {
                *book.heard.entry(user.to_owned()).or_default() += 1;
            }
            book.keyed |= head.to_lowercase().contains("authorization: bearer ");
            book.heads.push(head.clone());
            book.bodies.push(body.clone());
            if book.bodies.len() > 8 {
                book.heads.remove(0);
                book.bodies.remove(0);
            }
        }
        let messages = head.contains("/messages");
        let most = ["max_tokens", "max_completion_tokens"].iter().find_map(|name| body[*name].as_u64());
        let words = most.unwrap_or(WORDS).min(WORDS) * body["n"].as_u64().unwrap_or(1);
        let done = Answering { stream: &mut stream, book, act, messages, input, words }.answer(&body);
        done.filter(|on| *on)?;
    }
}

struct Answering<'a> {
    stream: &'a mut TcpStream,
    book: &'a Mutex<UpstreamBook>,
    act: Act,
    messages: bool,
    input: u64,
    words: u64,
}

impl Answering<'_> {
    fn send(&mut self, bytes: &[u8]) -> Option<()> {
        self.stream.write_all(bytes).ok()
    }

    fn say(&mut self, text: &str) -> Option<()> {
        self.book.lock().unwrap().sent.extend_from_slice(text.as_bytes());
        self.send(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
    }

    fn used(&self, words: u64) -> Value {
        let (input, output) = match self.act {
            Act::SaysMore => (self.input * 10, words * 10 + 1_000),
            Act::SaysNothing => (0, 0),
            Act::Silent => return Value::Null,
            _ => (self.input, words),
        };
        if self.messages {
            json!({ "input_tokens": input, "output_tokens": output })
        } else {
            json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output })
        }
    }

    /// True if the line is of use any more.
    fn answer(&mut self, body: &Value) -> Option<bool> {
        match self.act {
            Act::Stalls(milliseconds) => {
                // It may have done all of it by then.
                if body["stream"] != true {
                    self.book.lock().unwrap().worth += self.words * PRICE.1;
                }
                thread::sleep(Duration::from_millis(milliseconds));
                return Some(false);
            }
            Act::Fails => {
                let body = r#"{"error":{"message":"no"}}"#;
                let length = body.len();
                let head =
                    format!("HTTP/1.1 500 no\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
                self.send(format!("{head}{body}").as_bytes())?;
                return Some(true);
            }
            _ => {}
        }
        if body["stream"] == true { self.stream(body) } else { self.whole(body) }
    }

    fn whole(&mut self, body: &Value) -> Option<bool> {
        self.book.lock().unwrap().worth += self.words * PRICE.1;
        let text = "word ".repeat(self.words as usize);
        let usage = self.used(self.words);
        let answer = if self.messages {
            json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "stop_reason": "end_turn",
                    "stop_sequence": null, "content": [{ "type": "text", "text": text }], "usage": usage })
        } else {
            json!({ "id": "c1", "object": "chat.completion", "created": 1, "model": body["model"], "usage": usage,
                    "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text } }] })
        };
        let answer = self.with_tool(answer, body);
        let text = answer.to_string();
        let length = text.len() + if self.act == Act::Cuts { 99 } else { 0 };
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
        self.send(head.as_bytes())?;
        self.book.lock().unwrap().sent.extend_from_slice(text.as_bytes());
        self.send(text.as_bytes())?;
        Some(self.act != Act::Cuts)
    }

    /// Has the answer use the first tool, if there are tools and the last message is a question.
    fn with_tool(&self, mut answer: Value, body: &Value) -> Value {
        let last = body["messages"].as_array().and_then(|all| all.last()).map(|message| &message["role"]);
        let name =
            [&body["tools"][0]["function"]["name"], &body["tools"][0]["name"]].into_iter().find(|n| n.is_string());
        let (Some(name), Some(true)) = (name, last.map(|role| role == "user")) else { return answer };
        if self.messages {
            answer["content"] =
                json!([{ "type": "tool_use", "id": "toolu_1", "name": name, "input": { "city": "Paris" } }]);
            answer["stop_reason"] = json!("tool_use");
        } else {
            let function = json!({ "name": name, "arguments": "{\"city\":\"Paris\"}" });
            let message = json!({ "role": "assistant", "content": null,
                "tool_calls": [{ "id": "call_1", "type": "function", "function": function }] });
            answer["choices"] = json!([{ "index": 0, "finish_reason": "tool_calls", "message": message }]);
        }
        answer
    }

    fn stream(&mut self, body: &Value) -> Option<bool> {
        self.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
        if self.messages {
            let usage = json!({ "input_tokens": self.input, "output_tokens": 0 });
            let start = json!({ "type": "message_start", "message": { "id": "msg_1", "type": "message", "role": "assistant",
                "model": body["model"], "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage } });
            self.say(&format!("event: message_start\ndata: {start}\n\n"))?;
            let block =
                json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } });
            self.say(&format!("event: content_block_start\ndata: {block}\n\n"))?;
        }
        for word in 0..self.words {
            self.book.lock().unwrap().worth += PRICE.1;
            let event = if self.messages {
                let delta = json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "w " } });
                format!("event: content_block_delta\ndata: {delta}\n\n")
            } else {
                let delta = json!({ "id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body["model"],
                    "choices": [{ "index": 0, "delta": { "content": format!("w{word} ") }, "finish_reason": null }], "usage": null });
                format!("data: {delta}\n\n")
            };
            self.say(&event)?;
            if let Act::Slowly(milliseconds) = self.act {
                thread::sleep(Duration::from_millis(milliseconds));
            }
            if self.act == Act::Cuts && word == self.words / 2 {
                return Some(false);
            }
        }
        let usage = self.used(self.words);
        if self.messages {
            self.say("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n")?;
            let delta = json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": usage });
            self.say(&format!("event: message_delta\ndata: {delta}\n\n"))?;
            self.say("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")?;
        } else {
            if body["stream_options"]["include_usage"] == true && !usage.is_null() {
                let last = json!({ "id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body["model"], "choices": [], "usage": usage });
                self.say(&format!("data: {last}\n\n"))?;
            }
            self.say("data: [DONE]\n\n")?;
        }
        if let Act::Lingers(milliseconds) = self.act {
            thread::sleep(Duration::from_millis(milliseconds));
        }
        self.send(b"0\r\n\r\n")?;
        Some(true)
    }
}
