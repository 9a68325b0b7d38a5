//! Who may do what: every route of the API with a token of every scope and with none, pages of other origins, and a
//! token that is taken back while its holder listens.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::common::host::Host;
use crate::common::{Tent, text};
use serde_json::Value;

/// A host that is asked with whatever token, or none.
struct Door(Host);

impl Door {
    fn up(tent: &Tent) -> Door {
        Door(Host::up(tent, "1"))
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut socket = TcpStream::connect(&self.0.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.0.address);
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        request += &format!("content-length: {}\r\n\r\n{body}", body.len());
        socket.write_all(request.as_bytes()).unwrap();
        socket
    }

    /// The status, and everything that was answered.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut socket = self.send(method, path, headers, body);
        let mut answer = Vec::new();
        if path.ends_with("/events") {
            // A stream does not end; that it begins is enough.
            let mut some = [0; 512];
            let read = socket.read(&mut some).unwrap();
            answer.extend(&some[..read]);
        } else {
            let _ = socket.read_to_end(&mut answer);
        }
        let answer = text(&answer);
        (answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0), answer.to_lowercase())
    }

    fn asked_with(&self, token: &str, method: &str, path: &str, body: &str) -> u16 {
        let bearer = format!("Bearer {token}");
        self.ask(method, path, &[("authorization", &bearer), ("content-type", "application/json")], body).0
    }
}

fn token(tent: &Tent, verb: &str, name: &str, scope: &[&str]) -> String {
    tent.ok(["token", verb, name].iter().chain(scope)).trim().to_owned()
}

const SCOPES: [&str; 4] = ["read", "answer", "order", "all"];

/// One token opened everything, the reading of figures included.
#[test]
fn every_route_opens_to_the_scope_it_needs_and_to_no_lesser_one() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let host = Door::up(&tent);
    // Made while it is up: nothing has to be started again.
    let tokens: Vec<String> = SCOPES.iter().map(|scope| token(&tent, "new", scope, &["--scope", scope])).collect();
    let answer = host.ask("GET", "/openapi.json", &[], "").1;
    let document: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    let (mut operations, mut held) = (0, [0; 4]);
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap().iter().filter(|(_, one)| one["responses"].is_object()) {
            let (path, method) = (path.replace("{name}", "nobody").replace("{key}", "1"), method.to_uppercase());
            operations += 1;
            let scopes = &operation["security"][0]["token"];
            if scopes.is_null() {
                // Whoever signs in brings a link instead.
                let open = ["/health", "/ready", "/openapi.json", "/v1/session"];
                assert!(open.contains(&path.as_str()), "{path} is open to anyone");
                continue;
            }
            let needed = SCOPES.iter().position(|scope| scopes[0] == *scope).unwrap();
            held[needed] += 1;
            assert!(method != "GET" || needed == 0, "{path}: whatever is read needs to read and no more");
            for body in ["", "{}"] {
                assert_eq!(host.ask(&method, &path, &[], body).0, 401, "{method} {path} without a token");
                assert_eq!(host.asked_with("", &method, &path, body), 401, "{method} {path}");
                assert_eq!(host.asked_with(&"f".repeat(64), &method, &path, body), 401, "{method} {path}");
            }
            for (scope, token) in tokens.iter().enumerate() {
                let status = host.asked_with(token, &method, &path, "{}");
                let refused = matches!(status, 401 | 403);
                assert_eq!(refused, scope < needed, "{method} {path} with {}: {status}", SCOPES[scope]);
            }
        }
    }
    assert!(operations >= 20 && held.iter().all(|count| *count > 0), "{operations} operations, {held:?}");
    // And who may not is told what it would take.
    let told =
        host.ask("POST", "/v1/golems/ada/retire", &[("authorization", &format!("Bearer {}", tokens[2]))], "{}").1;
    assert!(told.contains("the scope all") && told.contains("the scope order"), "{told}");
    assert_eq!(host.asked_with(&tokens[2], "POST", "/v1/golems/ada/pause", ""), 200);
    assert!(tent.golem("ada").wake().unwrap().0.life().heartbeat().paused);
    assert_eq!(host.asked_with(&tokens[0], "GET", "/metrics", ""), 200);
}

