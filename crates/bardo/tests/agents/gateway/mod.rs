//! Agents that call models at a golem's expense: what a call can cost is set aside before it is made, whatever the provider,
//! the agent or the machine does afterwards.

mod beside;
mod bills;
mod clients;
mod doors;
mod hostile;
mod left;
mod listed;
mod pace;
mod purses;
mod refusals;
mod renamed;
mod requests;
mod sessions;
mod spending;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::Tent;
use golem::{Life, Usdc};
use serde_json::{Value, json};
use testing::upstream::{Act, Upstream, WORDS};
use testing::wait::{found, within};

/// A home whose agents may call the model `m` at this provider, and a golem with so much to live on.
struct Agency {
    tent: Tent,
    token: String,
}

/// For who calls the same again and again on purpose.
const UNWATCHED: [&str; 4] =
    ["policy.calls_alike=0", "policy.calls_fan=0", "policy.calls_leap=0", "policy.calls_at_once=256"];

/// What came back.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {}", self.body))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }
}

impl Agency {
    fn new(upstream: &Upstream, credit: &str, set: &[&str]) -> Agency {
        Agency::at(&upstream.url, credit, set)
    }

    fn at(url: &str, credit: &str, set: &[&str]) -> Agency {
        let model = format!("{url}/v1/m");
        let config =
            format!("[models]\nprices = \"{model}=1/5\"\n[gateway]\nmodels = \"m={model}, dear={model}:strong\"\n");
        Agency::with(&config, credit, set)
    }

    /// With these settings of its home.
    fn with(config: &str, credit: &str, set: &[&str]) -> Agency {
        let mut agency = Agency::of(config);
        agency.token = agency.born("ada", credit, set);
        agency
    }

    /// A home with these settings and nobody in it.
    fn of(config: &str) -> Agency {
        let tent = Tent::new();
        fs::write(tent.root().join("bardo.toml"), config).unwrap();
        Agency { tent, token: String::new() }
    }

    /// A golem with so much to live on, and the token of its agent.
    fn born(&self, name: &str, credit: &str, set: &[&str]) -> String {
        let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
        let new = ["golem", "new", name, "--world", "checks", "--credit", credit, "--interval", "1s"];
        self.tent.ok([&new[..], &["--set", "world.bar=1s"], &set].concat());
        let shown: Value = serde_json::from_str(&self.tent.ok(["golem", "connect", name, "--json"])).unwrap();
        shown["token"].as_str().unwrap().to_owned()
    }

    fn up(&self) -> Up {
        self.up_with(&[])
    }

    fn up_with(&self, environment: &[(&str, &str)]) -> Up {
        let mut command = self.comes_up();
        command.envs(environment.iter().copied());
        self.up_by(command)
    }

    fn comes_up(&self) -> Command {
        self.tent.command(["up", "--listen", "127.0.0.1:0", "--gateway", "127.0.0.1:0"])
    }

    fn up_by(&self, mut command: Command) -> Up {
        let _ = fs::remove_file(self.tent.root().join("gateway"));
        let log = fs::File::create(self.tent.folder.path().join("log")).unwrap();
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let written = self.tent.root().join("gateway");
        let late = || "no gateway came up".to_owned();
        let address = found(Duration::from_secs(30), late, || fs::read_to_string(&written).ok());
        Up { child, address }
    }

    fn life(&self) -> Life {
        self.life_of("ada")
    }

    fn life_of(&self, name: &str) -> Life {
        self.tent.golem(name).wake().unwrap().0.life().clone()
    }

    /// Life once every call is settled.
    fn settled(&self) -> Life {
        self.settled_of("ada")
    }

    fn settled_of(&self, name: &str) -> Life {
        let open = || format!("{:?}", self.life_of(name).calls());
        found(Duration::from_secs(20), open, || Some(self.life_of(name)).filter(|life| life.calls().open.is_empty()))
    }
}

struct Up {
    child: Child,
    address: String,
}

impl Up {
    fn post(&self, path: &str, token: &str, headers: &str, body: &str) -> Answer {
        post(&self.address, path, token, headers, body)
    }

