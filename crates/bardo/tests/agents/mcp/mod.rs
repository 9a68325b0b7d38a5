//! The Model Context Protocol, spoken by clients that others have made: an agent with its golem's token, an owner's assistant
//! with the owner's, and neither with the other's.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::Tent;
use golem::Usdc;
use serde_json::{Value, json};
use testing::wait::{found, until};

const AGENTS: [&str; 8] = ["ask_owner", "claim", "done", "last_words", "propose", "recall", "remember", "standing"];
const READS: [&str; 5] = ["costs", "events", "list", "report", "show"];

/// Where the clients are; nothing where nobody has asked for real parts.
fn parts() -> Option<PathBuf> {
    std::env::var_os("BARDO_REALPARTS")?;
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"));
    Some(cache.join("bardo"))
}

/// A golem whose tests pass while a file is there, and one that acts in a world.
struct Place {
    tent: Tent,
    token: String,
}

impl Place {
    fn new() -> Place {
        let tent = Tent::new();
        fs::write(tent.root().join("passes"), "").unwrap();
        let check = format!("tests=test -f {}", tent.root().join("passes").display());
        tent.ok([
            "golem",
            "new",
            "ada",
            "--check",
            &check,
            "--interval",
            "1s",
            "--set",
            "world.bar=1s",
            "--credit",
            "1",
        ]);
        tent.ok(["golem", "new", "bob", "--seed", "1"]);
        let token = Place::token_of(&tent, "ada");
        Place { tent, token }
    }

    fn token_of(tent: &Tent, name: &str) -> String {
        let shown: Value = serde_json::from_str(&tent.ok(["golem", "connect", name, "--json"])).unwrap();
        shown["token"].as_str().unwrap().to_owned()
    }

    fn owners(&self, scope: &str) -> String {
        let made: Value =
            serde_json::from_str(&self.tent.ok(["token", "new", scope, "--scope", scope, "--json"])).unwrap();
        made["token"].as_str().unwrap().to_owned()
    }

    fn up(&self) -> Up {
        for file in ["gateway", "api"] {
            let _ = fs::remove_file(self.tent.root().join(file));
        }
        let mut command = self.tent.command(["up", "--listen", "127.0.0.1:0", "--gateway", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let written = self.tent.root().join("gateway");
        let late = || "no gateway came up".to_owned();
        let gateway = found(Duration::from_secs(30), late, || fs::read_to_string(&written).ok());
        let mut said = Vec::new();
        let out = child.stdout.as_mut().unwrap();
        let mut byte = [0];
        while !String::from_utf8_lossy(&said).contains("http://") || said.last() != Some(&b'\n') {
            assert!(out.read(&mut byte).unwrap() > 0, "{}", String::from_utf8_lossy(&said));
            said.push(byte[0]);
        }
        let said = String::from_utf8(said).unwrap();
        let api = said.split("http://").nth(1).unwrap();
        let api = api.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ':')).next().unwrap().to_owned();
        Up { child, gateway, api }
    }
}

struct Up {
    child: Child,
    gateway: String,
    api: String,
}

impl Up {
    fn stop(mut self) {
        assert!(Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap().success());
        self.child.wait().unwrap();
    }

    fn agent(&self, name: &str, token: &str, calls: Value) -> Value {
        json!({ "url": format!("http://{}/g/{name}/mcp", self.gateway), "token": token, "calls": calls })
    }

    fn owner(&self, token: &str, calls: Value) -> Value {
        json!({ "url": format!("http://{}/mcp", self.api), "token": token, "calls": calls })
    }
}

fn over_stdio(place: &Place, token: &str, calls: Value) -> Value {
    let home = place.tent.root().display().to_string();
    json!({
        "command": env!("CARGO_BIN_EXE_bardo"), "args": ["mcp"], "calls": calls,
        "env": { "BARDO_HOME": home, "BARDO_TOKEN": token, "PATH": std::env::var("PATH").unwrap() },
    })
}

