//! Strangers at the door, callers that hang up, and bodies that never come to their end: none of them costs anybody else a call,
//! the host its memory, or a golem a place.

use std::collections::VecDeque;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use super::{Agency, Up, hello, post, streamed};
use crate::common::{Dice, full};
use golem::Usdc;
use testing::upstream::{Act, Upstream};
use testing::wait::within;

const CHAT: &str = "/g/ada/v1/chat/completions";
const SETTINGS: [&str; 4] =
    ["policy.calls_alike=0", "policy.calls_fan=0", "policy.calls_leap=0", "policy.calls_at_once=8"];
/// Calls that its policy lets through at once.
const AT_ONCE: u64 = 8;
/// KiB that a host may have in memory, whoever stands before it.
const MEMORY: u64 = 400 << 10;
/// How long a body is that is held one byte short.
const HELD: usize = 30 << 20;
/// Callers that hang up, side by side.
const CALLERS: u64 = 16;
/// How much longer it may take to go down with all of them there.
const LONGER: Duration = Duration::from_secs(2);

/// The host as a shell starts it that allows few files at first.
fn up(agency: &Agency) -> Up {
    let (plain, mut limited) = (agency.comes_up(), Command::new("sh"));
    limited.args(["-c", "ulimit -Sn 1024; exec \"$@\"", "sh"]).arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    agency.up_by(limited)
}

/// As many files as this process is ever let have open; and how many of so many strangers it can play then.
fn playing(strangers: u64) -> u64 {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    maximum.map_or(strangers, |most| strangers.min(most.saturating_sub(400)))
}

/// The first words behind a name, in one of the kernel's files about a process.
fn figures(process: u32, file: &str, name: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{process}/{file}")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().map(str::to_owned).collect()
}

fn kib(process: u32, name: &str) -> u64 {
    figures(process, "status", name)[0].parse().unwrap()
}

/// Strangers that say nothing, or half of a head; for each that is shown out another comes.
fn strangers(address: &str, many: u64, over: &Arc<AtomicBool>) -> (JoinHandle<()>, Arc<AtomicU64>) {
    let (address, over, came) = (address.to_owned(), Arc::clone(over), Arc::<AtomicU64>::default());
    let counted = Arc::clone(&came);
    let crowd = thread::spawn(move || {
        let mut inside = VecDeque::new();
        while !over.load(Ordering::SeqCst) {
            if let Ok(mut socket) = TcpStream::connect(&address) {
                if counted.fetch_add(1, Ordering::SeqCst).is_multiple_of(2) {
                    let _ = socket.write_all(b"POST /g/ada/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthoriz");
                }
                inside.push_back(socket);
            }
            if inside.len() as u64 > many {
                inside.pop_front();
            }
            thread::sleep(Duration::from_millis(1));
        }
    });
    (crowd, came)
}

fn head(token: &str, length: usize) -> String {
    format!("POST {CHAT} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-length: {length}\r\n\r\n")
}

/// Bodies that come but for their last byte, again and again.
fn bodies(address: &str, token: &str, many: u64, over: &Arc<AtomicBool>) -> Vec<JoinHandle<()>> {
    let one = |_| {
        let (address, token, over) = (address.to_owned(), token.to_owned(), Arc::clone(over));
        thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                // Whoever is turned away comes again.
                let _ = hold(&address, &token, &over);
                thread::sleep(Duration::from_millis(50));
            }
        })
    };
    (0..many).map(one).collect()
}

fn hold(address: &str, token: &str, over: &AtomicBool) -> std::io::Result<()> {
    let (mut socket, some) = (TcpStream::connect(address)?, vec![b' '; 1 << 20]);
    socket.set_write_timeout(Some(Duration::from_millis(200)))?;
    socket.set_read_timeout(Some(Duration::from_millis(200)))?;
    socket.write_all(head(token, HELD).as_bytes())?;
    let (mut left, mut answer) = (HELD - 1, [0; 1_024]);
    while !over.load(Ordering::SeqCst) {
        let went = if left > 0 { socket.write(&some[..left.min(some.len())]) } else { socket.read(&mut answer) };
        match went {
            Ok(0) => return Ok(()),
            Ok(bytes) => left = left.saturating_sub(bytes),
            Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(why) => return Err(why),
        }
    }
    Ok(())
}

/// Callers that are gone within a moment of having called.
fn hang_ups(address: &str, token: &str, many: u64) -> Vec<JoinHandle<()>> {
    let one = |caller: u64| {
        let (address, token) = (address.to_owned(), token.to_owned());
        thread::spawn(move || {
            let mut dice = Dice(41_000 + caller);
            for nth in 0..many / CALLERS {
                let talk = json!([{ "role": "user", "content": format!("{caller} {nth}") }]);
                let body = json!({ "model": "m", "max_tokens": 3, "messages": talk }).to_string();
                let Ok(mut socket) = TcpStream::connect(&address) else { continue };
                let _ = socket.write_all(format!("{}{body}", head(&token, body.len())).as_bytes());
                thread::sleep(Duration::from_micros(dice.roll(12_000)));
            }
        })
    };
    (0..CALLERS).map(one).collect()
}

