//! Orders over the API: each is carried out once, whatever becomes of its answer, and what has begun is never said to
//! have been given up.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::common::Tent;
use crate::common::host::Host;
use golem::Usdc;
use serde_json::{Value, json};
use testing::wait::until;

fn lines(tent: &Tent, kind: &str) -> usize {
    let entries = tent.home().treasury().unwrap().entries(1_000).unwrap();
    entries.iter().filter(|entry| entry.kind == kind).count()
}

/// A client that had no answer sent `fund` again, and the treasury paid twice: an order over HTTP had nothing to be known
/// by. Now the same key is the same order, also to the next host.
#[test]
fn an_order_is_carried_out_once_however_often_it_is_sent() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let (births, host) = (lines(&tent, "sent"), Host::up(&tent, "400"));
    let ada = |verb: &str| format!("/v1/golems/ada/{verb}");
    let fund = |host: &Host| host.order(&ada("fund"), Some("pay-1"), r#"{"credit":5000000}"#);
    let withdraw = |host: &Host| host.order(&ada("withdraw"), Some("back-1"), r#"{"from":"credit","amount":3000000}"#);
    let first = (fund(&host), withdraw(&host));
    assert_eq!(first.0, (200, json!({ "done": true, "waiting": false, "key": "pay-1" })));
    assert_eq!(first.1.0, 200, "{first:?}");
    for _ in 0..5 {
        assert_eq!((fund(&host), withdraw(&host)), first);
    }
    // What was refused stays refused, also when it could be done by now.
    let refused = host.order(&ada("withdraw"), Some("back-2"), r#"{"from":"credit","amount":900000000}"#);
    assert_eq!(refused.0, 409, "{refused:?}");
    host.order(&ada("fund"), None, r#"{"credit":1000000}"#);
    assert_eq!(host.order(&ada("withdraw"), Some("back-2"), r#"{"from":"credit","amount":900000000}"#), refused);

    // A key is for one order.
    let (status, why) = host.order(&ada("fund"), Some("pay-1"), r#"{"credit":6000000}"#);
    assert_eq!(status, 422, "{why}");
    assert_eq!(host.order(&ada("pause"), Some("pay-1"), "").0, 422);
    assert_eq!(host.order(&ada("pause"), Some(&"x".repeat(65)), "").0, 400);

    // To freeze again under an old key freezes nobody who was thawed since.
    assert_eq!(host.order(&ada("freeze"), Some("stop-1"), "").0, 200, "as one would type it");
    assert_eq!(host.order(&ada("resume"), Some("go-1"), "").0, 200);
    assert_eq!(host.order(&ada("freeze"), Some("stop-1"), "").0, 200);
    assert_eq!(host.get("/v1/golems/ada")["status"]["state"], "living");
    let stands = host.get("/v1/golems/ada/orders/pay-1");
    assert_eq!((&stands["order"], &stands["done"], &stands["waiting"]), (&json!("fund"), &json!(true), &json!(false)));
    assert!(host.get("/v1/golems/ada/orders/back-2")["refused"].is_string());

    // Thirty-two other orders later, more than a life remembers, and to the next host after a kill.
    for n in 0..40 {
        host.order(&ada(if n % 2 == 0 { "pause" } else { "resume" }), None, "");
    }
    drop(host);
    let host = Host::up(&tent, "400");
    assert_eq!((fund(&host), withdraw(&host)), first);
    drop(host);
    assert_eq!((lines(&tent, "sent") - births, lines(&tent, "received")), (2, 1));
    assert_eq!(tent.verified("ada").life().purse().given, Usdc::micros(16_000_000));
}

/// After thirty seconds the API said 408, and the order was carried out all the same. Whoever waits now hears that it
/// waits, and where to ask.
#[test]
fn what_has_begun_is_never_reported_as_given_up() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let births = lines(&tent, "sent");
    let host = Host::up(&tent, "1");
    // Somebody holds the treasury for longer than anyone waits for an answer.
    let treasury = rusqlite::Connection::open(tent.root().join("treasury.db")).unwrap();
    treasury.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (status, waits) = host.order("/v1/golems/ada/fund", Some("slow"), r#"{"credit":5000000}"#);
    assert_eq!((status, waits["waiting"].as_bool()), (202, Some(true)), "{waits}");
    assert_eq!(host.get("/v1/golems/ada/orders/slow")["waiting"], true);
    treasury.execute_batch("ROLLBACK").unwrap();
    until("it was promised", || host.get("/v1/golems/ada/orders/slow")["done"] == true);
    let (status, done) = host.order("/v1/golems/ada/fund", Some("slow"), r#"{"credit":5000000}"#);
    assert_eq!((status, done["done"].as_bool()), (200, Some(true)), "{done}");
    drop(host);
    assert_eq!(lines(&tent, "sent") - births, 1);
}

/// Sixty dashboards that went on from the first record of a long life once kept everyone else waiting for half a minute,
/// a freeze included.
#[test]
fn an_order_never_waits_for_those_who_read() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "3000"]);
    let host = Host::up(&tent, "1");
    let ask = |path: &str, more: &str| {
        let mut socket = TcpStream::connect(&host.address).unwrap();
        let (to, token) = (&host.address, &host.token);
        let text = format!("GET {path} HTTP/1.1\r\nhost: {to}\r\nauthorization: Bearer {token}\r\n{more}\r\n");
        socket.write_all(text.as_bytes()).unwrap();
        socket
    };
    let listeners: Vec<TcpStream> =
        (0..60).map(|_| ask("/v1/golems/ada/events?all=true", "last-event-id: 0.0\r\n")).collect();
    let readers: Vec<TcpStream> = (0..60).map(|_| ask("/v1/golems/ada?inner=true", "")).collect();
    let began = Instant::now();
    assert_eq!(host.order("/v1/golems/ada/freeze", None, "").0, 200);
    let took = began.elapsed();
    println!("a freeze beside 60 listeners and 60 readers took {took:?}");
    assert!(took < Duration::from_secs(3), "{took:?}");
    drop((listeners, readers));
}

/// The emergency call, as one would type it, was answered with 415.
#[test]
fn what_may_be_left_out_may_be_left_out_altogether() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "new", "cyd", "--seed", "3", "--credit", "0.5", "--set", "succession.min_divergence=1"]);
    tent.ok(["golem", "run", "cyd", "--speed", "max"]);
    let host = Host::up(&tent, "1");
    for (path, body, expected) in [
        ("ada/freeze", "", 200),
        ("ada/resume", "", 200),
        ("ada/freeze", "{}", 200),
        ("ada/freeze", "{", 400),
        ("ada/freeze", r#"{"why":"x"}"#, 422),
        ("ada/retire", "", 422),
        ("ada/fund", "", 400),
        ("cyd/successor", "", 409),
    ] {
        let (status, told) = host.order(&format!("/v1/golems/{path}"), None, body);
        assert_eq!(status, expected, "{path} {body}: {told}");
        assert!(!told.to_string().contains("--"), "no flags of a command line: {told}");
    }
    let token = format!("Bearer {}", host.token);
    let form = [("authorization", token.as_str()), ("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(host.ask("POST", "/v1/golems/ada/freeze", &form, "reason=x").0, 415);
    // An heir is made once, too.
    let make = || host.order("/v1/golems/cyd/successor", Some("heir"), r#"{"inherit":false}"#);
    let (status, heir) = make();
    assert_eq!((status, heir["name"].as_str()), (200, Some("cyd-2")), "{heir}");
    assert_eq!(make(), (200, heir));
    assert_eq!(host.get("/v1/golems/cyd/lineage").as_array().map(Vec::len), Some(2));
    let stands: Value = host.get("/v1/golems/cyd/orders/heir");
    assert_eq!(stands["heir"], "cyd-2");
}