    fn chat(&self, agency: &Agency, body: &Value) -> Answer {
        self.post("/g/ada/v1/chat/completions", &agency.token, "", &body.to_string())
    }

    fn stop(mut self) {
        let kill = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        self.child.wait().unwrap();
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn post(address: &str, path: &str, token: &str, headers: &str, body: &str) -> Answer {
    send("POST", address, path, token, headers, body)
}

fn send(method: &str, address: &str, path: &str, token: &str, headers: &str, body: &str) -> Answer {
    let Ok(mut socket) = TcpStream::connect(address) else {
        return Answer { status: 0, head: String::new(), body: String::new() };
    };
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n{headers}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let _ = socket.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let body =
        if head.to_lowercase().contains("transfer-encoding: chunked") { unchunked(body) } else { body.to_owned() };
    Answer { status, head: head.to_owned(), body }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size, 16) else { break };
        if size == 0 || rest.len() < size {
            break;
        }
        whole += &rest[..size];
        body = rest[size..].trim_start_matches("\r\n");
    }
    whole
}

fn hello() -> Value {
    json!({ "model": "m", "messages": [{ "role": "user", "content": "hello" }] })
}

fn streamed() -> Value {
    json!({ "model": "m", "stream": true, "messages": [{ "role": "user", "content": "hello" }] })
}

#[test]
fn a_call_is_passed_on_paid_for_and_on_record() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "1", &[]);
    let up = agency.up();
    let answer = up.chat(&agency, &hello());
    assert_eq!((answer.status, answer.body.as_str()), (200, upstream.sent().as_str()), "as it was sent");
    assert_eq!(answer.header("x-bardo-phase"), Some("stable"));
    let (head, body) = upstream.last();
    assert_eq!((&body["model"], &body["max_tokens"]), (&json!("m"), &json!(8_192)));
    assert!(head.contains("/v1/chat/completions") && !head.contains(&agency.token), "{head}");
    let life = agency.settled();
    assert_eq!(life.calls().spent, Usdc::micros(upstream.worth() as i64), "to the micro-dollar");
    assert_eq!((life.calls().models[0].calls, life.calls().models[0].output), (1, WORDS));
    let short = up.chat(&agency, &json!({ "model": "m", "max_tokens": 3, "messages": [] }));
    assert_eq!(short.json()["usage"]["completion_tokens"], 3);
    up.stop();
    agency.tent.verified("ada");
    let told = agency.tent.ok(["golem", "events", "ada", "--all"]);
    assert!(told.contains("tokens in, 40 out"), "{told}");
}

#[test]
fn streams_arrive_as_they_were_sent_and_are_paid_for() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "1", &[]);
    let up = agency.up();
    let mut asks = streamed();
    asks["stream_options"] = json!({ "include_usage": true });
    let told = up.chat(&agency, &asks);
    assert_eq!(told.body, upstream.sent(), "byte for byte");
    assert_eq!(told.header("content-type"), Some("text/event-stream"));
    let untold = up.chat(&agency, &streamed());
    let without = upstream.sent();
    let without: String = without.split_inclusive("\n\n").filter(|event| !event.contains("prompt_tokens")).collect();
    assert_eq!(untold.body, without, "but for a word that was asked for on the way");
    let messages = json!({ "model": "m", "stream": true, "max_tokens": 9, "messages": [] });
    let answer =
        up.post("/g/ada/v1/messages", &agency.token, "anthropic-version: 2023-06-01\r\n", &messages.to_string());
    assert_eq!((answer.status, answer.body), (200, upstream.sent()));
    assert!(upstream.last().0.to_lowercase().contains("anthropic-version: 2023-06-01"));
    assert_eq!(agency.settled().calls().spent, Usdc::micros(upstream.worth() as i64));
    up.stop();
}

