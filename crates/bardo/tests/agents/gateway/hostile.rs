//! Whatever is sent: nothing is passed on that should not be, nothing is paid twice, and nobody hears the owner's key.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use golem::Usdc;
use serde_json::json;

use super::{Agency, UNWATCHED, post};
use testing::upstream::{Act, Upstream};

const KEY: &str = "sk-canary-0123456789abcdef0123456789abcdef";

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// One request as bytes, and whether it may be passed on; what is passed on says in `user` what it was.
struct Sent {
    bytes: Vec<u8>,
    fine: bool,
}

fn body(dice: &mut Dice, user: &str) -> String {
    let text = "x".repeat(dice.below(200) as usize);
    json!({ "model": "m", "max_tokens": 3, "user": user, "messages": [{ "role": "user", "content": text }] })
        .to_string()
}

fn plain(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nhost: x\r\n{headers}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

const CHAT: &str = "/g/ada/v1/chat/completions";

fn hostile(dice: &mut Dice, mine: &str, others: &[String]) -> Sent {
    let auth = format!("authorization: Bearer {mine}\r\n");
    let wrong = |bytes: Vec<u8>| Sent { bytes, fine: false };
    let kind = dice.below(12);
    let bad = body(dice, &format!("hostile {kind}"));
    match kind {
        0 => Sent { bytes: plain(CHAT, &auth, &body(dice, "fine")), fine: true },
        // Somebody else's token, none, two, or one that is nearly right.
        1 => {
            let other = others[dice.below(others.len() as u64) as usize].clone();
            let cut = &mine[..mine.len() - 1];
            let tokens = [other.as_str(), "", "null", cut, "Bearer", "../../api-token", "\u{e9}"];
            let header =
                dice.of(&["authorization: Bearer ", "x-api-key: ", "authorization: ", "Authorization:Bearer\t"]);
            wrong(plain(CHAT, &format!("{header}{}\r\n", dice.of(&tokens)), &bad))
        }
        // Ways that lead nowhere.
        2 => {
            let paths = [
                "/g/ada/v1/../../bob/v1/chat/completions",
                "/g/bob/v1/chat/completions",
                "/g/..%2fada/v1/chat/completions",
                "/g/ada%00/v1/chat/completions",
                "/g//v1/chat/completions",
                "/g/ADA/v1/chat/completions",
                "/g/ada/v1/chat/completions/../../admin",
                "/g/ada/v1/chat%2fcompletions",
                "/g/ada/v1/files",
                "/g/ada/v1/fine_tuning/jobs",
                "/g/ada/v1/batches",
                "/v1/chat/completions",
                "/g/ada/v2/chat/completions",
                "/g/ada/v1/images/generations",
                "/g/ada/v1/messages/batches",
            ];
            wrong(plain(dice.of(&paths), &auth, &bad))
        }
        // Not what a call looks like.
        3 => {
            let bodies = [
                String::new(),
                "{}".into(),
                "[]".into(),
                "null".into(),
                "{\"model\":\"m\"".into(),
                "{\"model\":\"m\",\"model\":\"dear\",\"user\":\"hostile\",\"messages\":[]}".into(),
                "{\"model\":\"m\",\"max_tokens\":1,\"max_tokens\":1000000,\"user\":\"hostile\",\"messages\":[]}".into(),
                "{\"model\":\"m\",\"max_tokens\":-1,\"user\":\"hostile\",\"messages\":[]}".into(),
                "{\"model\":\"m\",\"max_tokens\":1e99,\"user\":\"hostile\",\"messages\":[]}".into(),
                "{\"model\":\"m\",\"max_tokens\":\"9\",\"user\":\"hostile\",\"messages\":[]}".into(),
                "{\"model\":\"m\",\"n\":1000,\"user\":\"hostile\",\"messages\":[]}".into(),
                "{\"model\":[\"m\"],\"user\":\"hostile\",\"messages\":[]}".into(),
                "{\"model\":\"nobody\",\"user\":\"hostile\",\"messages\":[]}".into(),
                "{\"model\":\"dear\",\"user\":\"hostile\",\"messages\":[]}".into(),
                "{\"model\":\"m\",\"stream\":\"yes\",\"user\":\"hostile\",\"messages\":[]}".into(),
                "{\"model\":\"m\",\"web_search_options\":{},\"user\":\"hostile\",\"messages\":[]}".into(),
                "{\"model\":\"m\",\"tools\":[{\"type\":\"web_search\"}],\"user\":\"hostile\",\"messages\":[]}".into(),
                format!("{{\"model\":\"m\",\"user\":\"hostile\",\"messages\":{}", "[".repeat(3_000)),
                "\u{0}\u{1}\u{2}".into(),
            ];
            let chosen = bodies[dice.below(bodies.len() as u64) as usize].clone();
            wrong(plain(CHAT, &auth, &chosen))
        }
        // Bytes turned at random, of one that nobody would let through.
        4 => {
            let mut bytes = plain(CHAT, "authorization: Bearer bardo-agent-wrong\r\n", &bad);
            for _ in 0..1 + dice.below(8) {
                let at = dice.below(bytes.len() as u64) as usize;
                bytes[at] = dice.below(256) as u8;
            }
            wrong(bytes)
        }
        // A length that is not true.
        5 => {
            let length =
                dice.of(&["999999999999", "-1", "1e3", "0x10", "+5", "5, 6", "18446744073709551616", "33554433000"]);
            wrong(
                format!("POST {CHAT} HTTP/1.1\r\nhost: x\r\n{auth}content-length: {length}\r\n\r\n{bad}").into_bytes(),
            )
        }
        // Two lengths, or a length and chunks: what one reader takes for a body another takes for the next request.
        6 => {
            let inner = String::from_utf8(plain(CHAT, "authorization: Bearer stolen\r\n", &bad)).unwrap();
            let tricks = [
                format!("content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{inner}"),
                format!("transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n5c\r\n{inner}\r\n0\r\n\r\n"),
                format!("content-length: 0\r\ncontent-length: {}\r\n\r\n{inner}", inner.len()),
                format!("transfer-encoding: xchunked\r\n\r\n0\r\n\r\n{inner}"),
                format!("transfer-encoding : chunked\r\n\r\n0\r\n\r\n{inner}"),
                format!("transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n{inner}"),
                format!("transfer-encoding:\u{b}chunked\r\n\r\n0\r\n\r\n{inner}"),
            ];
            let trick = tricks[dice.below(tricks.len() as u64) as usize].clone();
            wrong(format!("POST {CHAT} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {mine}x\r\n{trick}").into_bytes())
        }
        // Headers that are too many, too long, folded or not words.
        7 => {
            let tricks = [
                format!("x: {}\r\n", "y".repeat(200_000)),
                (0..500).map(|n| format!("x-{n}: 1\r\n")).collect(),
                "x: a\r\n folded: b\r\n".to_owned(),
                ": nameless\r\n".to_owned(),
                "x\0y: z\r\n".to_owned(),
                "host: evil.example\r\n".to_owned(),
                "expect: 100-continue\r\n".to_owned(),
                "connection: upgrade\r\nupgrade: websocket\r\n".to_owned(),
            ];
            let trick = tricks[dice.below(tricks.len() as u64) as usize].clone();
            wrong(plain(CHAT, &format!("authorization: Bearer {mine}x\r\n{trick}"), &bad))
        }
        // Other methods and versions.
        8 => {
            let first = dice.of(&["GET", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "post", "PRI", "\u{7f}"]);
            let version = dice.of(&["HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/9"]);
            wrong(
                format!("{first} {CHAT} {version}\r\nhost: x\r\n{auth}content-length: {}\r\n\r\n{bad}", bad.len())
                    .into_bytes(),
            )
        }
        // What tells a provider to answer somebody else, or with somebody else's key.
        9 => {
            let header =
                dice.of(&["x-api-key: sk-mine\r\n", "openai-organization: o\r\n", "anthropic-beta: files-api\r\n"]);
            Sent { bytes: plain(CHAT, &format!("{auth}{header}"), &body(dice, "fine")), fine: true }
        }
        // It ends in the middle.
        10 => {
            let mut bytes = plain(CHAT, &auth, &bad);
            bytes.truncate(dice.below(bytes.len() as u64 - 1) as usize);
            wrong(bytes)
        }
        // The same key again.
        _ => {
            let key = dice.below(5);
            Sent { bytes: plain(CHAT, &format!("{auth}idempotency-key: k{key}\r\n"), &body(dice, "once")), fine: true }
        }
    }
}

fn send(address: &str, bytes: &[u8], patient: bool) -> Vec<u8> {
    let mut answer = Vec::new();
    let Ok(mut socket) = TcpStream::connect(address) else { return answer };
    let _ = socket.set_read_timeout(Some(Duration::from_millis(if patient { 20_000 } else { 40 })));
    let _ = socket.write_all(bytes);
    let mut some = [0; 4_096];
    while !is_whole(&answer) {
        match socket.read(&mut some) {
            Ok(count) if count > 0 => answer.extend_from_slice(&some[..count]),
            _ => break,
        }
    }
    answer
}

fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let head = head.to_lowercase();
    let length = head.split_once("content-length: ").and_then(|(_, rest)| rest.lines().next()?.trim().parse().ok());
    length.is_some_and(|length: usize| body.len() >= length)
}

