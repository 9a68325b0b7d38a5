//! A provider of models that misbehaves: it speaks the protocol, and whatever can go wrong with one goes wrong here, by
//! the number of the request. It keeps its own book of what each golem could have been charged.

use std::collections::BTreeMap;
use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Request, request};

/// Micro-dollars for a token in and out.
pub const PRICE: (u64, u64) = (1, 5);

/// The provider's behaviour for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Honest,
    /// Says that it used ten times what it can have used.
    SaysMore,
    /// Says nothing of what it used, or nothing that is a number.
    NoUsage,
    OddUsage,
    /// Answers after so many milliseconds.
    After(u64),
    /// Begins an answer and hangs up.
    Cut,
    /// Reads, and hangs up.
    HangUp,
    Busy,
    BusyFor(u64),
    Fails,
    Garbage,
    /// A body that never ends, a byte at a time.
    Drips,
    /// Ten megabytes of answer.
    Huge,
}

#[derive(Debug, Default)]
struct ProviderBook {
    calls: u64,
    at_once: u64,
    most_at_once: u64,
    by_act: BTreeMap<String, u64>,
    /// Micro-dollars that each golem can have been charged, by its name.
    charged: BTreeMap<String, u64>,
}

pub struct Provider {
    pub url: String,
    book: Arc<Mutex<ProviderBook>>,
}

impl Provider {
    /// One that does this with its nth request and says that, for as long as the process lives.
    pub fn start(
        act: impl Fn(u64) -> Act + Send + Sync + 'static,
        says: impl Fn(&Value) -> String + Send + Sync + 'static,
    ) -> Provider {
        Provider::at("127.0.0.1:0", act, says)
    }

    /// Starts a provider at a given address.
    pub fn at(
        address: &str,
        act: impl Fn(u64) -> Act + Send + Sync + 'static,
        says: impl Fn(&Value) -> String + Send + Sync + 'static,
    ) -> Provider {
        let listener = TcpListener::bind(address).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let book = Arc::<Mutex<ProviderBook>>::default();
        let shared = Arc::new((act, says, Arc::clone(&book), AtomicU64::new(0)));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (act, says, book, number) = &*shared;
                    let _ = serve(stream, book, number, act, says);
                });
            }
        });
        Provider { url, book }
    }

    /// Requests so far, and as many as there were at once.
    pub fn calls(&self) -> (u64, u64) {
        let book = self.book.lock().unwrap();
        (book.calls, book.most_at_once)
    }

    pub fn by_act(&self) -> BTreeMap<String, u64> {
        self.book.lock().unwrap().by_act.clone()
    }

    /// The most this golem can have been charged.
    pub fn charged(&self, name: &str) -> u64 {
        self.book.lock().unwrap().charged.get(name).copied().unwrap_or(0)
    }
}

fn serve(
    mut stream: TcpStream,
    book: &Mutex<ProviderBook>,
    number: &AtomicU64,
    act: &dyn Fn(u64) -> Act,
    says: &dyn Fn(&Value) -> String,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(Request { head, body }) = request(&mut reader)? {
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let act = act(number.fetch_add(1, Ordering::SeqCst));
        {
            let mut book = book.lock().unwrap();
            book.calls += 1;
            book.at_once += 1;
            book.most_at_once = book.most_at_once.max(book.at_once);
            *book.by_act.entry(format!("{act:?}").split('(').next().unwrap().to_owned()).or_default() += 1;
        }
        let (name, usage, worth) = account(&body, act);
        *book.lock().unwrap().charged.entry(name).or_default() += worth;
        let answered = answer(&mut stream, act, &head, usage, &says(&body));
        book.lock().unwrap().at_once -= 1;
        if !answered? {
            return Ok(());
        }
    }
    Ok(())
}

/// The golem that asked, the usage to report, and the most that can have been charged for it.
fn account(body: &Value, act: Act) -> (String, Value, u64) {
    let message = |at: usize| body["messages"][at]["content"].as_str().unwrap_or_default();
    let name = message(0).strip_prefix("You think for ").and_then(|rest| rest.split('.').next()).unwrap_or_default();
    let schema = &body["response_format"]["json_schema"]["schema"];
    let bytes = message(0).len() + message(1).len() + if schema.is_null() { 0 } else { schema.to_string().len() };
    let most_out = body["max_tokens"].as_u64().or_else(|| body["max_completion_tokens"].as_u64()).unwrap_or(0);
    let (input, output) = (bytes as u64 / 4, most_out.min(40));
    let cost = |input: u64, output: u64| input * PRICE.0 + output * PRICE.1;
    let bound = cost(bytes as u64, most_out);
    let said = |input: u64, output: u64| json!({ "prompt_tokens": input, "completion_tokens": output });
    let (usage, worth) = match act {
        Act::Honest | Act::After(_) => (said(input, output), cost(input, output)),
        Act::SaysMore => (said(10 * bytes as u64, 10 * most_out + 10_000), bound),
        Act::OddUsage => (json!({ "prompt_tokens": -5, "completion_tokens": "many" }), bound),
        // A client that was cut off may have been charged for all of it.
        Act::NoUsage | Act::Cut | Act::HangUp | Act::Drips | Act::Huge | Act::Garbage => (Value::Null, bound),
        Act::Busy | Act::BusyFor(_) => (Value::Null, 0),
        Act::Fails => (Value::Null, bound),
    };
    (name.to_owned(), usage, worth)
}

/// Says what there is to say; false if the line is of no more use.
fn answer(stream: &mut TcpStream, act: Act, head: &str, usage: Value, says: &str) -> std::io::Result<bool> {
    let key = head.lines().find_map(|line| line.split_once("Bearer ").map(|(_, key)| key.to_owned()));
    let body = json!({
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": says }, "finish_reason": "stop" }],
        "usage": usage,
    });
    let mut send = |status: &str, headers: &str, body: &str| {
        let length = body.len();
        stream.write_all(format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}").as_bytes())
    };
    // Whatever complains says the key back, as some do.
    let complains = json!({ "error": { "message": format!("no, {}", key.unwrap_or_default()) } }).to_string();
    match act {
        Act::After(milliseconds) => {
            thread::sleep(Duration::from_millis(milliseconds));
            send("200 OK", "", &body.to_string())?;
        }
        Act::Honest | Act::SaysMore | Act::NoUsage | Act::OddUsage => send("200 OK", "", &body.to_string())?,
        Act::Busy => send("429 Too Many Requests", "", &complains)?,
        Act::BusyFor(seconds) => send("429 Too Many Requests", &format!("retry-after: {seconds}\r\n"), &complains)?,
        Act::Fails => send("500 Internal Server Error", "", &complains)?,
        Act::Garbage => send("200 OK", "", "<html>\u{0}\u{1}{{{{ nothing")?,
        Act::Huge => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10000000\r\n\r\n")?;
            let piece = [b'x'; 1 << 16];
            (0..153).try_for_each(|_| stream.write_all(&piece))?;
            return Ok(false);
        }
        Act::Cut => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n{\"choices\": [")?;
            return Ok(false);
        }
        Act::HangUp => return Ok(false),
        Act::Drips => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")?;
            let until = Instant::now() + Duration::from_secs(300);
            while Instant::now() < until {
                stream.write_all(b"1\r\nx\r\n")?;
                thread::sleep(Duration::from_millis(50));
            }
            return Ok(false);
        }
    }
    Ok(true)
}
