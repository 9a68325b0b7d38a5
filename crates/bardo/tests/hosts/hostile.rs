//! A hostile crowd, all at once: clients that ask a million things with every kind of token and none, strangers who ask
//! and never read, listeners who want a long life from its first record on. It costs the host little memory and nobody
//! else anything: whoever asks how it is hears at once, golems keep their pace, and no order is carried out twice.
//!
//! `BARDO_FULL=1 cargo nextest run -P full -p bardo --test hosts hostile:: --no-capture` is all of it; it takes a quarter of an hour.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::host::{Host, small_window};
use crate::common::{Dice, Tent, full};

const DEAF: usize = 520;
const LISTENERS: usize = 60;
/// Requests that are on their way on one connection at a time.
const AT_ONCE: u64 = 20;
const CLIENTS: u64 = 4;
const SCOPES: [&str; 4] = ["read", "answer", "order", "all"];
/// Which of the tokens may order: the host's own, and those of the last two scopes.
const MAY_ORDER: [usize; 3] = [0, 3, 4];

/// Resident memory of a process, in megabytes.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1_024
}

/// Asks for something large over and over, without a token, and reads nothing of it.
fn deaf(address: &str) -> Option<TcpStream> {
    let mut socket = TcpStream::connect(address).ok()?;
    small_window(&socket);
    socket.set_nonblocking(true).ok()?;
    let request = format!("GET /openapi.json HTTP/1.1\r\nhost: {address}\r\n\r\n").repeat(20);
    while socket.write(request.as_bytes()).is_ok_and(|sent| sent > 0) {}
    Some(socket)
}

/// What everybody in the crowd knows.
struct Crowd {
    address: String,
    /// The host's own, and one of every scope.
    tokens: Vec<String>,
    over: AtomicBool,
    answers: AtomicU64,
    refused: AtomicU64,
    hung_up: AtomicU64,
    keys: Mutex<BTreeSet<String>>,
}

