//! Beside another gateway with the same budget, the same load and the same provider in one run: how much more than the budget
//! each lets through, and how many calls a second each makes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use golem::Usdc;
use serde_json::{Value, json};

use super::{Agency, UNWATCHED, post};
use testing::upstream::{Act, Upstream};

const CHAT: &str = "/g/ada/v1/chat/completions";
/// Of the other's.
pub(super) const THEIRS: &str = "/v1/chat/completions";
const ACTS: [Act; 7] =
    [Act::Honest, Act::Honest, Act::Silent, Act::Cuts, Act::Stalls(300), Act::Honest, Act::Slowly(5)];

/// The other gateway, where it is installed: it takes most of a gigabyte, so only `just full` asks for it.
pub(super) struct Other {
    child: Child,
    pub(super) address: String,
}

/// What it is told about the one model there is: name, prices of a token in and out, and its longest answer.
pub(super) type Offers<'a> = [&'a str; 4];
const M: Offers<'static> = ["m", "0.000001", "0.000005", "1000000000"];

impl Other {
    pub(super) fn start(url: &str, budget: &str, how: &str, offers: Offers<'_>) -> Option<Other> {
        let [model, input, output, longest] = offers;
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"));
        let python = cache.join("bardo/litellm/bin/python");
        if !python.exists() {
            println!("litellm is not installed; `just full` installs it");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/gateway/litellm.py");
        let child = Command::new(python)
            .args([script, &port, &format!("{url}/v1"), budget, input, output, model, how, longest])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let other = Other { child, address: format!("127.0.0.1:{port}") };
        let until = Instant::now() + Duration::from_secs(180);
        while !other.is_ready() {
            assert!(Instant::now() < until, "litellm did not come up");
            std::thread::sleep(Duration::from_millis(200));
        }
        Some(other)
    }

    fn is_ready(&self) -> bool {
        let Ok(mut socket) = TcpStream::connect(&self.address) else { return false };
        let _ = socket.set_read_timeout(Some(Duration::from_secs(2)));
        let _ = socket.write_all(b"GET /health/liveliness HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let mut answer = String::new();
        let _ = socket.read_to_string(&mut answer);
        answer.starts_with("HTTP/1.1 200")
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// So many at once, plain and streaming, again and again.
fn load(address: &str, path: &'static str, token: &str, calls: u64, at_once: u64) {
    let next = Arc::new(AtomicU64::new(0));
    let threads: Vec<_> = (0..at_once)
        .map(|_| {
            let (address, token, next) = (address.to_owned(), token.to_owned(), Arc::clone(&next));
            std::thread::spawn(move || {
                loop {
                    let nth = next.fetch_add(1, Ordering::SeqCst);
                    if nth >= calls {
                        return;
                    }
                    let text = "x".repeat(4_000);
                    let body = json!({ "model": "m", "stream": nth % 2 == 1, "max_tokens": 40,
                                       "messages": [{ "role": "user", "content": text }] });
                    post(&address, path, &token, "", &body.to_string());
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn the_same_load_against_the_same_budget_beside_another_gateway() {
    if crate::common::full(1, 0) == 0 {
        return;
    }
    let (calls, at_once) = (4_000, 250);
    println!("| gateway | provider | calls it took | worth of what it did for $1 |\n| --- | --- | --- | --- |");
    for (provider, acts) in [("honest, and slow", &[Act::Slowly(5)][..]), ("cuts, stalls and lies", &ACTS[..])] {
        let start = || Upstream::start(move |n| acts[n as usize % acts.len()]);
        let tell = |who: &str, upstream: &Upstream| {
            println!("| {who} | {provider} | {} | ${:.6} |", upstream.calls(), upstream.worth() as f64 / 1e6);
        };
        let upstream = start();
        let agency = Agency::new(&upstream, "1", &UNWATCHED);
        let up = agency.up();
        load(&up.address, CHAT, &agency.token, calls, at_once);
        let life = agency.settled();
        up.stop();
        tell("bardo", &upstream);
        assert!(upstream.worth() <= 1_000_000 && life.calls().spent <= Usdc::dollars(1));
        for how in ["reserve", "provider"] {
            let upstream = start();
            let Some(other) = Other::start(&upstream.url, "1", how, M) else { continue };
            load(&other.address, THEIRS, "any", calls, at_once);
            tell(&format!("litellm, {how}"), &upstream);
        }
    }
}

/// Calls over lines that stay open, as many as come back whole; how many a second.
pub(super) fn rate(address: &str, path: &'static str, token: &str, calls: u64, lines: u64) -> f64 {
    let body = json!({ "model": "m", "max_tokens": 1, "messages": [] }).to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let began = Instant::now();
    let threads: Vec<_> = (0..lines)
        .map(|_| {
            let (address, request) = (address.to_owned(), request.clone());
            std::thread::spawn(move || {
                let mut socket = TcpStream::connect(address).unwrap();
                socket.set_nodelay(true).unwrap();
                let mut reader = BufReader::new(socket.try_clone().unwrap());
                for _ in 0..calls / lines {
                    socket.write_all(request.as_bytes()).unwrap();
                    let (mut length, mut line) = (None, String::new());
                    reader.read_line(&mut line).unwrap();
                    assert!(line.contains(" 200"), "{line}");
                    loop {
                        line.clear();
                        reader.read_line(&mut line).unwrap();
                        let lower = line.to_lowercase();
                        length = lower.strip_prefix("content-length: ").map(|n| n.trim().parse().unwrap()).or(length);
                        if line.trim().is_empty() {
                            break;
                        }
                    }
                    let mut whole = vec![0; length.expect("an answer at once has a length")];
                    reader.read_exact(&mut whole).unwrap();
                    let _: Value = serde_json::from_slice(&whole).unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    calls as f64 / began.elapsed().as_secs_f64()
}

#[test]
fn many_calls_a_second_share_a_sync() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "900", &UNWATCHED);
    let up = agency.up();
    let direct = upstream.url.strip_prefix("http://").unwrap().to_owned();
    let calls = crate::common::full(40_000, 2_000);
    let plain = rate(&direct, THEIRS, "none", calls, 200);
    let ours = rate(&up.address, CHAT, &agency.token, calls, 200);
    let life = agency.settled();
    up.stop();
    println!(
        "counted: {calls} calls over 200 lines: {ours:.0} a second through the gateway beside {plain:.0} without one"
    );
    assert_eq!(life.calls().made, calls);
    // Far below what is measured: without shared syncs it would be a hundred.
    assert!(ours >= 300.0, "{ours}");
    if crate::common::full(1, 0) == 1
        && let Some(other) = Other::start(&upstream.url, "900", "reserve", M)
    {
        println!("counted: litellm {:.0} a second", rate(&other.address, THEIRS, "any", 1_000, 50));
    }
}