/// What the Python client got, or what it said instead.
fn python(told: &Value) -> Result<Value, String> {
    let python = parts().unwrap().join("agents/bin/python");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/mcp/client.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(told.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn names(came: &Value) -> Vec<String> {
    let mut names: Vec<String> =
        came["tools"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    names.sort_unstable();
    names
}

/// The inspector in its mode for command lines.
fn inspector(place: &Place, token: &str, args: &[&str]) -> Value {
    let bin = parts().unwrap().join("inspector/node_modules/.bin/mcp-inspector");
    let home = format!("BARDO_HOME={}", place.tent.root().display());
    let token = format!("BARDO_TOKEN={token}");
    let output = Command::new(bin)
        .args(["--cli", "-e", &home, "-e", &token, env!("CARGO_BIN_EXE_bardo"), "mcp"])
        .args(args)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(&said)
        .unwrap_or_else(|why| panic!("{why}: {said} {}", String::from_utf8_lossy(&output.stderr)))
}

/// A session over pipes lasts for days: the token is looked up again at each call, and not the name it once led to.
#[test]
fn a_session_stays_with_its_golem_and_ends_with_its_token() {
    let place = Place::new();
    let mut command = place.tent.command(["mcp"]);
    command.env("BARDO_TOKEN", &place.token).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let (mut into, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let client = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let mut say = |id: u64, method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(into, "{message}").unwrap();
        if id == 1 {
            writeln!(into, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).unwrap();
        }
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    say(1, "initialize", hello);
    let standing = json!({ "name": "standing", "arguments": {} });
    let named = |answer: Value| answer["result"]["structuredContent"]["name"].clone();
    assert_eq!(named(say(2, "tools/call", standing.clone())), "ada");
    place.tent.ok(["golem", "rename", "ada", "eve"]);
    assert_eq!(named(say(3, "tools/call", standing.clone())), "eve");
    place.tent.ok(["golem", "connect", "eve", "--rotate"]);
    let refused = say(4, "tools/call", standing);
    assert!(refused["error"].is_object() && refused["result"].is_null(), "{refused}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_agent_speaks_over_http_and_pipes_and_is_held_to_what_it_says() {
    if parts().is_none() {
        return;
    }
    let place = Place::new();
    let up = place.up();
    until("no check was run", || place.tent.golem("ada").wake().unwrap().0.life().seen().bars > 0);
    let calls = json!([
        ["standing", {}],
        ["claim", { "about": "tests", "value": 0.9, "in": "3s" }],
        ["claim", { "about": "nothing", "value": 0.9, "in": "3s" }],
        ["claim", { "about": "tests", "value": 7.0, "in": "3s" }],
        ["claim", { "about": "tests", "value": 0.5 }],
        ["remember", { "text": "the tests pass while the file is there" }],
        ["remember", { "text": "the tests pass while the file is there" }],
        ["recall", { "about": "tests" }],
        ["ask_owner", { "text": "may I use the big model?" }],
        ["done", { "text": "too soon after the question" }],
        ["propose", { "action": "buy", "size": 0.5 }],
        ["fund", { "name": "ada", "usd": "5" }],
        ["approve", { "name": "ada", "key": 1, "yes": true }],
        ["standing", { "credit": 7 }],
        ["claim", { "about": ["tests"], "value": "all", "in": 3 }],
        ["last_words", { "worked": "the parser\n\u{1b}[31mthe writer", "next": "run it" }],
        ["last_words", {}],
    ]);
    let came = python(&up.agent("ada", &place.token, calls)).unwrap();
    assert_eq!(names(&came), AGENTS);
    let wrong: Vec<bool> = came["results"].as_array().unwrap().iter().map(|one| one["wrong"] == true).collect();
    let expected =
        [false, false, true, true, true, false, true, false, false, true, true, true, true, true, true, false, true];
    assert_eq!(wrong, expected, "{came:#}");
    let standing = &came["results"][0]["value"];
    assert_eq!((&standing["phase"], &standing["can_claim"][0]["about"]), (&json!("stable"), &json!("tests")));
    let left = shell::legacy::remains::read(&place.tent.golem("ada")).unwrap().word;
    assert_eq!(
        (left.worked.as_slice(), left.next.as_slice()),
        (&["the parser".to_owned(), "the writer".to_owned()][..], &["run it".to_owned()][..])
    );
    let known = &came["results"][7]["value"]["known"][0];
    assert_eq!((&known["in_quarantine"], &known["from"]), (&json!(true), &json!("agent")));
    // The same over pipes, while the host is up.
    let came = python(&over_stdio(&place, &place.token, json!([["standing", {}]]))).unwrap();
    assert_eq!(names(&came), AGENTS);
    let waiting = &came["results"][0]["value"]["claims_open"];
    assert!(waiting.as_array().unwrap().len() <= 1, "{came}");
    // What the owner answers is there to be read.
    place.tent.ok(["golem", "steer", "ada", "no, the small one"]);
    let came = python(&up.agent("ada", &place.token, json!([["standing", {}]]))).unwrap();
    assert_eq!(came["results"][0]["value"]["owner_would_have_you_keep_in_mind"], "no, the small one");
    // One that acts in a world proposes, and its policy decides.
    let bobs = Place::token_of(&place.tent, "bob");
    let standing = python(&up.agent("bob", &bobs, json!([["standing", {}]]))).unwrap();
    let action = standing["results"][0]["value"]["can_propose"][0].clone();
    let came = python(&up.agent("bob", &bobs, json!([["propose", { "action": action, "size": 7.0 }]]))).unwrap();
    assert!(came["results"][0]["text"].as_str().unwrap().contains("out of bounds"), "{came}");
    let shown = place.tent.ok(["golem", "show", "ada"]);
    assert!(shown.contains("may I use the big model?"), "{shown}");
    up.stop();
    let life = place.tent.verified("ada").life().clone();
    assert!(life.dated_made() == 1 && life.purse().given == Usdc::dollars(1), "{:?}", life.purse());
}

#[test]
fn an_owners_assistant_sees_everything_and_changes_nothing_unless_that_was_switched_on() {
    if parts().is_none() {
        return;
    }
    let place = Place::new();
    let (all, read) = (place.owners("all"), place.owners("read"));
    let calls = json!([
        ["list", {}],
        ["show", { "name": "ada" }],
        ["events", { "name": "ada", "last": 3 }],
        ["report", { "name": "ada" }],
        ["costs", { "name": "ada", "days": 7 }],
        ["show", { "name": "../ada" }],
        ["fund", { "name": "ada", "usd": "1" }],
        ["standing", {}],
    ]);
    let up = place.up();
    for told in [up.owner(&all, calls.clone()), over_stdio(&place, &all, calls)] {
        let came = python(&told).unwrap();
        assert_eq!(names(&came), READS);
        let wrong: Vec<bool> = came["results"].as_array().unwrap().iter().map(|one| one["wrong"] == true).collect();
        assert_eq!(wrong, [false, false, false, false, false, true, true, true], "{came:#}");
        assert_eq!(came["results"][0]["value"]["golems"].as_array().unwrap().len(), 2);
    }
    up.stop();
    let config = place.tent.root().join("bardo.toml");
    let before = fs::read_to_string(&config).unwrap();
    let after = before.replace("#mcp.changes = false", "mcp.changes = true");
    assert_ne!(before, after);
    fs::write(&config, after).unwrap();
    let up = place.up();
    let changes = json!([
        ["freeze", { "name": "ada", "reason": "enough" }],
        ["fund", { "name": "ada", "usd": "0.25" }],
        ["fund", { "name": "ada", "usd": "-1" }],
        ["fund", { "name": "ada", "usd": "1e9" }],
        ["approve", { "name": "ada", "key": 77, "yes": true }],
    ]);
    let came = python(&up.owner(&all, changes.clone())).unwrap();
    assert_eq!(came["tools"].as_array().unwrap().len(), READS.len() + 3);
    let wrong: Vec<bool> = came["results"].as_array().unwrap().iter().map(|one| one["wrong"] == true).collect();
    assert_eq!(wrong, [false, false, true, true, true], "{came:#}");
    // As far as the scope goes, and no further.
    let came = python(&up.owner(&read, changes)).unwrap();
    assert_eq!(names(&came), READS);
    assert!(came["results"].as_array().unwrap().iter().all(|one| one["wrong"] == true));
    up.stop();
    let life = place.tent.verified("ada").life().clone();
    assert!(life.heartbeat().frozen && life.purse().given == Usdc::cents(125));
}

#[test]
fn the_inspector_calls_every_tool() {
    if parts().is_none() {
        return;
    }
    let place = Place::new();
    let owners = place.owners("read");
    let listed = |came: &Value| {
        let tools = came["tools"].as_array().unwrap();
        let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&inspector(&place, &place.token, &["--method", "tools/list"])), AGENTS);
    assert_eq!(listed(&inspector(&place, &owners, &["--method", "tools/list"])), READS);
    let call = |token: &str, name: &str, args: &[&str]| {
        let args = args.iter().flat_map(|arg| ["--tool-arg", arg]);
        let all: Vec<&str> = ["--method", "tools/call", "--tool-name", name].into_iter().chain(args).collect();
        inspector(&place, token, &all)
    };
    let fine = |came: &Value| came["isError"] != true;
    assert!(fine(&call(&place.token, "standing", &[])));
    assert!(fine(&call(&place.token, "remember", &["text=the moon is far"])));
    assert!(fine(&call(&place.token, "recall", &["about=moon"])));
    assert!(fine(&call(&place.token, "done", &["text=all of it"])));
    assert!(!fine(&call(&place.token, "ask_owner", &["text=so soon?"])), "its owner was told something just now");
    assert!(!fine(&call(&place.token, "claim", &["about=tests", "value=0.5", "in=1h"])), "no check was run yet");
    assert!(!fine(&call(&place.token, "propose", &["action=buy", "size=0.5"])));
    for (name, args) in
        [("list", &[][..]), ("show", &["name=ada"]), ("events", &["name=ada"]), ("report", &["name=ada"])]
    {
        assert!(fine(&call(&owners, name, args)), "{name}");
    }
    assert!(fine(&call(&owners, "costs", &["name=ada"])));
}

fn post(address: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let length = body.len();
    let _ = socket.write_all(
        format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\naccept: application/json, text/event-stream\r\n{headers}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .as_bytes(),
    );
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    (answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0), answer)
}

/// Wrong, missing and foreign tokens open nothing, and a client that sends whatever it likes changes nothing.
#[test]
fn tokens_open_what_is_theirs_and_whoever_is_hostile_gets_nowhere() {
    let place = Place::new();
    let (owners, bobs) = (place.owners("all"), Place::token_of(&place.tent, "bob"));
    let up = place.up();
    let call = |name: &str, args: Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": args } })
            .to_string()
    };
    let standing = call("standing", json!({}));
    let bearer = |token: &str| format!("authorization: Bearer {token}\r\n");
    for headers in [String::new(), bearer(""), bearer("wrong"), bearer(&bobs), bearer(&owners)] {
        assert_eq!(post(&up.gateway, "/g/ada/mcp", &headers, &standing).0, 401, "{headers}");
    }
    for headers in [String::new(), bearer("wrong"), bearer(&bobs), bearer(&place.token)] {
        assert_eq!(post(&up.api, "/mcp", &headers, &call("list", json!({}))).0, 401, "{headers}");
    }
    let page = format!("{}origin: https://evil.example\r\n", bearer(&owners));
    assert_eq!(post(&up.api, "/mcp", &page, &call("list", json!({}))).0, 403, "no page of somebody else's");
    let mine = bearer(&place.token);
    let deep = "[".repeat(20_000);
    let long = "x".repeat(200_000);
    let tricks = [
        String::new(),
        "null".to_owned(),
        "{}".to_owned(),
        deep.clone(),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":{deep}"),
        call("standing", json!(deep)),
        call(&long, json!({})),
        call("remember", json!({ "text": long })),
        call("remember", json!({ "text": "" })),
        call("remember", json!({ "text": "\u{1b}[2J\u{0}\u{202e}" })),
        call("claim", json!({ "about": "tests", "value": 1e308, "in": "3s" })),
        call("claim", json!({ "about": "tests", "value": 0.5, "in": "999999999999d" })),
        call("claim", json!({ "about": "tests", "value": 0.5, "at": "-1" })),
        call("recall", json!({ "about": "\" OR 1=1; DROP TABLE entry; --", "most": u64::MAX })),
        call("propose", json!({ "action": "../../etc", "size": -1 })),
        call("policy", json!({ "policy.calls_per_day": "1000" })),
        call("fund", json!({ "name": "ada", "usd": "100" })),
        call("retire", json!({ "name": "ada" })),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": "file:///etc/passwd" } })
            .to_string(),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "token": "x" } }).to_string(),
        json!([{ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }]).to_string(),
    ];
    let before = place.tent.golem("ada").wake().unwrap().0.life().policy().clone();
    for (nth, trick) in tricks.iter().cycle().take(crate::common::full(20_000, 200) as usize).enumerate() {
        let (status, said) = post(&up.gateway, "/g/ada/mcp", &mine, trick);
        assert!(status != 0 && status < 600 && !said.contains("panicked"), "{nth}: {status} {said}");
        assert!(!said.contains("root:") && !said.contains(&bobs) && !said.contains(&owners), "{said}");
    }
    up.stop();
    let life = place.tent.verified("ada").life().clone();
    assert!(*life.policy() == before && life.purse().given == Usdc::dollars(1) && !life.is_dead());
}