#[test]
fn a_token_that_is_taken_back_opens_nothing_and_ends_what_it_opened() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let host = Door::up(&tent);
    let local = fs::read_to_string(tent.home().token()).unwrap();
    let first = token(&tent, "new", "dash", &["--scope", "read"]);
    assert!(tent.fails(6, ["token", "new", "dash", "--scope", "all"]).contains("rotate"));
    assert!(tent.ok(["token", "list"]).contains("dash"));
    let kept = fs::read_to_string(tent.root().join("tokens")).unwrap();
    assert!(!kept.contains(&first) && !tent.ok(["--json", "token", "list"]).contains("hash"), "{kept}");
    assert_eq!(host.asked_with(&first, "GET", "/v1/golems", ""), 200);
    let mut listener = host.send("GET", "/v1/golems/ada/events", &[("authorization", &format!("Bearer {first}"))], "");
    let mut some = [0; 64];
    assert!(listener.read(&mut some).unwrap() > 0);
    let second = token(&tent, "rotate", "dash", &[]);
    assert_eq!(host.asked_with(&first, "GET", "/v1/golems", ""), 401);
    assert_eq!(host.asked_with(&second, "GET", "/v1/golems", ""), 200);
    let began = Instant::now();
    let _ = listener.read_to_end(&mut Vec::new());
    assert!(began.elapsed() < Duration::from_secs(20), "it goes on listening with a token that was taken back");
    tent.ok(["token", "revoke", "dash"]);
    assert_eq!(host.asked_with(&second, "GET", "/v1/golems", ""), 401);
    assert!(tent.fails(6, ["token", "revoke", "dash"]).contains("token list"));
    let anew = token(&tent, "rotate", "local", &[]);
    assert_eq!(host.asked_with(&local, "GET", "/v1/golems", ""), 401);
    assert_eq!(host.asked_with(&anew, "GET", "/v1/golems", ""), 200);
    assert_eq!(fs::read_to_string(tent.home().token()).unwrap(), anew);
}

/// With `api.origins` set the preflight of that very page got 401, and no answer said that it might be read: no page
/// was ever let in.
#[test]
fn a_page_its_owner_named_may_talk_to_the_api_and_no_other() {
    let tent = Tent::new();
    fs::write(tent.home().config(), "[api]\norigins = \"https://mine.example\"\n").unwrap();
    let host = Door::up(&tent);
    let local = format!("Bearer {}", fs::read_to_string(tent.home().token()).unwrap());
    let asks = [("access-control-request-method", "POST"), ("access-control-request-headers", "authorization")];
    let mine = ("origin", "https://mine.example");
    let (status, answer) = host.ask("OPTIONS", "/v1/golems/ada/fund", &[mine, asks[0], asks[1]], "");
    assert_eq!(status, 204, "{answer}");
    for header in [
        "access-control-allow-origin: https://mine.example",
        "access-control-allow-methods: get, post",
        "access-control-allow-headers: authorization",
        "vary: origin",
    ] {
        assert!(answer.contains(header), "{header} in {answer}");
    }
    for (headers, expected) in [(vec![mine, ("authorization", local.as_str())], 200), (vec![mine], 401)] {
        let (status, answer) = host.ask("GET", "/v1/golems", &headers, "");
        assert_eq!(status, expected);
        assert!(answer.contains("access-control-allow-origin: https://mine.example"), "{answer}");
    }
    for origin in ["https://evil.example", "null", "https://mine.example.evil", "http://mine.example"] {
        for (method, headers) in [("OPTIONS", asks.to_vec()), ("GET", vec![("authorization", local.as_str())])] {
            let headers: Vec<_> = headers.into_iter().chain([("origin", origin)]).collect();
            let (status, answer) = host.ask(method, "/v1/golems", &headers, "");
            assert_eq!(status, 403, "{method} {origin}");
            assert!(!answer.contains("access-control-allow"), "{answer}");
        }
    }
    let (_, plain) = host.ask("GET", "/v1/golems", &[("authorization", &local)], "");
    assert!(!plain.contains("access-control-allow"), "{plain}");
}