#[test]
fn what_is_not_let_through_is_refused_in_the_shape_of_its_protocol() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "0.03", &[]);
    let up = agency.up();
    let code = |answer: &Answer| answer.json()["error"]["code"].as_str().unwrap().to_owned();
    // Nobody is told whether there is such a golem.
    agency.tent.ok(["golem", "new", "bob", "--world", "checks"]);
    let bobs: Value = serde_json::from_str(&agency.tent.ok(["golem", "connect", "bob", "--json"])).unwrap();
    let bobs = bobs["token"].as_str().unwrap().to_owned();
    let local = fs::read_to_string(agency.tent.home().token()).unwrap();
    for (name, token) in
        [("ada", "wrong"), ("ada", ""), ("ada", &bobs), ("ada", &local), ("eve", "x"), ("..%2fada", "x")]
    {
        let answer = up.post(&format!("/g/{name}/v1/chat/completions"), token, "", &hello().to_string());
        assert!(answer.status == 401 || answer.status == 404, "{name} {}", answer.status);
        assert_eq!(answer.body.matches("connect NAME").count(), usize::from(answer.status == 401), "{}", answer.body);
    }
    let unknown = up.chat(&agency, &json!({ "model": "gpt-5", "messages": [] }));
    assert_eq!((unknown.status, code(&unknown)), (404, "model".to_owned()));
    let dear = up.chat(&agency, &json!({ "model": "dear", "messages": [] }));
    assert_eq!((dear.status, code(&dear)), (403, "phase".to_owned()));
    let long = json!({ "model": "m", "messages": [{ "role": "user", "content": "x".repeat(23_000) }] });
    let broke = up.chat(&agency, &long);
    assert_eq!((broke.status, code(&broke), broke.header("x-should-retry")), (402, "budget".to_owned(), Some("false")));
    assert!(broke.body.contains("it may cost $0.04") && broke.body.contains("is free"), "{}", broke.body);
    let messages = up.post("/g/ada/v1/messages", &agency.token, "", &long.to_string()).json();
    assert_eq!((&messages["type"], &messages["error"]["type"]), (&json!("error"), &json!("billing_error")));
    assert_eq!(upstream.calls(), 0, "nobody was asked");
    agency.tent.ok(["golem", "freeze", "ada"]);
    let frozen = up.chat(&agency, &hello());
    assert_eq!((frozen.status, code(&frozen)), (403, "frozen".to_owned()));
    agency.tent.ok(["golem", "resume", "ada"]);
    assert_eq!(up.chat(&agency, &hello()).status, 200);
    agency.tent.ok(["golem", "retire", "ada", "--reason", "enough", "--confirm", "ada"]);
    let dead = up.chat(&agency, &hello());
    assert_eq!((dead.status, code(&dead)), (410, "dead".to_owned()));
    assert!(dead.json()["error"]["message"].as_str().unwrap().starts_with("dead: "), "{}", dead.body);
    up.stop();
}

/// Codex tries a WebSocket first, and tried it seven times when it was told that there is nothing.
#[test]
fn who_asks_for_a_websocket_is_told_at_once_to_do_without() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "1", &[]);
    let up = agency.up();
    let upgrade = "upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let asks = |path: &str, token: &str| send("GET", &up.address, path, token, upgrade, "");
    let told = asks("/g/ada/v1/responses", &agency.token);
    assert_eq!((told.status, told.header("x-bardo-refused")), (426, Some("websocket")), "{}", told.body);
    let words = told.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(words.contains("POST") && words.contains("supports_websockets=false"), "{words}");
    assert_eq!(asks("/g/ada/v1/responses", "wrong").status, 401);
    assert_eq!(asks("/g/ada/v1/chat/completions", &agency.token).status, 404);
    assert_eq!((upstream.calls(), agency.life().calls().made), (0, 0));
    up.stop();
}

