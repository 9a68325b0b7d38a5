//! The double itself: a line for each client, a place for each protocol, and one state behind them all.

use std::fs::File;
use std::io::BufReader;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::answer::{Event, ModelAnswer};
use super::asked::{BilledRequest, Ground, Protocol, ProviderProblem};
use super::cache::Caches;
use super::hidden::{Elsewhere, Hidden};
use super::ledger::{BilledEntry, Ledger, RequestEnd};
use super::made::{Made, make, searches};
use super::price::{Extras, Price, Prices, Used};
use super::read::read;
use super::run::{Run, send};
use super::script::{Fault, Habit, Plays, Turn};
use super::tokens::Tokeniser;
use super::write;
use crate::http::{Request, request};

/// Requests that are kept to be looked at.
const HEARD: usize = 64;
/// Numbers for the parts of one answer.
const PARTS: u64 = 1_000;

/// Settings of a double.
pub struct Setting {
    pub address: String,
    pub prices: Prices,
    pub tokeniser: Tokeniser,
    pub elsewhere: Elsewhere,
    /// Tokens of the longest answer, where the request asks for no shorter one.
    pub longest: u64,
    /// A file to which each line of the ledger goes when a request has ended.
    pub ledger: Option<PathBuf>,
    pub plays: Box<Plays>,
}

impl Setting {
    pub fn new(prices: Prices, plays: Box<Plays>) -> Setting {
        let (tokeniser, elsewhere) = (Tokeniser::default(), Elsewhere::default());
        let address = "127.0.0.1:0".to_owned();
        Setting { address, prices, tokeniser, elsewhere, longest: 64_000, ledger: None, plays }
    }
}

#[derive(Default)]
struct ServerState {
    caches: Caches,
    hidden: Hidden,
    asked: u64,
    heard: Vec<(String, Value)>,
}

struct Shared {
    setting: Setting,
    ledger: Ledger,
    state: Mutex<ServerState>,
    /// Seconds by which its clock is ahead.
    ahead: AtomicU64,
}

pub struct Double {
    pub url: String,
    pub ledger: Ledger,
    shared: Arc<Shared>,
}

impl Double {
    /// One that answers for as long as the process lives.
    pub fn start(setting: Setting) -> std::io::Result<Double> {
        let listener = TcpListener::bind(&setting.address)?;
        let url = format!("http://{}", listener.local_addr()?);
        let ledger = Ledger::to(setting.ledger.as_ref().map(File::create).transpose()?);
        let (state, ahead) = (Mutex::default(), AtomicU64::new(0));
        let shared = Arc::new(Shared { setting, ledger: ledger.clone(), state, ahead });
        let theirs = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&theirs);
                thread::spawn(move || shared.listen(stream));
            }
        });
        Ok(Double { url, ledger, shared })
    }

    /// Lets time go by for its caches.
    pub fn later(&self, time: Duration) {
        self.shared.ahead.fetch_add(time.as_secs(), Ordering::SeqCst);
    }

    /// Tokens that go in with this body, as they are billed.
    pub fn counts(&self, protocol: Protocol, model: &str, body: &Value) -> Result<u64, ProviderProblem> {
        let state = self.shared.state.lock().unwrap();
        let Setting { tokeniser, elsewhere, .. } = self.shared.setting;
        let ground = Ground { tokeniser, elsewhere, hidden: &state.hidden, way: protocol.way(), model };
        Ok(read(BilledRequest::new(protocol, model, body), body, &ground)?.input())
    }

    /// The newest requests as they came, heads and bodies, oldest first.
    pub fn heard(&self) -> Vec<(String, Value)> {
        self.shared.state.lock().unwrap().heard.clone()
    }
}

/// Where a request goes.
enum Route {
    /// To a model; Gemini's clients name it and the way it is to answer in the path.
    Model(Protocol, Option<(String, bool)>),
    List(Option<String>),
    Socket,
    /// A client looks whether a server is there.
    Knock,
    Nowhere,
}