#[test]
fn nothing_hostile_is_passed_on_paid_twice_or_told_the_key() {
    let upstream = Upstream::start(|_| Act::Honest);
    let url = upstream.url.replace("http://", "http://WORK_KEY@");
    let agency = Agency::at(&url, "900", &UNWATCHED);
    agency.tent.ok(["golem", "new", "bob", "--world", "checks"]);
    let bobs: serde_json::Value = serde_json::from_str(&agency.tent.ok(["golem", "connect", "bob", "--json"])).unwrap();
    let up = agency.up_with(&[("WORK_KEY", KEY)]);
    let local = std::fs::read_to_string(agency.tent.home().token()).unwrap();
    let others = vec![bobs["token"].as_str().unwrap().to_owned(), local.trim().to_owned()];
    let requests = crate::common::full(1_000_000, 3_000);
    let threads = crate::common::full(64, 8);
    let fine: u64 = (0..threads)
        .map(|thread| {
            let (address, mine, others) = (up.address.clone(), agency.token.clone(), others.clone());
            std::thread::spawn(move || {
                let (mut dice, mut fine) = (Dice(9_998_000 + thread), 0);
                for _ in 0..requests / threads {
                    let sent = hostile(&mut dice, &mine, &others);
                    let answer = send(&address, &sent.bytes, sent.fine);
                    assert!(!answer.windows(KEY.len()).any(|bytes| bytes == KEY.as_bytes()), "the key was told");
                    fine += u64::from(sent.fine && answer.starts_with(b"HTTP/1.1 200"));
                }
                fine
            })
        })
        .collect::<Vec<_>>()
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .sum();
    // A body that comes very slowly holds up nobody else.
    let mut slow = TcpStream::connect(&up.address).unwrap();
    let head = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: 5000\r\n\r\n{{",
        agency.token
    );
    slow.write_all(head.as_bytes()).unwrap();
    let answer = post(&up.address, CHAT, &agency.token, "", &body(&mut Dice(1), "fine"));
    assert_eq!(answer.status, 200, "{}", answer.body);
    drop(slow);
    let life = agency.settled();
    let heard = upstream.heard();
    println!("counted: {requests} hostile requests, {fine} of them harmless and answered, passed on {heard:?}");
    assert!(heard.keys().all(|user| user == "fine" || user == "once"), "{heard:?}");
    assert_eq!(heard.get("once").copied().unwrap_or_default(), 5, "each key is paid once");
    assert_eq!(upstream.calls(), life.calls().made, "each is on record, and none twice");
    assert_eq!(life.calls().spent, Usdc::micros(upstream.worth() as i64));
    assert!(upstream.keys_seen() && fine > requests / 20, "{fine}");
    up.stop();
    let log = std::fs::read_to_string(agency.tent.folder.path().join("log")).unwrap();
    assert!(!log.contains(KEY) && !log.contains("panicked"), "{log}");
    agency.tent.verified("ada");
}