#[test]
fn a_provider_that_fails_hangs_up_or_says_nothing_is_paid_no_more_than_was_set_aside() {
    let acts = [Act::SaysNothing, Act::Silent, Act::Cuts, Act::Fails, Act::Stalls(200), Act::Honest];
    let upstream = Upstream::start(move |n| acts[n as usize % acts.len()]);
    let agency = Agency::new(&upstream, "1", &UNWATCHED);
    let up = agency.up();
    let mut before = 0;
    for (nth, act) in acts.iter().chain(&acts).enumerate() {
        let body = if nth < acts.len() { hello() } else { streamed() };
        let answer = up.chat(&agency, &body);
        let (spent, worth) = (agency.settled().calls().spent.as_micros() as u64, upstream.worth());
        let (paid, done) = (spent - before, worth);
        match act {
            Act::Fails => assert_eq!((paid, answer.status), (0, 500)),
            Act::Stalls(_) | Act::Cuts => assert!(paid > 0, "{act:?}"),
            // No call is made of nothing, so that is no count of it.
            Act::SaysNothing => assert!(paid > 0 && answer.status == 200, "{paid} {}", answer.body),
            _ => assert_eq!(answer.status, 200, "{act:?}: {}", answer.body),
        }
        assert!(done > 0);
        before = spent;
    }
    up.stop();
    agency.tent.verified("ada");
}

/// A bill above all that a call could cost is paid as far as the money goes, once: then calls are stopped, the owner is asked,
/// and after a yes that model is refused by its name until a line is taken out of a file.
#[test]
fn a_provider_that_bills_above_the_bound_is_paid_once_and_met_by_name() {
    let upstream = Upstream::start(|_| Act::SaysMore);
    let agency = Agency::new(&upstream, "1", &UNWATCHED);
    let up = agency.up();
    let short = json!({ "model": "m", "max_tokens": 3, "messages": [{ "role": "user", "content": "hello" }] });
    let first = up.chat(&agency, &short);
    assert_eq!(first.status, 200, "its answer is there");
    let told = first.json()["usage"].clone();
    let billed = told["prompt_tokens"].as_i64().unwrap() + 5 * told["completion_tokens"].as_i64().unwrap();
    let life = agency.settled();
    assert_eq!(life.calls().spent, Usdc::micros(billed), "what was billed is what is booked");
    let stopped = up.chat(&agency, &short);
    assert_eq!((stopped.status, stopped.header("x-bardo-refused")), (403, Some("billed")), "{}", stopped.body);
    let other = json!({ "model": "dear", "max_tokens": 3, "messages": [] });
    assert_eq!(up.chat(&agency, &other).status, 403);
    let shown = agency.tent.ok(["golem", "show", "ada"]);
    assert!(shown.contains("above the most that it could cost"), "{shown}");
    let asks: Value = serde_json::from_str(&agency.tent.ok(["golem", "approve", "ada", "--json"])).unwrap();
    agency.tent.ok(["golem", "approve", "ada", &asks["key"].to_string()]);
    let refused = up.chat(&agency, &short);
    assert_eq!(refused.header("x-bardo-refused"), Some("billed"), "{}", refused.body);
    assert_eq!(upstream.calls(), 1, "over at most once");
    up.stop();
    agency.tent.verified("ada");
}

/// Money that is only set aside comes back: whoever lacks it waits for its turn and is not sent home.
#[test]
fn forty_at_once_that_could_each_take_the_whole_purse_are_all_answered() {
    let upstream = Upstream::start(|_| Act::Slowly(2));
    let agency = Agency::new(&upstream, "0.05", &UNWATCHED);
    let up = agency.up();
    let threads: Vec<_> = (0..40)
        .map(|_| {
            let (address, token) = (up.address.clone(), agency.token.clone());
            std::thread::spawn(move || {
                post(&address, "/g/ada/v1/chat/completions", &token, "", &hello().to_string()).status
            })
        })
        .collect();
    let statuses: Vec<u16> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    assert_eq!(agency.settled().calls().spent, Usdc::micros(upstream.worth() as i64));
    up.stop();
}

/// A field that nobody here has heard of is let through while it is small, and by three bills it is known.
#[test]
fn a_new_field_is_tried_one_call_at_a_time_and_then_known() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "1", &UNWATCHED);
    let up = agency.up();
    let with = |value: Value| json!({ "model": "m", "max_tokens": 3, "messages": [], "sparkle": value });
    for _ in 0..3 {
        assert_eq!(up.chat(&agency, &with(json!("high"))).status, 200);
    }
    assert_eq!(upstream.last().1["sparkle"], "high", "as it was sent");
    let known = fs::read_to_string(agency.tent.root().join("gateway-fields")).unwrap();
    // By what it says, too: another number may be another price.
    assert_eq!(known, "known chat/completions sparkle=\"high\"\n");
    for wrong in [json!("x".repeat(300)), json!({ "file_id": "f-1" }), json!("https://example.com/a.pdf")] {
        let refused = up.chat(&agency, &with(wrong));
        assert_eq!(refused.status, 400, "{}", refused.body);
    }
    assert_eq!(upstream.calls(), 3);
    up.stop();
}