impl Route {
    fn of(request: &Request) -> Route {
        let (method, target) = request.line();
        let path = target.split('?').next().unwrap_or_default().trim_end_matches('/');
        let named = path.rsplit_once("/models/").map(|(_, rest)| rest);
        match method {
            "GET" if request.header("upgrade").is_some() => Route::Socket,
            "GET" if path.ends_with("/models") => Route::List(None),
            "GET" => named.map_or(Route::Nowhere, |name| Route::List(Some(name.to_owned()))),
            "POST" => {
                let spoken = [
                    ("/chat/completions", Protocol::Chat),
                    ("/responses", Protocol::Responses),
                    ("/responses/input_tokens", Protocol::CountResponses),
                    ("/embeddings", Protocol::Embeddings),
                    ("/messages", Protocol::Messages),
                    ("/messages/count_tokens", Protocol::CountMessages),
                ];
                let known = spoken.into_iter().find(|(ending, _)| path.ends_with(ending));
                let known = known.map(|(_, protocol)| Route::Model(protocol, None));
                known.or_else(|| Route::gemini(named?)).unwrap_or(Route::Nowhere)
            }
            "HEAD" => Route::Knock,
            _ => Route::Nowhere,
        }
    }

    fn gemini(named: &str) -> Option<Route> {
        let (model, what) = named.rsplit_once(':')?;
        let (protocol, streams) = match what {
            "generateContent" => (Protocol::Gemini, false),
            "streamGenerateContent" => (Protocol::Gemini, true),
            "countTokens" => (Protocol::CountGemini, false),
            _ => return None,
        };
        Some(Route::Model(protocol, Some((model.to_owned(), streams))))
    }
}

/// The owner of a request, by a key in one of the places where each protocol has it.
fn key(request: &Request) -> String {
    let bearer = request.header("authorization").map(|value| value.trim_start_matches("Bearer ").trim());
    let plain = ["x-api-key", "x-goog-api-key"].into_iter().find_map(|name| request.header(name));
    let target = request.line().1;
    let asked = target.split(['?', '&']).find_map(|part| part.strip_prefix("key="));
    bearer.or(plain).or(asked).unwrap_or_default().to_owned()
}

/// A line of the ledger in which nothing has happened yet.
fn entry(request: &Request, body: &Value, model: String) -> BilledEntry {
    let user = [&body["user"], &body["metadata"]["user_id"]].into_iter().find_map(Value::as_str);
    BilledEntry {
        number: 0,
        key: key(request),
        path: request.line().1.to_owned(),
        model,
        user: user.unwrap_or_default().to_owned(),
        betas: request.header("anthropic-beta").unwrap_or_default().to_owned(),
        status: 200,
        used: Used::default(),
        extras: Extras::default(),
        bill: 0,
        said: Value::Null,
        why: String::new(),
        ended: RequestEnd::Failed,
    }
}

/// The plan of an answer, worked out before the first token is made.
struct AnswerPlan {
    made: Made,
    used: Used,
    extras: Extras,
    searches: u64,
    longest: u64,
}

