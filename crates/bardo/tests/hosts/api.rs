//! The API of a host that is up: what it tells, whom it lets in, and that nothing a client does reaches a golem.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::host::{Host, small_window};
use crate::common::{Dice, Tent, full};
use serde_json::{Value, json};
use testing::wait::{found, until, within};

#[test]
fn a_life_is_told_in_words_and_an_heir_is_made_of_what_was_left() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1", "--set", "mortality.mode=hosted"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "300"]);
    tent.ok(["golem", "new", "cyd", "--seed", "3", "--credit", "0.5", "--set", "mortality.mode=hosted"]);
    tent.ok(["golem", "run", "cyd", "--speed", "max"]);
    let host = Host::up(&tent, "1");
    let told = &host.get("/v1/golems/ada")["told"];
    assert_eq!(told["clocks"][0]["name"], "money", "{told}");
    assert!(told["clocks"][0]["says"].as_str().unwrap().starts_with("enough for"), "{told}");
    assert!(told["money"]["held"].is_f64(), "what holding would have come to: {told}");
    assert_eq!(told["skills"].as_array().unwrap().len(), 4, "{told}");
    let (status, why) = host.post("/v1/golems/ada/successor", &json!({}));
    assert_eq!(status, 409, "only the dead have heirs: {why}");
    let left = host.get("/v1/golems/cyd/estate");
    assert_eq!((left["next_name"].as_str(), left["credit"].as_i64()), (Some("cyd-2"), Some(500_000)), "{left}");
    let counted = |key: &str| left[key].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum::<u64>();
    assert!(counted("before") > 0 && counted("before") == counted("after"), "{left}");
    let (status, heir) = host.post("/v1/golems/cyd/successor", &json!({ "credit": 2_000_000, "inherit": true }));
    assert_eq!((status, heir["name"].as_str(), heir["generation"].as_u64()), (200, Some("cyd-2"), Some(1)), "{heir}");
    let (status, why) = host.post("/v1/golems/cyd/successor", &json!({ "name": "cyd-2" }));
    assert_eq!(status, 409, "the name is taken: {why}");
    assert_eq!(host.get("/v1/golems/cyd-2?inner=true")["life"]["purse"]["given"], 2_000_000);
}

/// A golem retired over the API had an heir a moment later, if its line went on by itself.
#[test]
fn whoever_is_retired_over_the_api_has_no_heir_that_nobody_asked_for() {
    let tent = Tent::new();
    let line = ["--set", "succession.auto=true", "--set", "succession.min_divergence=0"];
    tent.ok(["golem", "new", "ada", "--seed", "1"].iter().chain(&line));
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "300"]);
    let host = Host::up(&tent, "400");
    let (status, why) = host.post("/v1/golems/ada/retire", &json!({ "confirm": "ada", "reason": "enough" }));
    assert_eq!(status, 200, "{why}");
    let token = format!("Bearer {}", host.token);
    let estate = || host.ask("GET", "/v1/golems/ada/estate", &[("authorization", &token)], "");
    let left = found(Duration::from_secs(30), || estate().1, || Some(estate()).filter(|(status, _)| *status == 200));
    let left: Value = serde_json::from_str(&left.1).unwrap();
    assert_eq!(left["ended"], "retired by its owner (enough)", "{left}");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(host.get("/v1/golems/ada/lineage").as_array().unwrap().len(), 1, "nobody was born");
    // Whoever asks for one gets it, from what its predecessor was first given.
    let (status, heir) = host.post("/v1/golems/ada/successor", &json!({}));
    assert_eq!((status, heir["name"].as_str()), (200, Some("ada-2")), "{heir}");
}

