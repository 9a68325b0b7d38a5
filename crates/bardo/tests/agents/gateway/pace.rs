//! What the durable record costs: the same calls to the provider itself and through the gateway, in turns in one run; and how many
//! of them a processor is enough for.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Agency;
use super::beside::rate;
use testing::upstream::{Act, Upstream};

/// Calls a second.
const PACE: u64 = 50;

/// How often it is measured, if need be.
const ROUNDS: u32 = 4;

/// Reservations that a second of a processor is enough for, each with the call that it is for and what that came to. What is not
/// optimised takes many times as long, and can only be seen not to have become hopeless.
const RESERVATIONS: f64 = if cfg!(debug_assertions) { 150.0 } else { 2_000.0 };

/// Ticks of a second, in which the kernel counts what a process took of its processors.
const TICKS: f64 = 100.0;

/// Seconds of processors that a process has taken so far.
fn processor(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // Its name, which may have anything in it, ends with the last bracket.
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / TICKS
}

#[test]
fn thousands_of_reservations_at_one_golem_take_a_second_of_a_processor() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "900", &super::UNWATCHED);
    let up = agency.up();
    let (path, process) = ("/g/ada/v1/chat/completions", up.child.id());
    // What is done once is done by then.
    rate(&up.address, path, &agency.token, 256, 64);
    let (before, made) = (processor(process), agency.settled().calls().made);
    let wall = rate(&up.address, path, &agency.token, crate::common::full(40_000, 2_560), 64);
    let (made, took) = (agency.settled().calls().made - made, processor(process) - before);
    let reserved = made as f64 / took;
    println!(
        "counted: {made} calls reserved, made and settled at one golem in {took:.2} s of processors: {reserved:.0} for each \
         second; {wall:.0} a second on the wall"
    );
    assert!(reserved >= RESERVATIONS, "{reserved:.0} for each second of a processor");
    up.stop();
    agency.tent.verified("ada");
}

/// How long until the first byte of an answer's body.
fn first_byte(address: &str, path: &str, token: &str, body: &Value) -> Option<Duration> {
    let (began, body) = (Instant::now(), body.to_string());
    let mut socket = TcpStream::connect(address).ok()?;
    socket.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {token}\r\n");
    socket.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes()).ok()?;
    let (mut heard, mut some) = (Vec::new(), [0; 4_096]);
    loop {
        let count = socket.read(&mut some).ok().filter(|count| *count > 0)?;
        heard.extend_from_slice(&some[..count]);
        if let Some(end) = heard.windows(4).position(|four| four == b"\r\n\r\n")
            && heard.len() > end + 4
        {
            assert!(heard.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&heard));
            let took = began.elapsed();
            // To its end: whoever hangs up before is another matter.
            while !whole(&heard, end + 4) {
                let count = socket.read(&mut some).ok().filter(|count| *count > 0)?;
                heard.extend_from_slice(&some[..count]);
            }
            return Some(took);
        }
    }
}

fn whole(heard: &[u8], body: usize) -> bool {
    let head = String::from_utf8_lossy(&heard[..body]).to_lowercase();
    match head.split_once("content-length: ").and_then(|(_, rest)| rest.lines().next()?.trim().parse::<usize>().ok()) {
        Some(length) => heard.len() >= body + length,
        None => heard.ends_with(b"0\r\n\r\n"),
    }
}

/// So many calls, evenly spread; in milliseconds, the shortest first.
fn paced(calls: u64, address: &str, path: &'static str, token: &str, stream: bool) -> Vec<f64> {
    let began = Instant::now();
    let threads: Vec<_> = (0..calls)
        .map(|nth| {
            let (address, token) = (address.to_owned(), token.to_owned());
            let body = json!({ "model": "m", "stream": stream, "max_tokens": 8, "messages": [] });
            let due = began + Duration::from_millis(nth * 1_000 / PACE);
            thread::sleep(due.saturating_duration_since(Instant::now()));
            thread::spawn(move || first_byte(&address, path, &token, &body).expect("it is answered"))
        })
        .collect();
    let mut took: Vec<f64> = threads.into_iter().map(|one| one.join().unwrap().as_secs_f64() * 1e3).collect();
    took.sort_by(f64::total_cmp);
    took
}

#[test]
fn a_durable_record_before_each_call_holds_up_nobody() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "900", &super::UNWATCHED);
    let up = agency.up();
    let direct = upstream.url.strip_prefix("http://").unwrap().to_owned();
    let calls = crate::common::full(3_000, 200);
    let at = |sorted: &[f64], share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
    let mut made = 0;
    for stream in [false, true] {
        // The machine and its disk may be busy with something else in one round; what we add would be there in all.
        let fair = (0..ROUNDS).any(|_| {
            let plain = paced(calls, &direct, "/v1/chat/completions", "none", stream);
            let metered = paced(calls, &up.address, "/g/ada/v1/chat/completions", &agency.token, stream);
            made += calls;
            let added = |share: f64| at(&metered, share) - at(&plain, share);
            println!(
                "counted: {calls} calls at {PACE} a second, {}: p50 {:.1} ms beside {:.1} ms, p99 {:.1} ms beside {:.1} ms",
                if stream { "to the first word" } else { "whole" },
                at(&metered, 0.5),
                at(&plain, 0.5),
                at(&metered, 0.99),
                at(&plain, 0.99)
            );
            added(0.5) <= 30.0 && added(0.99) <= 80.0
        });
        assert!(fair, "calls are held up, streamed: {stream}");
    }
    let life = agency.settled();
    assert_eq!(life.calls().made, made);
    up.stop();
}