impl Shared {
    fn listen(&self, mut stream: TcpStream) -> Option<()> {
        stream.set_nodelay(true).ok()?;
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        loop {
            let request = request(&mut reader).ok()??;
            match Route::of(&request) {
                Route::Model(protocol, named) => self.ask(&mut stream, &request, protocol, named)?,
                Route::List(name) => send(&mut stream, 200, "", &self.models(name.as_deref()).to_string())?,
                Route::Socket => send(&mut stream, 426, "", "{\"error\":{\"message\":\"no sockets here\"}}")?,
                Route::Knock => send(&mut stream, 200, "", "")?,
                Route::Nowhere => {
                    let nowhere = ProviderProblem { status: 404, message: "there is nothing here".to_owned() };
                    send(&mut stream, 404, "", &write::problem(Protocol::Chat, &nowhere).to_string())?;
                }
            }
            if request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
                return None;
            }
        }
    }

    fn now(&self) -> u64 {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        now.as_secs() + self.ahead.load(Ordering::SeqCst)
    }

    /// The models by name, in the words of all three at once.
    fn models(&self, only: Option<&str>) -> Value {
        let model = |name: &str| {
            json!({ "id": name, "object": "model", "created": 1, "owned_by": "double", "type": "model",
                "display_name": name, "created_at": "2026-01-01T00:00:00Z", "name": format!("models/{name}"),
                "supportedGenerationMethods": ["generateContent", "countTokens"] })
        };
        if let Some(name) = only {
            return model(name);
        }
        let all: Vec<Value> = self.setting.prices.names().filter(|name| !name.ends_with('*')).map(model).collect();
        json!({ "object": "list", "data": all, "models": all, "has_more": false, "first_id": null, "last_id": null })
    }

    fn ask(
        &self,
        stream: &mut TcpStream,
        request: &Request,
        protocol: Protocol,
        named: Option<(String, bool)>,
    ) -> Option<()> {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let (model, streams) = match named {
            Some((model, streams)) => (model, streams),
            None => (body["model"].as_str().unwrap_or_default().to_owned(), body["stream"] == true),
        };
        let mut entry = entry(request, &body, model);
        let (mut asked, price, number) = match self.understand(request, &entry.model, protocol, &body) {
            Ok(understood) => understood,
            Err(problem) => return self.refuse(stream, entry, protocol, &problem),
        };
        asked.stream = streams && protocol != Protocol::Embeddings;
        let (turn, habit) = (self.setting.plays)(number, &asked);
        entry.why = habit.to_string();
        if let Some(Fault::Status(status)) = habit.fault {
            let message = "the provider does not answer now".to_owned();
            return self.refuse(stream, entry, protocol, &ProviderProblem { status, message });
        }
        let plan = self.plan(&asked, (price, number), &entry.key, (&turn, habit));
        let AnswerPlan { made, used, searches, .. } = &plan;
        let (searches, counts_writes, now) = (*searches, price.counts_writes, self.now());
        let answer = ModelAnswer { asked: &asked, made, used: *used, searches, counts_writes, habit, now };
        (entry.extras, entry.ended) = (plan.extras, RequestEnd::UnderWay);
        entry.said = answer.usage().unwrap_or_default();
        let mut run = Run {
            stream,
            ledger: &self.ledger,
            number: self.ledger.begin(entry),
            price,
            used: plan.used,
            longest: plan.longest,
            habit,
            made: 0,
            began: None,
        };
        run.begin()?;
        if let Some(Fault::Lost(status)) = habit.fault {
            let message = "something went wrong in the end".to_owned();
            return run.lost(status, &write::problem(protocol, &ProviderProblem { status, message }));
        }
        if !asked.stream {
            return run.whole(&write::whole(&answer));
        }
        let (events, error) = (write::events(&answer), write::error(protocol));
        if protocol == Protocol::Gemini && !request.line().1.contains("alt=sse") {
            return run.events(&as_list(events), "application/json", &error);
        }
        run.events(&events, "text/event-stream; charset=utf-8", &error)
    }

    /// Reads a request; with what its model costs, and its number.
    fn understand(
        &self,
        request: &Request,
        model: &str,
        protocol: Protocol,
        body: &Value,
    ) -> Result<(BilledRequest, Price, u64), ProviderProblem> {
        let mut state = self.state.lock().unwrap();
        if state.heard.len() == HEARD {
            state.heard.remove(0);
        }
        state.heard.push((request.head.clone(), body.clone()));
        let unknown = || ProviderProblem { status: 404, message: format!("model: {model}") };
        let price = dearest(&self.setting.prices, model, body).ok_or_else(unknown)?;
        let Setting { tokeniser, elsewhere, .. } = self.setting;
        let ground = Ground { tokeniser, elsewhere, hidden: &state.hidden, way: protocol.way(), model };
        let asked = read(BilledRequest::new(protocol, model, body), body, &ground)?;
        let number = state.asked;
        state.asked += 1;
        Ok((asked, price, number))
    }

    /// Works out what the answer will be, and keeps what it leaves behind.
    fn plan(
        &self,
        asked: &BilledRequest,
        (price, number): (Price, u64),
        key: &str,
        (turn, habit): (&Turn, Habit),
    ) -> AnswerPlan {
        let mut state = self.state.lock().unwrap();
        let Setting { tokeniser, elsewhere, longest, .. } = self.setting;
        let silent = asked.protocol.counts() || asked.protocol == Protocol::Embeddings;
        let most = if silent { 0 } else { asked.most.unwrap_or(longest).min(longest) };
        let length = ((number + 1) * PARTS, most, habit.thinks_past_most);
        let empty = Turn::default();
        let made = make(if silent { &empty } else { turn }, asked, length, tokeniser, &mut state.hidden);
        let whose = (key.to_owned(), asked.model.clone());
        let mut used = match asked.protocol {
            protocol if protocol.counts() => Used::default(),
            Protocol::Embeddings => Used { input: asked.input(), ..Used::default() },
            Protocol::Messages => state.caches.by_marks(&whose, &asked.pieces, self.now()),
            _ => {
                let how = (tokeniser, price.counts_writes);
                state.caches.by_itself(&whose, &asked.pieces, self.now(), how)
            }
        };
        let searches = if silent { 0 } else { searches(turn, asked) };
        used.input += searches * elsewhere.search;
        (used.said, used.reasoned) = (made.said * asked.answers + asked.lost, made.reasoned * asked.answers);
        let mut extras = asked.extras;
        extras.fees += searches * elsewhere.search_fee;
        if asked.protocol == Protocol::Responses {
            leave(&mut state.hidden, asked, &made, used);
        }
        AnswerPlan { made, used, extras, searches, longest: most * asked.answers }
    }

    fn refuse(
        &self,
        stream: &mut TcpStream,
        entry: BilledEntry,
        protocol: Protocol,
        problem: &ProviderProblem,
    ) -> Option<()> {
        let why = if entry.why.is_empty() { problem.message.clone() } else { entry.why.clone() };
        self.ledger.begin(BilledEntry { status: problem.status, why, ended: RequestEnd::Failed, ..entry });
        let again = if problem.status == 429 { "retry-after: 1\r\n" } else { "" };
        send(stream, problem.status, again, &write::problem(protocol, problem).to_string())
    }
}

