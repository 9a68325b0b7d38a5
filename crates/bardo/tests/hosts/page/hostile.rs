//! Somebody who is not the owner: pages elsewhere that make a browser ask, names that point here, links and cookies that
//! are guessed, replayed or mangled, and words that would like to be markup.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::{Browser, link};
use crate::common::host::Host;
use crate::common::{Tent, full};

/// Numbers that look random and can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.roll(all.len())]
    }
}

/// A connection that is used again and again.
struct Wire {
    address: String,
    socket: Option<BufReader<TcpStream>>,
}

impl Wire {
    /// The status, the headers and the body; status 0 if it was hung up on.
    fn ask(&mut self, request: &str) -> (u16, String, String) {
        let socket = self.socket.get_or_insert_with(|| {
            let socket = TcpStream::connect(&self.address).unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            BufReader::new(socket)
        });
        let answer = exchange(socket, request);
        if answer.as_ref().is_none_or(|(_, head, _)| head.contains("connection: close")) {
            self.socket = None;
        }
        answer.unwrap_or_default()
    }
}

fn exchange(socket: &mut BufReader<TcpStream>, request: &str) -> Option<(u16, String, String)> {
    socket.get_mut().write_all(request.as_bytes()).ok()?;
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if socket.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    socket.read_exact(&mut body).ok()?;
    Some((head.split(' ').nth(1)?.parse().ok()?, head, String::from_utf8_lossy(&body).into_owned()))
}