#[test]
fn what_is_told_is_true_and_orders_are_obeyed() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "300"]);
    tent.ok(["golem", "new", "eve", "--seed", "2"]);
    let host = Host::up(&tent, "400");
    let all = host.get("/v1/golems");
    assert_eq!((all[0]["name"].as_str(), all.as_array().unwrap().len()), (Some("ada"), 2), "{all}");
    assert!(host.get("/v1/golems/ada")["status"]["tick"].as_u64().unwrap() >= 300);
    assert!(!host.get("/v1/golems/ada/memory?q=volatility").as_array().unwrap().is_empty());
    assert_eq!(host.get("/v1/golems/eve/dreams")["nights"], 0);
    assert_eq!(host.get("/v1/golems/eve/lineage")[0]["name"], "eve");
    let funded = host.post("/v1/golems/eve/fund", &json!({ "credit": 2_000_000 }));
    let key = funded.1["key"].as_str().unwrap().to_owned();
    assert_eq!(funded, (200, json!({ "done": true, "waiting": false, "key": key })));
    assert_eq!(host.get("/v1/golems/eve?inner=true")["life"]["purse"]["given"], 12_000_000);
    for (path, body, expected) in [
        ("/v1/golems/nobody/pause", json!({}), 404),
        ("/v1/golems/eve/fund", json!({ "credit": -1 }), 400),
        ("/v1/golems/eve/fund", json!({ "credit": 1, "x": 1 }), 422),
        ("/v1/golems/eve/fund", json!({ "credit": 900_000_000_000_i64 }), 409),
        ("/v1/golems/eve/retire", json!({ "confirm": "ada" }), 400),
        ("/v1/golems/eve/steer", json!({ "set": { "policy.nonsense": "1" } }), 400),
        ("/v1/golems/eve/steer", json!({ "set": { "policy.per_action": "0.05" } }), 200),
        ("/v1/golems/eve/freeze", json!({ "reason": "enough" }), 200),
        ("/v1/golems/eve/resume", json!({}), 200),
        ("/v1/golems/eve/pause", json!({}), 200),
        ("/v1/golems/eve/resume", json!({}), 200),
        ("/v1/golems/eve/retire", json!({ "confirm": "eve" }), 200),
        ("/v1/golems/eve/pause", json!({}), 409),
    ] {
        let (status, told) = host.post(path, &body);
        assert_eq!(status, expected, "{path} {body}: {told}");
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while host.get("/v1/golems/eve?inner=true")["life"]["death"]["progress"]["legacy"].is_null()
        && Instant::now() < deadline
    {
        std::thread::sleep(Duration::from_millis(50));
    }
    let testament = host.get("/v1/golems/eve/testament");
    assert!(testament.to_string().contains("eve"), "{testament}");
    let (status, told) =
        host.ask("GET", "/v1/golems/ada/testament", &[("authorization", &format!("Bearer {}", host.token))], "");
    assert_eq!(status, 409, "{told}");
}

/// Waits until something is asked, and gives it.
fn asked(host: &Host, after: u64) -> Value {
    found(
        Duration::from_secs(30),
        || "it never asks".to_owned(),
        || {
            let asks = host.get("/v1/golems/ada")["status"]["asks"].clone();
            asks["key"].as_u64().is_some_and(|key| key > after).then_some(asks)
        },
    )
}

#[test]
fn what_a_golem_asks_for_is_answered_by_its_owner_or_by_silence() {
    let tent = Tent::new();
    let told = tent.root().join("told");
    let text = format!("[notify]\ncommand = \"(cat; echo) >> {}\"\n", told.display());
    fs::write(tent.root().join("bardo.toml"), text).unwrap();
    let sets = ["mind.kind=reflex", "reflex.act_every=2", "policy.approve_above=0", "policy.approve_within=20m"];
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    tent.ok(["golem", "new", "ada", "--seed", "1"].into_iter().chain(sets));
    let host = Host::up(&tent, "400");

    let ask = asked(&host, 0);
    let key = ask["key"].as_u64().unwrap();
    let shown = tent.ok(["golem", "approve", "ada"]);
    assert!(shown.starts_with("ada asks: ") && shown.contains("for at most $25.00"), "{shown}");
    assert!(tent.ok(["golem", "show", "ada"]).contains("asks you"));
    let (status, why) = host.post("/v1/golems/ada/approve", &json!({ "key": key + 1, "yes": true }));
    assert_eq!(status, 409, "what was not asked cannot be answered: {why}");
    assert_eq!(host.post("/v1/golems/ada/approve", &json!({ "key": key, "yes": true })).0, 200);
    within(
        Duration::from_secs(10),
        || "it has a yes and does nothing with it".to_owned(),
        || host.get("/v1/golems/ada?inner=true")["life"]["day"]["actions"] != 0,
    );

    // The next one from the command line, and it is a no; and of the one after that nobody takes notice.
    let next = asked(&host, key)["key"].to_string();
    tent.ok(["golem", "approve", "ada", &next, "--deny"]);
    let refusal = tent.fails(6, ["golem", "approve", "ada", &next]);
    assert!(refusal.contains("shows what it asks for"), "{refusal}");
    let last = asked(&host, next.parse().unwrap())["key"].as_u64().unwrap();
    asked(&host, last);
    drop(host);
    let events = tent.ok(["--json", "golem", "events", "ada"]);
    let told_of = |what: &str| events.lines().filter(|line| line.contains(what)).count();
    assert_eq!((told_of("\"golem.approved\""), told_of("\"unapproved\"")), (1, 1));
    assert!(told_of("\"unanswered\"") >= 1 && told_of("\"golem.approval_needed\"") >= 4);
    let notes = fs::read_to_string(told).unwrap();
    let first = format!("`bardo golem approve ada {key}`, or --deny");
    assert_eq!(notes.lines().filter(|note| note.contains(&first)).count(), 1, "{notes}");
}

