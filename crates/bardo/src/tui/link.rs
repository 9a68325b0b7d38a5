//! The way to a host that is up: its HTTP API, asked from threads of their own, and its streams. Whatever fails is told
//! to the screens and tried again; nothing here ends because a host does.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use golem::plain;
use mind::http;
use reqwest::Method;
use reqwest::blocking::{Client, RequestBuilder, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use shell::locks::lock;
use shell::view::status::Status;

use super::app::Event;
use super::told::{HostNews, HostRequest, OwnerOrder, StreamMessage};

/// How long one answer may take; an order alone may wait five seconds for its golem.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long a stream is read before it is opened again.
const STREAM: Duration = Duration::from_secs(86_400);
/// How long before it is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// Entries of memory fetched at once.
const ENTRIES: usize = 100;

/// Where the host is and how to be let in.
#[derive(Clone, Debug)]
struct Door {
    address: String,
    /// Read again each time: the host that makes it may come later.
    token: PathBuf,
    client: Client,
    known: Arc<Mutex<KnownGolems>>,
}

/// Everyone as the host last told, and how far that goes: it is asked only for those that have changed since.
#[derive(Debug, Default)]
struct KnownGolems {
    run: u64,
    change: u64,
    golems: BTreeMap<String, Status>,
}

/// Why an answer did not come.
enum Failed {
    /// No host answers.
    Away(String),
    /// Somebody is, and says no.
    Refused(String),
}

#[derive(Debug)]
pub(crate) struct Link {
    asks: Sender<HostRequest>,
    door: Door,
    events: Sender<Event>,
    /// Which following is the newest; an older one ends.
    following: Arc<AtomicU64>,
}

impl Link {
    pub(crate) fn open(address: String, token: PathBuf, events: Sender<Event>) -> Result<Link, reqwest::Error> {
        let client = http::blocking().connect_timeout(PATIENCE).timeout(None).no_proxy().tls_certs_only([]).build()?;
        let door = Door { address, token, client, known: Arc::default() };
        let (asks, asked) = channel();
        let (reader, listener, to) = (door.clone(), door.clone(), events.clone());
        let from = events.clone();
        thread::spawn(move || read(&reader, &asked, &to));
        thread::spawn(move || listen(&listener, &from));
        Ok(Link { asks, door, events, following: Arc::default() })
    }

    pub(crate) fn ask(&self, ask: HostRequest) {
        match ask {
            HostRequest::Order(name, order) => self.tell(move |door| door.order(&name, order)),
            HostRequest::OrderAll(order) => self.tell(move |door| door.order_all(order)),
            HostRequest::Question { name, text } => self.tell(move |door| door.question(&name, &text)),
            HostRequest::Succeed { dead, wish } => self.tell(move |door| door.succeed(&dead, &wish)),
            HostRequest::Follow { name, after } => {
                let mine = self.following.fetch_add(1, Ordering::SeqCst) + 1;
                let (door, events, newest) = (self.door.clone(), self.events.clone(), Arc::clone(&self.following));
                thread::spawn(move || follow(&door, &events, &name, after, || newest.load(Ordering::SeqCst) == mine));
            }
            reading => drop(self.asks.send(reading)),
        }
    }

    /// An order may have to wait for its golem; nothing else waits for it.
    fn tell(&self, order: impl FnOnce(&Door) -> Result<HostNews, Failed> + Send + 'static) {
        let (door, events) = (self.door.clone(), self.events.clone());
        thread::spawn(move || {
            let told = match order(&door) {
                Ok(told) => told,
                Err(Failed::Away(why)) => HostNews::Away(why),
                Err(Failed::Refused(why)) => HostNews::Answered(why),
            };
            let _ = events.send(Event::Told(told));
        });
    }
}

/// Answers what was asked, each question once however often it was asked meanwhile.
fn read(door: &Door, asked: &Receiver<HostRequest>, events: &Sender<Event>) {
    while let Ok(first) = asked.recv() {
        let mut asks = vec![first];
        for more in asked.try_iter() {
            // Of what is typed only the newest counts.
            asks.retain(|ask| !matches!((ask, &more), (HostRequest::Memory { .. }, HostRequest::Memory { .. })));
            if !asks.contains(&more) {
                asks.push(more);
            }
        }
        for ask in asks {
            let told = match door.answer(ask) {
                Ok(told) => told,
                Err(Failed::Away(why)) => HostNews::Away(why),
                // One that vanished between two looks; the next list will not have it.
                Err(Failed::Refused(_)) => continue,
            };
            let away = matches!(told, HostNews::Away(_));
            if events.send(Event::Told(told)).is_err() {
                return;
            }
            if away {
                break;
            }
        }
    }
}

impl Door {
    fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, Failed> {
        let token = fs::read_to_string(&self.token).map_err(|_| Failed::Away("nothing has been up here yet".into()))?;
        Ok(self.client.request(method, format!("http://{}{path}", self.address)).bearer_auth(token.trim()))
    }

    fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failed> {
        understood(heard(self.request(Method::GET, path)?.timeout(PATIENCE))?)
    }

    fn golems(&self) -> Result<Vec<Status>, Failed> {
        let mut known = lock(&self.known);
        'all: loop {
            let (asked, mut from, mut newest) = ((known.run, known.change), String::new(), None);
            let golems = loop {
                let path = format!("/v1/golems?run={}&after={}&from={from}", asked.0, asked.1);
                let answer = heard(self.request(Method::GET, &path)?.timeout(PATIENCE))?;
                let text = |name: &str| answer.headers().get(name)?.to_str().ok().map(str::to_owned);
                let figure = |name: &str| text(name)?.parse::<u64>().ok();
                let [run, change] = ["bardo-run", "bardo-change"].map(|name| figure(name).unwrap_or_default());
                let (golems, next) = (figure("bardo-golems").unwrap_or(u64::MAX), text("bardo-next"));
                let changed: Vec<Status> = understood(answer)?;
                if run != known.run {
                    known.golems.clear();
                    // It was started again between two pages.
                    if newest.is_some() {
                        *known = KnownGolems::default();
                        continue 'all;
                    }
                }
                known.run = run;
                // What changed on an earlier page while a later one was read is told next time.
                newest = newest.or(Some(change));
                known.golems.extend(changed.into_iter().map(|status| (status.name.clone(), status)));
                match next {
                    Some(next) => from = next,
                    None => break golems,
                }
            };
            known.change = newest.unwrap_or_default();
            if known.golems.len() as u64 <= golems {
                return Ok(known.golems.values().cloned().collect());
            }
            // Somebody has gone: everyone is asked for once.
            *known = KnownGolems::default();
        }
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value, Failed> {
        let answer = heard(self.request(Method::POST, path)?.timeout(PATIENCE).json(body))?;
        answer.json().map_err(|e| Failed::Away(format!("its answer cannot be read: {e}")))
    }

    fn answer(&self, ask: HostRequest) -> Result<HostNews, Failed> {
        let of = |name: &str, what: &str| format!("/v1/golems/{name}{what}");
        Ok(match ask {
            HostRequest::Golems => HostNews::Golems(self.golems()?),
            HostRequest::One(name) => HostNews::One(name.clone(), self.get(&of(&name, ""))?),
            HostRequest::Memory { name, query } => {
                let query: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
                HostNews::Memory(
                    name.clone(),
                    self.get(&of(&name, &format!("/memory?all=true&limit={ENTRIES}&q={query}")))?,
                )
            }
            HostRequest::Nights(name) => HostNews::Nights(name.clone(), self.get(&of(&name, "/dreams"))?),
            HostRequest::Testament(name) => match self.get(&of(&name, "/testament")) {
                Err(Failed::Refused(_)) => HostNews::Testament(name, None),
                testament => HostNews::Testament(name, Some(testament?)),
            },
            HostRequest::Family(name) => HostNews::Family(name.clone(), self.get(&of(&name, "/lineage"))?),
            HostRequest::Clade => HostNews::Clade(self.get("/v1/clade")?),
            HostRequest::Estate(name) => match self.get(&of(&name, "/estate")) {
                Err(Failed::Refused(why)) => HostNews::Estate(name, Err(why)),
                offer => HostNews::Estate(name, Ok(offer?)),
            },
            HostRequest::Follow { .. }
            | HostRequest::Order(..)
            | HostRequest::OrderAll(_)
            | HostRequest::Succeed { .. }
            | HostRequest::Question { .. } => {
                unreachable!("these go ways of their own")
            }
        })
    }

    fn order(&self, name: &str, order: OwnerOrder) -> Result<HostNews, Failed> {
        let came = self.post(&format!("/v1/golems/{name}/{}", order.verb()), &order.body())?;
        let waits = came["waiting"] == json!(true);
        let words = if waits { "has not answered yet; the order waits and will be obeyed" } else { order.done() };
        Ok(HostNews::Answered(format!("{name} {words}")))
    }

    fn question(&self, name: &str, text: &str) -> Result<HostNews, Failed> {
        self.post(&format!("/v1/golems/{name}/ask"), &json!({ "question": text }))?;
        Ok(HostNews::Answered(format!("{name} is asked; its answer comes among its events")))
    }

    fn order_all(&self, order: OwnerOrder) -> Result<HostNews, Failed> {
        let came = self.post(&format!("/v1/{}", order.verb()), &order.body())?;
        let all = came.as_array().cloned().unwrap_or_default();
        let count = |of: fn(&Value) -> bool| all.iter().filter(|one| of(one)).count();
        let (done, waiting) = (count(|one| one["done"] == json!(true)), count(|one| one["waiting"] == json!(true)));
        let failed = all.len() - done - waiting;
        let words = match order {
            OwnerOrder::Freeze => "frozen",
            OwnerOrder::Pause => "paused",
            _ => "going on",
        };
        let mut text = format!("{done} {words}");
        if waiting > 0 {
            text += &format!(", {waiting} have not answered yet and will obey");
        }
        if failed > 0 {
            text += &format!(", {failed} could not be told: bardo golem list");
        }
        Ok(HostNews::Answered(text))
    }

    fn succeed(&self, dead: &str, wish: &Value) -> Result<HostNews, Failed> {
        let newborn = self.post(&format!("/v1/golems/{dead}/successor"), wish)?;
        Ok(HostNews::Born(newborn["name"].as_str().unwrap_or_default().to_owned()))
    }
}

/// An answer as what it should be.
fn understood<T: DeserializeOwned>(answer: Response) -> Result<T, Failed> {
    let cannot = |why: String| Failed::Away(format!("its answer cannot be read: {why}"));
    let value: Value = answer.json().map_err(|why| cannot(why.to_string()))?;
    serde_json::from_value(plainly(value)).map_err(|why| cannot(why.to_string()))
}

/// Cleans the texts in an answer: whatever they say, a terminal only shows them.
fn plainly(value: Value) -> Value {
    match value {
        Value::String(text) => match plain::text(&text) {
            Cow::Borrowed(_) => Value::String(text),
            Cow::Owned(safe) => Value::String(safe),
        },
        Value::Array(all) => all.into_iter().map(plainly).collect(),
        Value::Object(all) => {
            all.into_iter().map(|(name, value)| (plain::text(&name).into_owned(), plainly(value))).collect()
        }
        other => other,
    }
}

fn heard(request: RequestBuilder) -> Result<Response, Failed> {
    let answer = request.send().map_err(|e| {
        let what = if e.is_timeout() { "it does not answer in time" } else { "no host listens there" };
        Failed::Away(what.to_owned())
    })?;
    if answer.status().is_success() {
        return Ok(answer);
    }
    let status = answer.status();
    let problem: Value = plainly(answer.json().unwrap_or_default());
    let why = problem["error"].as_str().map_or_else(|| status.to_string(), str::to_owned);
    // The host of another home: as good as none.
    let stranger = matches!(status.as_u16(), 401 | 403);
    Err(if stranger { Failed::Away(format!("it refuses our token: {why}")) } else { Failed::Refused(why) })
}

/// The turns of all lives, from what the host remembers on, for ever.
fn listen(door: &Door, events: &Sender<Event>) {
    let mut last = "0".to_owned();
    loop {
        let path = "/v1/events";
        let stopped = stream(door, path, &mut last, |heard| events.send(Event::Told(HostNews::Heard(heard))).is_ok());
        if stopped {
            return;
        }
        thread::sleep(AGAIN);
    }
}

/// Everything that happens to one golem, until another is followed.
fn follow(door: &Door, events: &Sender<Event>, name: &str, after: u64, current: impl Fn() -> bool) {
    let mut last = format!("{after}.0");
    while current() {
        let path = format!("/v1/golems/{name}/events?all=true");
        let stopped = stream(door, &path, &mut last, |heard| {
            let heard = StreamMessage { golem: name.to_owned(), ..heard };
            current() && events.send(Event::Told(HostNews::Followed(heard))).is_ok()
        });
        if stopped {
            return;
        }
        thread::sleep(AGAIN);
    }
}

/// Hands on the events of a stream, and its position; true once the receiver wants no more of them.
fn stream(door: &Door, path: &str, last: &mut String, mut each: impl FnMut(StreamMessage) -> bool) -> bool {
    let Ok(request) = door.request(Method::GET, path) else { return false };
    let Ok(answer) = heard(request.timeout(STREAM).header("Last-Event-ID", last.as_str())) else {
        return false;
    };
    let mut id = String::new();
    for line in BufReader::new(answer).lines() {
        let Ok(line) = line else { return false };
        match line.split_once(": ") {
            Some(("id", value)) => value.clone_into(&mut id),
            Some(("data", value)) => {
                let Ok(heard) = serde_json::from_str(value).map(plainly) else { continue };
                let Ok(heard) = serde_json::from_value::<StreamMessage>(heard) else { continue };
                id.clone_into(last);
                if !each(heard) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}
