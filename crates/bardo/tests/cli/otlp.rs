//! Spans for a collector: a real receiver gets them over HTTP, and one that hangs or is not there costs no golem
//! anything and keeps nobody from coming down.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Tent, text};
use testing::wait::until;

/// What was posted: where to, as what, and the bytes.
type Posted = Arc<Mutex<Vec<(String, String, Vec<u8>)>>>;

fn collector() -> (String, Posted) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, posted) = (listener.local_addr().unwrap().to_string(), Posted::default());
    let theirs = Arc::clone(&posted);
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let theirs = Arc::clone(&theirs);
            std::thread::spawn(move || while take(&mut BufReader::new(&socket), &theirs).is_some() {});
        }
    });
    (address, posted)
}

/// One request, answered as a collector does that has nothing to complain about.
fn take(reader: &mut BufReader<&TcpStream>, posted: &Posted) -> Option<()> {
    let (mut first, mut kind, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        match line.trim().to_lowercase().split_once(": ") {
            Some(("content-length", value)) => length = value.parse().ok()?,
            Some(("content-type", value)) => kind = value.to_owned(),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    posted.lock().unwrap().push((first.trim().to_owned(), kind, body));
    let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
    reader.get_mut().write_all(answer).ok()
}

/// Takes connections and never answers.
fn tar_pit() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || listener.incoming().flatten().collect::<Vec<_>>());
    address
}

/// An address where nobody listens.
fn nobody() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

struct Host {
    child: Child,
    address: String,
    token: String,
}

impl Host {
    fn up(tent: &Tent, environment: &[(&str, &str)]) -> Host {
        let mut command = tent.command(["up", "--listen", "127.0.0.1:0", "--speed", "400"]);
        command.envs(environment.iter().copied()).env("OTEL_BSP_SCHEDULE_DELAY", "200");
        let log = fs::File::create(tent.folder.path().join("log")).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        let address = loop {
            assert!(out.read_line(&mut said).unwrap() > 0, "it does not listen");
            if let Some((_, rest)) = said.split_once("http://") {
                break rest.split(';').next().unwrap().to_owned();
            }
        };
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        Host { child, address, token: fs::read_to_string(tent.home().token()).unwrap() }
    }

    /// Turns so far, and how late they were on average.
    fn turns(&self) -> (u64, Duration) {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        let (host, token) = (&self.address, &self.token);
        let request = format!(
            "GET /metrics HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
        );
        socket.write_all(request.as_bytes()).unwrap();
        let mut figures = String::new();
        let _ = socket.read_to_string(&mut figures);
        let figure = |name: &str| -> f64 {
            let line = figures.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().parse().unwrap()
        };
        let (late, count) = (figure("bardo_tick_lateness_seconds_sum"), figure("bardo_tick_lateness_seconds_count"));
        (figure("bardo_ticks_total") as u64, Duration::from_secs_f64(late / count.max(1.0)))
    }

    /// Asks it to come down; how long that took, and what it logged.
    fn stop(mut self, tent: &Tent) -> (Duration, String) {
        let began = Instant::now();
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
        (began.elapsed(), text(&fs::read(tent.folder.path().join("log")).unwrap()))
    }
}

fn holds(body: &[u8], words: &[u8]) -> bool {
    body.windows(words.len()).any(|window| window == words)
}

#[test]
fn a_collector_gets_the_turns_of_a_golem() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let (address, posted) = collector();
    let endpoint = format!("http://{address}");
    let host = Host::up(&tent, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]);
    until("a turn is told", || posted.lock().unwrap().iter().any(|(_, _, body)| holds(body, b"\x2a\x04turn")));
    let (_, log) = host.stop(&tent);
    assert_eq!(log, "");
    let posted = std::mem::take(&mut *posted.lock().unwrap());
    for (first, kind, body) in &posted {
        assert_eq!((first.as_str(), kind.as_str()), ("POST /v1/traces HTTP/1.1", "application/x-protobuf"));
        // A pair of key and value, as protobuf writes it.
        assert!(holds(body, b"\x0a\x0cservice.name\x12\x07\x0a\x05bardo"), "it says who it is");
    }
    // A span's name, as protobuf writes it, and the golem it is about.
    for words in [&b"\x2a\x04turn"[..], b"\x2a\x06commit", b"\x0a\x05golem\x12\x05\x0a\x03ada", b"\x2a\x05leave"] {
        assert!(posted.iter().any(|(_, _, body)| holds(body, words)), "{}", text(words));
    }
    let token = fs::read(tent.home().token()).unwrap();
    assert!(!posted.iter().any(|(_, _, body)| holds(body, &token)));
}