/// A client that has asked for an answer in pieces and may hang up on it.
fn listening(up: &Up, agency: &Agency) -> TcpStream {
    let body = streamed().to_string();
    let mut socket = TcpStream::connect(&up.address).unwrap();
    let request = format!(
        "POST /g/ada/v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\ncontent-length: {}\r\n\r\n{body}",
        agency.token,
        body.len()
    );
    socket.write_all(request.as_bytes()).unwrap();
    socket
}

#[test]
fn who_hangs_up_pays_what_its_provider_bills_and_frees_its_place_then() {
    let upstream = Upstream::start(|_| Act::Slowly(50));
    let agency = Agency::new(&upstream, "1", &["policy.calls_at_once=1"]);
    let up = agency.up();
    let mut socket = listening(&up, &agency);
    let mut some = [0; 2_000];
    assert!(socket.read(&mut some).unwrap() > 0);
    let busy = up.chat(&agency, &hello());
    assert_eq!((busy.status, busy.header("retry-after")), (429, Some("1")));
    drop(socket);
    let life = agency.settled();
    assert_eq!(
        (life.calls().spent, life.calls().cut),
        (Usdc::micros(upstream.worth() as i64), 0),
        "{:?}",
        life.calls()
    );
    assert_eq!(up.chat(&agency, &hello()).status, 200, "its place is free again");
    up.stop();
}

/// A client that has heard the last event need not wait for the line to be closed: it has cut nothing off.
#[test]
fn who_hangs_up_when_all_is_said_pays_what_it_used() {
    let upstream = Upstream::start(|_| Act::Lingers(3_000));
    let agency = Agency::new(&upstream, "1", &[]);
    let up = agency.up();
    let mut socket = listening(&up, &agency);
    let mut heard = Vec::new();
    while !String::from_utf8_lossy(&heard).contains("[DONE]") {
        let mut some = [0; 2_000];
        let read = socket.read(&mut some).unwrap();
        assert!(read > 0, "it ends before it has said so");
        heard.extend_from_slice(&some[..read]);
    }
    drop(socket);
    let life = agency.settled();
    assert_eq!(
        (life.calls().spent, life.calls().cut),
        (Usdc::micros(upstream.worth() as i64), 0),
        "{:?}",
        life.calls()
    );
    up.stop();
}

#[test]
fn a_call_repeated_with_its_key_is_paid_once_even_after_a_kill() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "1", &[]);
    let up = agency.up();
    let call = |up: &Up, key: &str| {
        let headers = format!("idempotency-key: {key}\r\n");
        up.post("/g/ada/v1/chat/completions", &agency.token, &headers, &hello().to_string()).status
    };
    assert_eq!((call(&up, "one"), call(&up, "one"), call(&up, "two")), (200, 422, 200));
    up.kill();
    let up = agency.up();
    assert_eq!((call(&up, "one"), upstream.calls()), (422, 2));
    up.stop();
}