impl Crowd {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Somebody who wants a life from its first record on; every other one never reads.
    fn listen(&self, number: usize) -> u64 {
        let mut heard = 0;
        while !self.is_over() {
            let Ok(mut socket) = TcpStream::connect(&self.address) else { continue };
            small_window(&socket);
            let (to, token) = (&self.address, &self.tokens[0]);
            let request = format!(
                "GET /v1/golems/ada/events?all=true HTTP/1.1\r\nhost: {to}\r\nauthorization: Bearer {token}\r\nlast-event-id: 0.0\r\n\r\n"
            );
            let _ = socket.write_all(request.as_bytes());
            socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
            let mut buffer = vec![0; 16 << 10];
            let until = Instant::now() + Duration::from_secs(30);
            while !self.is_over() && Instant::now() < until {
                thread::sleep(Duration::from_millis(200));
                if number.is_multiple_of(2) {
                    continue;
                }
                match socket.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(read) => heard += read as u64,
                    Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                    Err(_) => break,
                }
            }
        }
        heard
    }

    fn request(&self, dice: &mut Dice) -> String {
        let to = &self.address;
        let which = dice.roll(2 * self.tokens.len() as u64) as usize;
        let token = match self.tokens.get(which) {
            Some(token) => format!("authorization: Bearer {token}\r\n"),
            None if which.is_multiple_of(3) => format!("authorization: Bearer {:064x}\r\n", dice.roll(u64::MAX)),
            None if which % 3 == 1 => "authorization: Basic YTpi\r\n".to_owned(),
            None => String::new(),
        };
        if dice.roll(10) > 0 {
            let paths = [
                "/health",
                "/ready",
                "/openapi.json",
                "/metrics",
                "/v1/golems",
                "/v1/golems/g0",
                "/v1/golems/nobody",
                "/v1/golems/%00%ff",
                "/v1/golems/g1/lineage",
                "/v1/golems/g0/memory?q=x&limit=999999",
                "/v1/nothing",
                "/v1/golems/g0/orders/none",
                "/../../etc/passwd",
            ];
            // What makes the host fold a life is asked less often than what it has at hand.
            let among = if dice.roll(20) == 0 { paths.len() as u64 } else { 5 };
            let path = paths[dice.roll(among) as usize];
            return format!("GET {path} HTTP/1.1\r\nhost: {to}\r\n{token}\r\n");
        }
        let key = dice.roll(50);
        let (verb, body) = match dice.roll(4) {
            0 => ("fund", format!(r#"{{"credit":{}}}"#, key + 1)),
            1 => ("withdraw", format!(r#"{{"from":"credit","amount":{}}}"#, key + 1)),
            2 => ("retire", "{}".to_owned()),
            _ => ("steer", "not json".to_owned()),
        };
        let known = format!("{verb}-{key}");
        if MAY_ORDER.contains(&which) && verb == "fund" {
            self.keys.lock().unwrap().insert(known.clone());
        }
        format!(
            "POST /v1/golems/g0/{verb} HTTP/1.1\r\nhost: {to}\r\n{token}idempotency-key: {known}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    /// Asks until it has had so many answers, and now and then says something no one can understand.
    fn ask(&self, seed: u64, wanted: u64) {
        let (mut dice, mut had) = (Dice(seed), 0);
        while had < wanted {
            let Ok(mut socket) = TcpStream::connect(&self.address) else { continue };
            socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let mut answers = BufReader::new(socket.try_clone().unwrap());
            while had < wanted {
                if dice.roll(50) == 0 {
                    let noise: Vec<u8> = (0..dice.roll(300) + 1).map(|_| dice.roll(256) as u8).collect();
                    let _ = socket.write_all(&noise);
                    let _ = socket.shutdown(Shutdown::Both);
                    break;
                }
                let batch: String = (0..AT_ONCE).map(|_| self.request(&mut dice)).collect();
                if socket.write_all(batch.as_bytes()).is_err() {
                    break;
                }
                let heard = (0..AT_ONCE).map_while(|_| answer(&mut answers)).inspect(|status| {
                    self.answers.fetch_add(1, Ordering::Relaxed);
                    self.refused.fetch_add(u64::from(*status >= 400), Ordering::Relaxed);
                    assert!(*status < 500 || *status == 503, "{status}");
                });
                let heard = heard.count() as u64;
                had += heard;
                if heard < AT_ONCE {
                    self.hung_up.fetch_add(1, Ordering::Relaxed);
                    break;
                }
            }
        }
    }
}

/// The status of the next answer; none if there is none.
fn answer(from: &mut impl BufRead) -> Option<u16> {
    let (mut status, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            std::io::copy(&mut from.take(length), &mut std::io::sink()).ok()?;
            return status;
        }
        match line.split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().ok()?,
            _ if status.is_none() => status = line.split(' ').nth(1)?.parse().ok(),
            _ => {}
        }
    }
}

/// How long `/health` takes a newcomer, over and over; none for one that was not answered at all.
fn probe(crowd: &Crowd) -> Vec<Option<Duration>> {
    let mut took = Vec::new();
    while !crowd.is_over() {
        let began = Instant::now();
        let asked = || -> Option<u16> {
            let mut socket = TcpStream::connect(&crowd.address).ok()?;
            socket.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
            let request = format!("GET /health HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", crowd.address);
            socket.write_all(request.as_bytes()).ok()?;
            answer(&mut BufReader::new(socket))
        };
        took.push(asked().filter(|status| *status == 200).map(|_| began.elapsed()));
        thread::sleep(Duration::from_millis(20));
    }
    took
}

#[test]
fn a_hostile_crowd_costs_nobody_anything() {
    let (requests, ticks) = (full(1_000_000, 20_000), full(200_000, 5_000));
    let tent = Tent::new();
    tent.ok(["treasury", "add", "10000"]);
    let clocks = ["mortality.stochastic.enabled=false", "mortality.epistemic.enabled=false"];
    let clocks = clocks.iter().flat_map(|clock| ["--set", clock]);
    tent.ok(["golem", "new", "ada", "--seed", "1", "--credit", "500"].into_iter().chain(clocks));
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", &ticks.to_string()]);
    for n in 0..5 {
        tent.ok(["golem", "new", &format!("g{n}"), "--seed", &n.to_string()]);
    }
    let sent = |tent: &Tent| {
        let entries = tent.home().treasury().unwrap().entries(100_000).unwrap();
        entries.iter().filter(|entry| entry.kind == "sent").count()
    };
    let births = sent(&tent);
    let lived = tent.verified("ada").life().tick();
    let host = Host::up(&tent, "80");
    let process = host.child.id();
    let rate = |from: u64, began: Instant| (host.ticks() - from) as f64 / began.elapsed().as_secs_f64();
    thread::sleep(Duration::from_secs(1));
    let (from, began) = (host.ticks(), Instant::now());
    thread::sleep(Duration::from_secs(5));
    let (calm, before) = (rate(from, began), resident(process));

    let new = |scope: &&str| tent.ok(["token", "new", scope, "--scope", scope]).trim().to_owned();
    let tokens = std::iter::once(host.token.clone()).chain(SCOPES.iter().map(new)).collect();
    let crowd = Arc::new(Crowd {
        address: host.address.clone(),
        tokens,
        over: AtomicBool::new(false),
        answers: AtomicU64::new(0),
        refused: AtomicU64::new(0),
        hung_up: AtomicU64::new(0),
        keys: Mutex::default(),
    });
    let (mut most, began, from) = (before, Instant::now(), host.ticks());
    let strangers: Vec<TcpStream> = (0..DEAF).filter_map(|_| deaf(&host.address)).collect();
    assert_eq!(strangers.len(), DEAF, "all of them came in");
    let listeners: Vec<_> = (0..LISTENERS)
        .map(|n| {
            thread::spawn({
                let crowd = Arc::clone(&crowd);
                move || crowd.listen(n)
            })
        })
        .collect();
    let prober = thread::spawn({
        let crowd = Arc::clone(&crowd);
        move || probe(&crowd)
    });
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| {
            thread::spawn({
                let crowd = Arc::clone(&crowd);
                move || crowd.ask(n + 1, requests / CLIENTS)
            })
        })
        .collect();
    let mut crowding = strangers;
    while !clients.iter().all(thread::JoinHandle::is_finished) || began.elapsed() < Duration::from_secs(10) {
        most = most.max(resident(process));
        thread::sleep(Duration::from_millis(200));
        // Those who were shown out come again.
        crowding.rotate_left(8);
        crowding.truncate(DEAF - 8);
        crowding.extend((0..8).filter_map(|_| deaf(&host.address)));
    }
    let took = began.elapsed();
    let pressed = rate(from, began);
    crowd.over.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().expect("no answer was an error of ours");
    }
    let heard: u64 = listeners.into_iter().map(|one| one.join().unwrap()).sum();
    let probed = prober.join().unwrap();
    let unanswered = probed.iter().filter(|one| one.is_none()).count();
    let mut answered: Vec<Duration> = probed.iter().flatten().copied().collect();
    answered.sort();
    let p99 = answered[answered.len() * 99 / 100];
    drop((host, crowding));

    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    println!(
        "{} answers ({} refusals, {} connections cut) in {took:.0?} beside {DEAF} deaf connections and {LISTENERS} listeners \
         from record 0 of a life of {lived} ticks, who heard {} MB: resident {before} MB before, {most} MB at most; /health \
         p50 {:?} p99 {p99:?} of {}, {unanswered} unanswered; {calm:.2} ticks/s before, {pressed:.2} meanwhile",
        count(&crowd.answers),
        count(&crowd.refused),
        count(&crowd.hung_up),
        heard >> 20,
        answered[answered.len() / 2],
        probed.len(),
    );
    assert!(lived >= ticks, "{lived}");
    assert!(most <= 200, "{most} MB");
    assert_eq!(unanswered, 0, "of {}", probed.len());
    // Beside all the other tests it may take longer.
    let limit = if std::env::var_os("BARDO_FULL").is_some() { 100 } else { 500 };
    assert!(p99 <= Duration::from_millis(limit), "{p99:?}");
    assert!(pressed > calm * 0.8, "{calm} {pressed}");
    assert!(heard > 0, "listeners heard nothing");
    let keys = crowd.keys.lock().unwrap().len();
    assert!(keys > 10, "{keys}");
    assert_eq!(sent(&tent) - births, keys, "each order once");
}