#[test]
fn a_listener_that_comes_back_misses_nothing() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let host = Host::up(&tent, "4000");
    let first = host.listen("/v1/golems/ada/events?all=true", Some("0.0"), 40);
    // Cut off in the middle of a record, and gone on from there.
    let cut = &first[12].0;
    let again = host.listen("/v1/golems/ada/events?all=true", Some(cut), 27);
    assert_eq!(again, first[13..], "from {cut}");
    assert_eq!(first[0].1, "golem.born");
    let live = host.listen("/v1/events?all=true", None, 10);
    assert!(live.iter().all(|(_, _, data)| data["golem"] == "ada"), "{live:?}");
    let more = host.listen("/v1/events?all=true", Some(&live[4].0), 5);
    assert_eq!(more, live[5..]);
    // An id nobody gave is not gone on from: what there is comes from the beginning, and no gap where nothing is missing.
    let heard = host.listen("/v1/events?all=true", Some("999999999"), 3);
    assert!(heard.iter().all(|(_, name, _)| name != "gap") && heard[0].0 == "0", "{heard:?}");
}

/// This was once held to be shown by an event whose name was not empty, which no event's is.
#[test]
fn a_listener_that_was_away_for_too_long_is_told_so() {
    let tent = Tent::new();
    for n in 0..8 {
        tent.ok(["golem", "new", &format!("g{n}"), "--seed", &n.to_string()]);
    }
    let host = Host::up(&tent, "100000");
    // More than the 20,000 messages that a host remembers.
    let newest = |host: &Host| host.listen("/v1/events?all=true", None, 1)[0].0.parse::<u64>().unwrap();
    until("it does not get far enough", || newest(&host) >= 21_000);
    let heard = host.listen("/v1/events?all=true", Some("5"), 5);
    assert_eq!((heard[0].1.as_str(), &heard[0].2), ("gap", &json!({ "reload": true })), "{heard:?}");
    assert!(heard[1..].iter().all(|(_, name, _)| name != "gap"), "said once: {heard:?}");
    assert!(heard[1].0.parse::<u64>().unwrap() > 900, "{heard:?}");
    // Of one golem nothing is ever missing, however long ago it was: its journal has it.
    let one = host.listen("/v1/golems/g3/events?all=true", Some("0.0"), 3_000);
    let ids: Vec<(u64, u32)> = one.iter().map(|(id, _, _)| place(id)).collect();
    assert!(one.iter().all(|(_, name, data)| name != "gap" && data["golem"] == "g3"));
    assert!(ids.windows(2).all(|two| two[1] > two[0]), "in order, and nothing twice");
    drop(host);
    let events = tent.ok(["--json", "golem", "events", "g3", "--all"]);
    let told = |text: &Value| (text["seq"].clone(), text["event"].clone());
    let lived = events.lines().map(|line| told(&serde_json::from_str(line).unwrap())).take(3_000);
    assert!(lived.eq(one.iter().map(|(_, _, data)| told(data))), "and nothing left out");
}

fn place(id: &str) -> (u64, u32) {
    let (record, message) = id.split_once('.').unwrap();
    (record.parse().unwrap(), message.parse().unwrap())
}