/// Where a request allows several models, the dearest of them answers.
fn dearest(prices: &Prices, model: &str, body: &Value) -> Option<Price> {
    let others = body["models"].as_array().into_iter().flatten().filter_map(Value::as_str);
    others.chain([model]).filter_map(|name| prices.find(name)).max_by_key(|price| price.rate.input + price.rate.output)
}

/// Keeps the names that later requests may use: the response, its items, its conversation.
fn leave(hidden: &mut Hidden, asked: &BilledRequest, made: &Made, used: Used) {
    let all = used.all_input() + used.output();
    if asked.body["store"] != false {
        hidden.keep(&write::response_id(made.number), all);
        for (at, block) in made.blocks.iter().enumerate() {
            hidden.keep(&write::item_id(made.number + at as u64, block), block.tokens());
        }
    }
    let conversation = &asked.body["conversation"];
    if let Some(name) = conversation.as_str().or_else(|| conversation["id"].as_str()) {
        hidden.keep(name, all);
    }
}

/// A stream for those who did not ask for events: one list, whose members come one by one.
fn as_list(events: Vec<Event>) -> Vec<Event> {
    let last = events.len().saturating_sub(1);
    let members = events.into_iter().enumerate().map(|(at, event)| {
        let member = event.text.trim().trim_start_matches("data: ");
        let (before, after) = (if at == 0 { "[" } else { "" }, if at == last { "]" } else { ",\r\n" });
        // Only tokens pass where a thought is not shown.
        let after = if member.is_empty() { "" } else { after };
        let text = format!("{before}{member}{after}");
        Event { text, made: event.made }
    });
    members.collect()
}