/// With the names that OpenTelemetry has for models, and with nothing of what was said.
#[test]
fn a_collector_gets_the_calls_of_an_agent() {
    let tent = Tent::new();
    let upstream = upstream::Upstream::start(|_| upstream::Act::Honest);
    let model = format!("{}/v1/m", upstream.url);
    let config =
        format!("[models]\nprices = \"{model}=1/5\"\n[gateway]\nlisten = \"127.0.0.1:0\"\nmodels = \"m={model}\"\n");
    fs::write(tent.root().join("bardo.toml"), config).unwrap();
    tent.ok(["golem", "new", "ada", "--world", "checks", "--credit", "1"]);
    let shown: serde_json::Value = serde_json::from_str(&tent.ok(["golem", "connect", "ada", "--json"])).unwrap();
    let token = shown["token"].as_str().unwrap();
    let (address, posted) = collector();
    let host = Host::up(&tent, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://{address}"))]);
    let gateway = fs::read_to_string(tent.root().join("gateway")).unwrap();
    for (model, expected) in [("m", "200"), ("m", "402")] {
        let length = if expected == "200" { 1 } else { 3_000_000 };
        let body = format!(
            "{{\"model\":\"{model}\",\"messages\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}",
            "canary ".repeat(length)
        );
        let mut socket = TcpStream::connect(&gateway).unwrap();
        let head = format!(
            "POST /g/ada/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        socket.write_all(head.as_bytes()).unwrap();
        socket.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = socket.read_to_string(&mut answer);
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")), "{answer}");
    }
    until("a call that failed is told", || {
        posted.lock().unwrap().iter().any(|(_, _, body)| holds(body, b"error.type"))
    });
    host.stop(&tent);
    let posted = std::mem::take(&mut *posted.lock().unwrap());
    let told = |words: &[u8]| posted.iter().any(|(_, _, body)| holds(body, words));
    for name in [
        "gen_ai.operation.name",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "bardo.cost_micros",
        "chat m",
        "error.type",
    ] {
        assert!(told(name.as_bytes()), "{name}");
    }
    assert!(!told(b"canary") && !told(token.as_bytes()));
}

#[test]
fn the_usual_variables_count() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let (address, posted) = collector();
    let endpoint = format!("http://{address}/mine");
    let lived = |environment: &[(&str, &str)]| {
        let host = Host::up(&tent, environment);
        std::thread::sleep(Duration::from_millis(500));
        host.stop(&tent);
        std::mem::take(&mut *posted.lock().unwrap())
    };
    let named = lived(&[
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &endpoint),
        ("OTEL_SERVICE_NAME", "tomb"),
        ("OTEL_RESOURCE_ATTRIBUTES", "where=cellar"),
    ]);
    let (first, _, body) = &named[0];
    assert_eq!(first, "POST /mine HTTP/1.1");
    assert!(holds(body, b"\x0a\x0cservice.name\x12\x06\x0a\x04tomb") && holds(body, b"cellar"));
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str());
    assert!(lived(&[endpoint, ("OTEL_SDK_DISABLED", "true")]).is_empty());
    assert!(lived(&[endpoint, ("OTEL_TRACES_SAMPLER", "always_off")]).is_empty());
    assert!(lived(&[]).is_empty());
    let told = tent.command(["up", "--listen", ""]).env(endpoint.0, "no address").output().unwrap();
    assert_eq!(told.status.code(), Some(3), "{}", text(&told.stderr));
}

#[test]
fn a_collector_that_hangs_or_is_gone_makes_nobody_late() {
    let tent = Tent::new();
    tent.ok(["treasury", "add", "100000"]);
    for n in 0..40 {
        tent.ok(["golem", "new", &format!("g{n}"), "--seed", &n.to_string()]);
    }
    // Long enough to fill the queue of spans several times.
    let lived = |environment: &[(&str, &str)]| {
        let host = Host::up(&tent, &[environment, &[("OTEL_BSP_MAX_QUEUE_SIZE", "600")]].concat());
        std::thread::sleep(Duration::from_secs(6));
        let turns = host.turns();
        (turns, host.stop(&tent))
    };
    let ((_, calm_late), (calm_down, _)) = lived(&[]);
    for (what, address) in [("hangs", tar_pit()), ("is gone", nobody())] {
        let endpoint = format!("http://{address}/secret-4711");
        let ((turns, late), (down, log)) = lived(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]);
        println!(
            "a collector that {what}: {turns} turns, late by {late:?}, down after {down:?}; \
             without: {calm_late:?}, {calm_down:?}"
        );
        assert!(turns > 1_000, "{what}: {turns} turns");
        assert!(late < calm_late.max(Duration::from_millis(5)) * 3, "{what}: late by {late:?}, {calm_late:?} without");
        assert!(down < calm_down + Duration::from_secs(4), "{what}: down after {down:?}, {calm_down:?} without");
        assert!(log.lines().count() <= 1 && !log.contains("4711"), "{log}");
    }
}