const ORDERS: [(&str, &str); 7] = [
    ("/v1/golems/ada/freeze", "{}"),
    ("/v1/golems/ada/retire", r#"{"confirm":"ada"}"#),
    ("/v1/golems/ada/fund", r#"{"credit":1000000}"#),
    ("/v1/golems/ada/withdraw", r#"{"from":"capital","amount":1000000}"#),
    ("/v1/golems", r#"{"name":"evil"}"#),
    ("/v1/pause", ""),
    ("/v1/session/end", ""),
];
const READS: [&str; 6] =
    ["/v1/golems", "/v1/fleet", "/v1/golems/ada", "/v1/golems/ada/events", "/v1/golems/ada/pictures", "/v1/births"];

#[test]
fn nobody_else_gets_in_or_has_anything_done() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    // So slow that whatever changes has been done by somebody.
    let host = Host::up(&tent, "0.001");
    let own = format!("http://{}", host.address);
    // A browser that is signed in, whose cookie everybody here would like to use.
    let mut wire = Wire { address: host.address.clone(), socket: None };
    let code = link(&tent, &host).rsplit('=').next().unwrap().to_owned();
    let address = host.address.clone();
    let post = |path: &str, headers: &str, body: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let sign_in = post("/v1/session", &format!("origin: {own}\r\n"), &json!({ "code": code }).to_string());
    let (status, head, body) = wire.ask(&sign_in);
    assert_eq!(status, 200);
    let key = serde_json::from_str::<serde_json::Value>(&body).unwrap()["key"].as_str().unwrap().to_owned();
    for part in ["httponly", "samesite=strict", "path=/"] {
        assert!(head.contains(part), "{head}");
    }
    let cookie = head.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap().to_owned();
    let mine = format!("cookie: {cookie}\r\nbardo-page: {key}\r\norigin: {own}\r\nsec-fetch-site: same-origin\r\n");
    let get = |path: &str, headers: &str| format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{headers}\r\n");
    assert_eq!(wire.ask(&get("/v1/fleet", &mine)).0, 200, "the owner's own browser gets in");
    let (tokens, before) =
        (std::fs::read(tent.root().join("tokens")).unwrap(), host.get("/v1/golems/ada")["records"].clone());
    let (all, mut dice, mut refused) = (full(100_000, 3_000), Dice(0x5eed), 0_u64);
    for nth in 0..all {
        let (request, done_if) = attack(&mut dice, &address, &own, (&cookie, &key), &code);
        let (status, head, body) = wire.ask(&request);
        assert!(!(200..300).contains(&status), "attempt {nth} was let in ({done_if}): {request}\n{head}{body}");
        assert!(!head.contains("access-control-allow-origin: https://evil"), "{request}\n{head}");
        assert!(
            !body.contains("credit") && !body.contains("vitality"),
            "attempt {nth} was told something: {request}\n{body}"
        );
        refused += 1;
    }
    println!("counted: {refused} hostile requests: 0 let in, 0 done");
    assert_eq!(host.get("/v1/golems/ada")["records"], before, "nothing was done to anybody");
    assert_eq!(host.get("/v1/golems").as_array().unwrap().len(), 1, "nobody was born");
    assert_eq!(std::fs::read(tent.root().join("tokens")).unwrap(), tokens, "nobody has signed in or out");
    assert_eq!(wire.ask(&get("/v1/fleet", &mine)).0, 200, "the owner is still in");
}

/// One request that must come to nothing, and what it tries.
///
/// Whoever is elsewhere even has both halves of what the owner's browser sends; whoever listens on another port has one.
fn attack(dice: &mut Dice, address: &str, own: &str, (half, key): (&str, &str), code: &str) -> (String, &'static str) {
    let cookie = format!("{half}\r\nbardo-page: {key}");
    let origins = [
        "https://evil.example",
        "null",
        "http://evil.example:80",
        "http://127.0.0.1:1",
        "http://localhost.evil.example",
        "file://",
    ];
    let hosts = ["evil.example", "evil.example:7373", "127.0.0.1.evil.example", "localhost@evil.example", ""];
    let (path, body) = ORDERS[dice.roll(ORDERS.len())];
    let read = dice.of(&READS);
    let kind = dice.of(&["application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]);
    let origin = dice.of(&origins);
    let site = dice.of(&["cross-site", "same-site"]);
    let post = |host: &str, headers: &str, body: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: {kind}\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let get = |path: &str, host: &str, headers: &str| format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n");
    match dice.roll(12) {
        0 => (
            post(address, &format!("cookie: {cookie}\r\norigin: {origin}\r\n"), body),
            "a page elsewhere orders with the owner's cookie",
        ),
        1 => (post(address, &format!("cookie: {cookie}\r\n"), body), "an order that does not say where it comes from"),
        2 => (
            post(address, &format!("cookie: {cookie}\r\norigin: {own}\r\nsec-fetch-site: {site}\r\n"), body),
            "an order whose browser says it is from elsewhere",
        ),
        3 => (
            get(read, address, &format!("cookie: {cookie}\r\nsec-fetch-site: {site}\r\n")),
            "a page elsewhere reads with the owner's cookie",
        ),
        4 => (get(read, address, &format!("cookie: {cookie}\r\norigin: {origin}\r\n")), "the same from an old browser"),
        5 => (get(read, dice.of(&hosts), &format!("cookie: {cookie}\r\n")), "a name that points here"),
        6 => {
            let host = dice.of(&hosts);
            (post(host, &format!("cookie: {cookie}\r\norigin: http://{host}\r\n"), body), "the same, ordering")
        }
        7 => {
            let guess = match dice.roll(5) {
                0 => code.to_owned(),
                1 => format!("{:032x}", dice.0),
                2 => code.to_uppercase(),
                3 => "../owner.key".to_owned(),
                _ => "0".repeat(dice.roll(5_000)),
            };
            let body = json!({ "code": guess }).to_string();
            let request = format!(
                "POST /v1/session HTTP/1.1\r\nhost: {address}\r\norigin: {own}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            (request, "a link that is used up or guessed")
        }
        8 => {
            let (name, value) = half.split_once('=').unwrap();
            let forged = match dice.roll(7) {
                0 => format!("{name}={}", &value[1..]),
                1 => format!("{name}={}", value.to_uppercase()),
                2 => format!("{name}2={value}"),
                3 => format!("{name}=x; {name}={value}"),
                4 => format!("{name}=\"{value}\""),
                5 => format!("{name}={value}{key}"),
                _ => format!("{name}={:032x}", dice.0),
            };
            let headers = format!("cookie: {forged}\r\nbardo-page: {key}\r\norigin: {own}\r\n");
            (get(read, address, &headers), "a cookie that is forged")
        }
        9 => {
            let value = half.split_once('=').unwrap().1;
            let only = match dice.roll(4) {
                0 => format!("cookie: {half}"),
                1 => format!("bardo-page: {key}"),
                2 => format!("authorization: Bearer {value}"),
                _ => format!("cookie: {half}\r\nbardo-page: {:032x}", dice.0),
            };
            let headers = format!("{only}\r\norigin: {own}\r\nsec-fetch-site: same-origin\r\n");
            (post(address, &headers, body), "one half, which every port of this machine is sent")
        }
        10 => {
            let paths = [
                "/page/../tokens",
                "/page/..%2ftokens",
                "/page/%2e%2e/api-token",
                "/page/uPlot.js%00",
                "/page//etc/passwd",
                "/v1/../page/x",
                "//v1/fleet",
                "/page/..",
            ];
            (get(dice.of(&paths), address, ""), "a file that is not of the page")
        }
        _ => (
            format!(
                "OPTIONS {path} HTTP/1.1\r\nhost: {address}\r\norigin: {origin}\r\naccess-control-request-method: POST\r\n\r\n"
            ),
            "a page elsewhere asks whether it may",
        ),
    }
}

/// Everything somebody else can have said of a golem, written as if it were part of the page.
#[test]
fn what_anybody_wrote_is_shown_and_never_runs() {
    let Some(mut browser) = Browser::open() else { return };
    const TRAP: &str = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>\u{1b}[31m&lt;b&gt; javascript:alert(1)";
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "new", "bob", "--seed", "2"]);
    let host = Host::up(&tent, "100");
    assert_eq!(host.post("/v1/golems/ada/strategy", &json!({ "strategy": TRAP })).0, 200);
    assert_eq!(host.post("/v1/golems/ada/freeze", &json!({ "reason": TRAP })).0, 200);
    assert_eq!(host.post("/v1/golems/bob/retire", &json!({ "confirm": "bob", "reason": TRAP })).0, 200);
    browser.tell("open", json!({ "link": link(&tent, &host) }));
    for (hash, has) in [
        ("#/golems/ada/events", "onerror"),
        ("#/golems/bob", "onerror"),
        ("#/golems/bob/left", "onerror"),
        ("#/graves", "onerror"),
        ("#/golems/%3Cimg%20src%3Dx%20onerror%3Ddocument.title%3D%27owned%27%3E", "no golem"),
    ] {
        let text = browser.visit(hash, &[has]);
        assert!(!text.contains('\u{1b}'), "{hash}: {text}");
        for selector in ["main img", "main script", "main b b", "main iframe"] {
            assert_eq!(browser.tell("has", json!({ "selector": selector }))["count"], 0, "{hash} {selector}");
        }
    }
    let told = browser.tell("told", json!({}));
    let wrong: Vec<&str> = told["wrong"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|text| text.as_str())
        .filter(|text| !text.contains("404"))
        .collect();
    assert_eq!(wrong, [] as [&str; 0], "nothing was even refused: nothing tried to run");
    assert_eq!(told["elsewhere"], json!([]));
}