#[test]
fn nothing_a_client_sends_or_fails_to_send_reaches_a_golem() {
    let tent = Tent::new();
    tent.ok(["treasury", "add", "10000"]);
    for n in 0..20 {
        tent.ok(["golem", "new", &format!("g{n}"), "--seed", &n.to_string()]);
    }
    let host = Host::up(&tent, "400");
    let rate = |host: &Host| {
        let (before, began) = (host.ticks(), Instant::now());
        std::thread::sleep(Duration::from_secs(2));
        (host.ticks() - before) as f64 / began.elapsed().as_secs_f64()
    };
    let calm = rate(&host);
    // Some who say nothing, some who never listen.
    let idle: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(&host.address).unwrap()).collect();
    let deaf: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut socket = TcpStream::connect(&host.address).unwrap();
            small_window(&socket);
            let request = format!(
                "GET /v1/events?all=true HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\r\n",
                host.address, host.token
            );
            socket.write_all(request.as_bytes()).unwrap();
            socket
        })
        .collect();
    let mut dice = Dice(5);
    let streams = full(100_000, 3_000);
    let good = format!(
        "POST /v1/golems/g1/fund HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n",
        host.address, host.token
    );
    let (mut arrived, mut answered) = (0, 0);
    for n in 0..streams {
        let mut socket = TcpStream::connect(&host.address).expect("there is always room for one more");
        let mut bytes: Vec<u8> = (0..dice.roll(400)).map(|_| dice.roll(256) as u8).collect();
        if n % 2 == 0 {
            // Nearly right is worse than noise.
            let mut almost = good.clone().into_bytes();
            let at = dice.roll(almost.len() as u64) as usize;
            almost.splice(at..at, bytes.drain(..bytes.len().min(9)));
            bytes = almost;
        }
        // It may hang up as soon as it has seen enough; that it has seen anything shows in what it says.
        arrived += u64::from(socket.write_all(&bytes).is_ok());
        if n % 10 == 0 {
            socket.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
            let _ = socket.shutdown(std::net::Shutdown::Write);
            answered += u64::from(socket.read(&mut [0; 256]).is_ok());
        }
    }
    assert!(arrived * 100 >= streams * 99, "{arrived} of {streams} arrived");
    assert_eq!(answered, streams.div_ceil(10), "each is answered or hung up on, none left hanging");
    let pressed = rate(&host);
    assert_eq!(host.get("/v1/golems").as_array().unwrap().len(), 20);
    assert_eq!(
        host.get("/v1/golems/g1?inner=true")["life"]["purse"]["given"],
        10_000_000,
        "nobody was funded by accident"
    );
    println!("counted: {streams} streams, 100 idle and 20 deaf clients: {calm:.1} ticks/s before, {pressed:.1} after");
    assert!(pressed > calm * 0.8, "{calm} {pressed}");
    // Those who never listened have been hung up on.
    until("deaf listeners keep their seats", || host.figure("bardo_listeners") <= 0.0);
    drop((idle, deaf));
}

#[test]
fn nobody_without_the_token_gets_in_by_any_path() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let host = Host::up(&tent, "1");
    let api: Value = serde_json::from_str(&host.ask("GET", "/openapi.json", &[], "").1).unwrap();
    let mut asked = 0;
    for (path, methods) in api["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let real = path.replace("{name}", "ada");
            // Whoever signs in has nothing yet but a link, which is tried elsewhere.
            if path == "/v1/session" {
                continue;
            }
            for headers in [vec![], vec![("authorization", "Bearer 0")], vec![("authorization", "Basic YTpi")]] {
                let (status, body) = host.ask(&method.to_uppercase(), &real, &headers, "{}");
                let open = ["/health", "/ready"].contains(&path.as_str());
                assert_eq!(status, if open { 200 } else { 401 }, "{method} {path}: {body}");
                asked += 1;
            }
        }
    }
    assert!(asked > 50, "{asked}");
    let token = format!("Bearer {}", host.token);
    let page = [("authorization", token.as_str()), ("origin", "https://evil.example")];
    assert_eq!(host.ask("GET", "/v1/golems", &page, "").0, 403);
    let huge = "x".repeat(100_000);
    let json = [("authorization", token.as_str()), ("content-type", "application/json")];
    assert_eq!(host.ask("POST", "/v1/golems/ada/freeze", &json, &huge).0, 413);
}

#[test]
fn the_description_in_the_book_is_the_one_that_is_served() {
    let text = server::up::api::document();
    let path = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../docs/openapi.json");
    if std::env::var_os("BARDO_WRITE_DOCS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), text, "BARDO_WRITE_DOCS=1 writes it anew");
}

/// Requests made from the description by somebody else's tool.
#[test]
fn a_stranger_with_the_description_finds_no_error_of_ours() {
    let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| std::env::var("HOME").unwrap() + "/.cache");
    let tool = PathBuf::from(cache).join("bardo/schemathesis/bin/schemathesis");
    if !tool.exists() {
        assert!(std::env::var_os("BARDO_REALPARTS").is_none(), "{} is missing; run .ci/setup", tool.display());
        return println!("skipped: {} is missing; .ci/setup installs it", tool.display());
    }
    let tent = Tent::new();
    for name in ["ada", "eve"] {
        tent.ok(["golem", "new", name, "--seed", "1", "--set", "dream.enabled=true"]);
    }
    let host = Host::up(&tent, "400");
    // Streams do not end by themselves and are tested above.
    let output = Command::new(tool)
        // It keeps notes where it is run.
        .current_dir(tent.folder.path())
        .args(["run", &format!("http://{}/openapi.json", host.address)])
        .args(["--header", &format!("Authorization: Bearer {}", host.token)])
        .args(["--exclude-path-regex", "events$"])
        .args(["--checks", "not_a_server_error,response_schema_conformance,ignored_auth"])
        .args(["--max-examples", &full(700, 40).to_string(), "--seed", "1", "--request-timeout", "30"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}");
    println!("{}", told.lines().rev().take(12).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n"));
    // Births may be asked for like anything else, so there may be more of them.
    assert!(host.get("/v1/golems").as_array().unwrap().len() >= 2);
}