/// Whoever goes round and round is stopped, its owner is told and asked, and only a yes lets it go on, whoever was killed
/// meanwhile.
#[test]
fn a_loop_is_stopped_and_its_owner_is_asked() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "1", &[]);
    let config = agency.tent.root().join("bardo.toml");
    let told = agency.tent.root().join("told");
    let command = format!("[notify]\ncommand = \"cat >> {}\"\n", told.display());
    fs::write(&config, fs::read_to_string(&config).unwrap() + &command).unwrap();
    let up = agency.up();
    let mut answers: Vec<Answer> = (0..12).map(|_| up.chat(&agency, &hello())).collect();
    let passed = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!((passed, upstream.calls()), (8, 8));
    let last = answers.pop().unwrap();
    assert_eq!((last.status, last.header("x-bardo-refused")), (403, Some("held")));
    assert!(last.body.contains("until its owner says yes"), "{}", last.body);
    // Anything else is stopped too, and a killed host does not forget.
    let other = json!({ "model": "m", "messages": [{ "role": "user", "content": "another" }] });
    assert_eq!(up.chat(&agency, &other).status, 403);
    within(
        Duration::from_secs(20),
        || "its owner was not told".to_owned(),
        || fs::read_to_string(&told).unwrap_or_default().contains("may it go on calling"),
    );
    up.kill();
    let up = agency.up();
    assert_eq!(up.chat(&agency, &other).status, 403);
    let shown = agency.tent.ok(["golem", "show", "ada"]);
    assert!(shown.contains("its calls are stopped after the same call 9 times within two minutes"), "{shown}");
    let asks: Value = serde_json::from_str(&agency.tent.ok(["golem", "approve", "ada", "--json"])).unwrap();
    let key = asks["key"].to_string();
    agency.tent.ok(["golem", "approve", "ada", &key, "--deny"]);
    assert_eq!(up.chat(&agency, &other).status, 403, "a no leaves it as it is");
    agency.tent.ok(["golem", "approve", "ada", &key]);
    assert_eq!(up.chat(&agency, &other).status, 200);
    up.stop();
    let life = agency.tent.verified("ada").life().clone();
    assert!(life.calls().denied >= 1 && life.calls().hold.is_none());
}

/// The cap holds: many at once, streaming and not, at a provider that stalls, cuts and lies, with the host killed again and
/// again. What the provider has done for the golem is never worth more than it was given.
#[test]
fn no_more_than_was_given_is_ever_spent_whoever_is_killed() {
    let (calls, kills) = (crate::common::full(1_000, 120), crate::common::full(500, 6));
    let acts = [Act::Honest, Act::Honest, Act::Silent, Act::Cuts, Act::Stalls(300), Act::Honest, Act::Slowly(5)];
    let upstream = Upstream::start(move |n| acts[n as usize % acts.len()]);
    let agency = Agency::new(&upstream, "1", &UNWATCHED);
    let (mut answered, mut refused, mut lost) = (0_u64, 0_u64, 0_u64);
    let per_round = (calls / 4).max(calls / kills).min(250);
    for round in 0..=kills {
        let up = agency.up();
        let (address, token) = (up.address.clone(), agency.token.clone());
        let threads: Vec<_> = (0..per_round)
            .map(|nth| {
                let (address, token) = (address.clone(), token.clone());
                std::thread::spawn(move || {
                    let mut body = if nth % 2 == 0 { hello() } else { streamed() };
                    body["max_tokens"] = json!(20 + nth % 7);
                    post(&address, "/g/ada/v1/chat/completions", &token, "", &body.to_string()).status
                })
            })
            .collect();
        if round == kills {
            threads.into_iter().for_each(|thread| answered += u64::from(thread.join().unwrap() == 200));
            up.stop();
            break;
        }
        std::thread::sleep(Duration::from_millis(40 + 37 * (round % 9)));
        up.kill();
        for thread in threads {
            match thread.join().unwrap() {
                200 => answered += 1,
                0 => lost += 1,
                _ => refused += 1,
            }
        }
        assert!(upstream.worth() <= 1_000_000, "{}", upstream.worth());
    }
    let life = agency.tent.verified("ada").life().clone();
    assert!(life.calls().open.is_empty(), "the last process has settled them all");
    let (spent, worth) = (life.calls().spent, upstream.worth());
    println!(
        "counted: {} calls at a provider that cuts, stalls and lies, {kills} kills of the host: {answered} answered, {refused} \
         refused, {lost} lost; {worth} micro-dollars of work for {spent} of 1 dollar",
        upstream.calls()
    );
    assert!(spent <= Usdc::dollars(1) && life.purse().spent + life.purse().credit <= Usdc::dollars(1));
    assert!(worth <= 1_000_000 && worth as i64 <= spent.as_micros(), "{worth} {spent}");
    assert!(answered > 0);
}