/// Somebody else's agent, which calls one time after the other; how often, and how long the slowest took.
fn honest(address: &str, token: &str, over: &Arc<AtomicBool>) -> JoinHandle<(u64, Duration)> {
    let (address, token, over) = (address.to_owned(), token.to_owned(), Arc::clone(over));
    thread::spawn(move || {
        let (mut calls, mut longest) = (0, Duration::ZERO);
        while !over.load(Ordering::SeqCst) {
            let began = Instant::now();
            let answer = post(&address, "/g/bob/v1/chat/completions", &token, "", &hello().to_string());
            longest = longest.max(began.elapsed());
            assert_eq!(answer.status, 200, "after {calls} and {:?}: {}", began.elapsed(), answer.body);
            calls += 1;
            thread::sleep(Duration::from_millis(20));
        }
        (calls, longest)
    })
}

/// As many at once as policy allows all find a place, and one more finds none.
fn has_all_its_places(agency: &Agency, up: &Up, upstream: &Upstream) {
    let before = upstream.calls();
    let one = |_| {
        let (address, token) = (up.address.clone(), agency.token.clone());
        thread::spawn(move || post(&address, CHAT, &token, "", &streamed().to_string()).status)
    };
    let all: Vec<JoinHandle<u16>> = (0..AT_ONCE).map(one).collect();
    let passed = || upstream.calls() - before;
    within(Duration::from_secs(15), || format!("only {} found a place", passed()), || passed() == AT_ONCE);
    let more = up.chat(agency, &hello());
    assert_eq!(more.status, 429, "{}", more.body);
    let statuses: Vec<u16> = all.into_iter().map(|one| one.join().unwrap()).collect();
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
}

fn took(stops: Up) -> Duration {
    let began = Instant::now();
    stops.stop();
    began.elapsed()
}

/// 1,100 strangers that said nothing stopped every golem, hanging up lost places for good, and bodies held one byte short
/// took 1.3 GB.
#[test]
fn strangers_hang_ups_and_held_bodies_cost_nobody_else_anything() {
    let (many, calls, held) = (playing(full(2_000, 600)), full(4_000, 800), full(40, 12));
    let slow = Arc::<AtomicBool>::default();
    let is_slow = Arc::clone(&slow);
    let upstream =
        Upstream::start(move |_| if is_slow.load(Ordering::SeqCst) { Act::Slowly(100) } else { Act::Honest });
    let agency = Agency::new(&upstream, "400", &SETTINGS);
    let bobs = agency.born("bob", "400", &SETTINGS);
    let quiet = up(&agency);
    assert_eq!(quiet.chat(&agency, &hello()).status, 200);
    let alone = took(quiet);

    let up = up(&agency);
    let process = up.child.id();
    let files = figures(process, "limits", "Max open files");
    assert_eq!(files[0], files[1], "the soft limit is as high as the hard one");
    let (over, done) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let (crowd, came) = strangers(&up.address, many, &over);
    let here = || came.load(Ordering::SeqCst);
    within(Duration::from_secs(120), || format!("{} strangers came", here()), || here() >= many);
    let bodies = bodies(&up.address, &agency.token, held, &over);
    let (began, bob) = (Instant::now(), honest(&up.address, &bobs, &done));
    hang_ups(&up.address, &agency.token, calls).into_iter().for_each(|caller| caller.join().unwrap());
    // Long enough for the bodies to have been waited for, and turned away.
    thread::sleep(Duration::from_secs(8).saturating_sub(began.elapsed()));
    done.store(true, Ordering::SeqCst);
    let (answered, longest) = bob.join().unwrap();
    let (now, most) = (kib(process, "VmRSS:"), kib(process, "VmHWM:"));
    let spent = || agency.life_of("ada").calls().spent + agency.life_of("bob").calls().spent;
    let worth = || Usdc::micros(upstream.worth() as i64);
    let unequal = || format!("{} is paid for what is worth {}", spent(), worth());
    within(Duration::from_secs(30), unequal, || agency.settled().calls().open.is_empty() && spent() == worth());
    slow.store(true, Ordering::SeqCst);
    has_all_its_places(&agency, &up, &upstream);
    let crowded = took(up);
    over.store(true, Ordering::SeqCst);
    bodies.into_iter().chain([crowd]).for_each(|one| one.join().unwrap());
    println!(
        "counted: {} strangers of whom {many} at once, {calls} hang-ups and {held} bodies held short: {answered} honest calls \
         answered in {longest:?} at most; {} MB in memory, {} MB at most; down in {crowded:?} beside {alone:?}",
        here(),
        now >> 10,
        most >> 10
    );
    assert!(answered > 0 && most <= MEMORY, "{answered} calls answered, {most} KiB");
    assert!(crowded <= alone + LONGER, "{crowded:?} beside {alone:?}");
    let log = fs::read_to_string(agency.tent.folder.path().join("log")).unwrap();
    assert!(!log.contains("panicked") && !log.contains("open files"), "{log}");
    agency.tent.verified("ada");
}
