//! Servers that misbehave, each played by a listener that says one wrong thing: every one ends in an error that
//! names what to do, none in vectors.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::{Embedder, Error, Served, ServedConfig};

/// Cargo sets it for every test, so it can stand in for a key that is set.
const VARIABLE: &str = "CARGO_PKG_NAME";
const SECRET: &str = env!("CARGO_PKG_NAME");

/// Answers one request by `act` and gives back what was asked.
fn listener(act: impl FnOnce(&mut TcpStream) + Send + 'static) -> (ServedConfig, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let start = head.len();
            reader.read_line(&mut head).unwrap();
            let line = head[start..].trim().to_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        act(&mut stream);
        head + &String::from_utf8(body).unwrap()
    });
    (ServedConfig { url, ..ServedConfig::default() }, asked)
}

fn reply(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn saying(status: &str, headers: &str, body: &str) -> ServedConfig {
    let reply = reply(status, headers, body);
    listener(move |stream| stream.write_all(reply.as_bytes()).unwrap()).0
}

/// Meets a greeting in TLS with plain text.
fn listener_that_never_encrypts() -> ServedConfig {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    thread::spawn(move || listener.accept().unwrap().0.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap());
    ServedConfig { url, ..ServedConfig::default() }
}

fn error(config: &ServedConfig) -> Error {
    Served::open(config).unwrap().embed(&["one", "two"]).unwrap_err()
}

fn check_nonsense(body: &str, word: &str) {
    let error = error(&saying("200 OK", "", body));
    assert!(matches!(&error, Error::Nonsense { why, .. } if why.contains(word)), "{error}");
}

#[test]
fn answers_that_are_no_embeddings_are_never_used() {
    check_nonsense(r#"{"data":[{"index":0,"embedding":[1,0]}]}"#, "1 vectors came for 2 texts");
    check_nonsense(r#"{"data":[{"index":0,"embedding":[NaN]},{"index":1,"embedding":[1]}]}"#, "form");
    check_nonsense(r#"{"data":[{"index":0,"embedding":[null]},{"index":1,"embedding":[1]}]}"#, "not a number");
    check_nonsense(r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#, "two vectors");
    check_nonsense(r#"{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,0]}]}"#, "1 and of 2");
    check_nonsense("<html>It works!</html>", "form");
}

#[test]
fn the_request_is_what_an_openai_compatible_server_expects_and_keyless_unless_told() {
    let body = r#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[2,0]}]}"#;
    for key_env in [None, Some(VARIABLE.to_owned())] {
        let keyed = key_env.is_some();
        let (config, asked) = listener(move |stream| stream.write_all(reply("200 OK", "", body).as_bytes()).unwrap());
        let served = Served::open(&ServedConfig { key_env, ..config }).unwrap();
        assert_eq!(served.embed(&["one", "two"]).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
        let asked = asked.join().unwrap();
        assert!(asked.starts_with("POST /v1/embeddings HTTP/1.1\r\n"), "{asked}");
        assert!(asked.ends_with(r#"{"model":"nomic-embed-text","input":["one","two"]}"#), "{asked}");
        assert_eq!(asked.contains(&format!("authorization: Bearer {SECRET}\r\n")), keyed, "{asked}");
    }
}

#[test]
fn a_refused_key_is_named_and_never_shown_even_if_the_server_repeats_it() {
    let echo = format!(r#"{{"error":{{"message":"bad key {SECRET}"}}}}"#);
    for status in ["401 Unauthorized", "403 Forbidden", "404 Not Found", "400 Bad Request", "500 Oops", "302 Found"] {
        let config = ServedConfig {
            key_env: Some(VARIABLE.to_owned()),
            ..saying(status, &format!("location: /{SECRET}\r\n"), &echo)
        };
        let served = Served::open(&config).unwrap();
        let error = served.embed(&["one"]).unwrap_err();
        let shown = format!("{error} {error:?} {served:?} {config:?}");
        assert!(!shown.contains(SECRET), "{shown}");
        assert_eq!(matches!(error, Error::Denied { .. }), ["401", "403"].contains(&&status[..3]), "{shown}");
    }
    let keyless = error(&saying("401 Unauthorized", "", ""));
    assert!(keyless.to_string().contains("name the environment variable"), "{keyless}");
    let unset = ServedConfig { key_env: Some("BARDO_NO_SUCH_KEY".to_owned()), ..ServedConfig::default() };
    assert!(matches!(Served::open(&unset), Err(Error::Key { .. })));
}

#[test]
fn an_unknown_model_is_named_together_with_what_the_server_says() {
    let error = error(&saying("404 Not Found", "", r#"{"error":{"message":"try pulling it first"}}"#));
    assert!(matches!(&error, Error::Unknown { model, .. } if model == "nomic-embed-text"));
    assert!(error.to_string().contains("try pulling it first"), "{error}");
}

#[test]
fn a_server_at_its_limit_says_when_to_come_back() {
    let cases = [("7", Some(7)), ("99999999999", Some(86_400)), ("Wed, 21 Oct 2026 07:28:00 GMT", None)];
    for (header, seconds) in cases {
        let error = error(&saying("429 Too Many Requests", &format!("Retry-After: {header}\r\n"), ""));
        let expected = seconds.map(Duration::from_secs);
        assert!(matches!(error, Error::Busy { status: 429, retry_after, .. } if retry_after == expected), "{error}");
    }
    let loading = error(&saying("503 Service Unavailable", "", r#"{"error":{"message":"Loading model"}}"#));
    assert!(matches!(loading, Error::Busy { status: 503, retry_after: None, .. }), "{loading}");
}

#[test]
fn illness_of_the_server_and_faults_of_the_request_are_told_apart() {
    let ill = error(&saying("500 Internal Server Error", "", "out of memory"));
    assert!(matches!(&ill, Error::Failed { status: 500, says, .. } if says == "out of memory"), "{ill}");
    let fault = error(&saying("400 Bad Request", "", r#"{"error":"input is too long"}"#));
    assert!(matches!(&fault, Error::Rejected { status: 400, says, .. } if says == "input is too long"), "{fault}");
}

#[test]
fn a_redirect_is_reported_and_not_followed() {
    let error = error(&saying("302 Found", "Location: http://elsewhere.example/v1\r\n", ""));
    assert!(matches!(error, Error::Config { .. }) && error.to_string().contains("elsewhere.example"), "{error}");
}

#[test]
fn nobody_there_and_connections_closed_early_are_no_answer() {
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = error(&ServedConfig { url: format!("http://{unused}"), ..ServedConfig::default() });
    assert!(matches!(nobody, Error::Unreachable { .. }) && nobody.to_string().contains("refused"), "{nobody}");
    let silent = error(&listener(|_| {}).0);
    assert!(matches!(silent, Error::Cut { .. }) && silent.may_have_cost() && !nobody.may_have_cost(), "{silent}");
    let half = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"data\":[";
    let cut = error(&listener(move |stream| stream.write_all(half.as_bytes()).unwrap()).0);
    assert!(matches!(cut, Error::Cut { .. }), "{cut}");
    let garbage = error(&listener(|stream| stream.write_all(b"220 mail.example ESMTP\r\n").unwrap()).0);
    assert!(matches!(garbage, Error::Cut { .. }), "{garbage}");
    let plain = error(&listener_that_never_encrypts());
    assert!(matches!(plain, Error::Unreachable { .. }), "{plain}");
}

#[test]
fn a_server_that_is_slow_or_drips_is_left_in_time() {
    let check_left = |act: fn(&mut TcpStream)| {
        let started = Instant::now();
        let error = error(&ServedConfig { timeout: Duration::from_millis(400), ..listener(act).0 });
        assert!(matches!(error, Error::Slow { .. }), "{error}");
        assert!(started.elapsed() < Duration::from_secs(20));
    };
    check_left(|_| thread::sleep(Duration::from_secs(60)));
    check_left(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(50));
        }
    });
}

#[test]
fn an_endless_answer_is_not_read_to_its_end() {
    let endless = |stream: &mut TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
        while stream.write_all(&[b' '; 64 << 10]).is_ok() {}
    };
    let error = error(&listener(endless).0);
    assert!(matches!(&error, Error::Nonsense { why, .. } if why.contains("longer")), "{error}");
}

#[test]
fn vectors_of_another_length_than_before_are_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for vector in ["[1,0]", "[1,0,0]"] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4_096];
            let _ = stream.read(&mut request).unwrap();
            let body = format!(r#"{{"data":[{{"index":0,"embedding":{vector}}}]}}"#);
            stream.write_all(reply("200 OK", "", &body).as_bytes()).unwrap();
        }
    });
    let served = Served::open(&ServedConfig { url, ..ServedConfig::default() }).unwrap();
    assert_eq!(served.embed(&["one"]).unwrap(), [[1.0, 0.0]]);
    assert!(matches!(served.embed(&["two"]), Err(Error::Dimensions { known: 2, got: 3, .. })));
    assert_eq!(served.dimensions(), Some(2));
}

#[test]
fn settings_that_cannot_work_are_refused_before_anything_is_asked() {
    let fine = ServedConfig::default;
    let wrong = [
        ServedConfig { url: "http://embeddings.example.com".to_owned(), ..fine() },
        ServedConfig { model: " ".to_owned(), ..fine() },
        ServedConfig { batch: 0, ..fine() },
        ServedConfig { batch: crate::BATCH + 1, ..fine() },
        ServedConfig { timeout: Duration::ZERO, ..fine() },
    ];
    for config in wrong {
        assert!(matches!(Served::open(&config), Err(Error::Config { .. } | Error::Tariff(_))), "{config:?}");
    }
    Served::open(&fine()).unwrap();
    Served::open(&ServedConfig { url: "https://embeddings.example.com".to_owned(), ..fine() }).unwrap();
}
