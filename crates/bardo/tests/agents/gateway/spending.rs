//! What an agent's owner sees of the money: the same figures wherever they are shown.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use testing::billing::{Double, Habit, Part, Prices, Setting, Shown, Turn, always};
use testing::upstream::{Act, Upstream};
use testing::wait::found;

use super::{Agency, Answer, Up, hello, post};
use crate::common::host::Host;

fn message(up: &Up, agency: &Agency, nth: u32, words: usize) -> Answer {
    let system = "word and more ".repeat(words);
    let system = json!([{ "type": "text", "text": system, "cache_control": { "type": "ephemeral" } }]);
    let talk = json!([{ "role": "user", "content": format!("go on {nth}") }]);
    let body = json!({ "model": "m", "max_tokens": 200, "system": system, "messages": talk });
    up.post("/g/ada/v1/messages", &agency.token, "anthropic-version: 2023-06-01\r\n", &body.to_string())
}

fn sum(all: &Value, names: &[&str]) -> i64 {
    names.iter().map(|name| all[*name].as_i64().unwrap_or_else(|| panic!("{name}: {all}"))).sum()
}

/// An owner could see what was spent, and neither of how much, nor on which kinds of tokens, nor what was refused in all.
#[test]
fn an_owner_sees_where_the_money_went_what_stopped_the_calls_and_what_was_refused() {
    let turn = Turn::thinks(30, Shown::Not).then(Part::Words(5));
    let setting = Setting::new(Prices::parse("m=1/5").unwrap(), always(turn, Habit::HONEST));
    let double = Double::start(setting).unwrap();
    let agency = Agency::at(&double.url, "1", &[]);
    let up = agency.up();
    let costs = || -> Value { serde_json::from_str(&agency.tent.ok(["golem", "costs", "ada", "--json"])).unwrap() };
    assert!(agency.tent.ok(["golem", "costs", "ada"]).contains("has made no calls"));
    for nth in 0..2 {
        let refused = message(&up, &agency, nth, 100_000);
        assert_eq!((refused.status, refused.header("x-bardo-refused")), (402, Some("budget")), "{}", refused.body);
    }
    for nth in 0..2 {
        let answer = message(&up, &agency, nth, 1_000);
        assert_eq!(answer.status, 200, "{}", answer.body);
        agency.settled();
    }
    // The same again and again, until it is stopped.
    let passed = (0..12).filter(|_| up.chat(&agency, &hello()).status == 200).count();
    assert_eq!(passed, 8);
    let life = agency.settled();
    let told = costs();
    let (spending, purse) = (&told["spending"], &told["spending"]["purse"]);
    assert_eq!(purse["calls"], life.calls().spent.as_micros());
    assert_eq!(
        sum(purse, &["given"]),
        sum(purse, &["spent", "aside", "kept", "free", "returned"]),
        "each cent is somewhere"
    );
    let model = &spending["models"][0];
    assert_eq!((sum(model, &["calls"]), sum(model, &["cost"])), (10, life.calls().spent.as_micros()));
    // What the first has written to the cache the second has read from it; and what was thought is part of what came out.
    assert!(sum(model, &["written"]) > 1_000 && sum(model, &["cached"]) > 1_000, "{model}");
    assert!(sum(model, &["thought"]) >= 8 * 30 && sum(model, &["output"]) > sum(model, &["thought"]), "{model}");
    let all = sum(model, &["input", "cached", "written"]);
    assert_eq!(all, life.calls().models[0].input as i64);
    assert_eq!((&spending["stops"]["times"], &spending["stops"]["waits"]["key"]), (&json!(1), &json!(1)));
    assert_eq!(spending["next"]["may_use"], 0);
    let refusals = spending["refusals"].as_array().unwrap();
    let of = |code: &str| refusals.iter().find(|one| one["code"] == code).map(|one| one["times"].clone());
    assert!(of("budget").is_some() && of("held").is_some(), "{refusals:?}");
    // As people read it.
    let shown = agency.tent.ok(["golem", "costs", "ada"]);
    for words in ["spent      $0.0", " of $1.00; ", "FROM CACHE", "`bardo golem approve ada 1` lets them go on"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(agency.tent.ok(["golem", "show", "ada"]).contains(" of $1.00; "));
    let listed = agency.tent.ok(["golem", "list"]);
    assert!(listed.contains("SPENT") && listed.contains(" of $1.00"), "{listed}");
    agency.tent.ok(["golem", "approve", "ada", "1"]);
    let told = costs();
    // Sums in dollars beside those in millionths, and the unit by name: one was taken for the other.
    let line = &told["lines"][0];
    assert!(line["cost"].as_i64().unwrap() > 0 && told["money_unit"] == "millionths of a dollar", "{told}");
    assert_eq!(line["cost_usd"].as_f64(), line["cost"].as_i64().map(|micros| micros as f64 / 1e6));
    assert!(told["total_usd"].as_f64().unwrap() >= line["cost_usd"].as_f64().unwrap(), "{told}");
    let shown: Value = serde_json::from_str(&agency.tent.ok(["golem", "show", "ada", "--json"])).unwrap();
    assert!(shown["credit_usd"].as_f64().is_some_and(|left| 0.0 < left && left < 1.0), "{}", shown["credit_usd"]);
    assert_eq!(told["spending"]["stops"]["past"].as_array().unwrap().len(), 1);
    assert!(told["spending"]["next"]["may_use"].as_i64().unwrap() > 0);
    up.stop();
    agency.tent.verified("ada");
    // Every refusal is in the account once all is at rest.
    let told = costs();
    let times = told["spending"]["refusals"].as_array().unwrap().iter().map(|one| one["times"].as_i64().unwrap());
    assert_eq!(times.sum::<i64>(), 2 + 4);
}

/// No journal has these, so only the host that heard them can tell; all else is the same in its API as in a terminal.
#[test]
fn sessions_and_what_was_turned_away_are_shown_by_the_host_that_heard_them() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "1", &[]);
    let host = Host::up_with(&agency.tent, "1", &["--gateway", "127.0.0.1:0"]);
    let written = agency.tent.root().join("gateway");
    let late = || "no gateway came up".to_owned();
    let address = found(Duration::from_secs(30), late, || fs::read_to_string(&written).ok());
    let call = |headers: &str, body: &Value| {
        post(&address, "/g/ada/v1/chat/completions", &agency.token, headers, &body.to_string()).status
    };
    let mut named = hello();
    named["metadata"] = json!({ "user_id": "user_1_account__session_two" });
    assert_eq!((call("x-session-id: one\r\n", &hello()), call("", &named), call("", &named)), (200, 200, 200));
    assert_eq!(call("", &json!({ "model": "nobody-knows", "messages": [] })), 404);
    let spent = agency.settled().calls().spent.as_micros();
    let told = host.get("/v1/golems/ada/costs")["spending"].clone();
    let sessions: Vec<(&str, i64)> = told["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["session"].as_str().unwrap(), one["calls"].as_i64().unwrap()))
        .collect();
    assert_eq!(sessions, [("two", 2), ("one", 1)]);
    let cost: i64 = told["sessions"].as_array().unwrap().iter().map(|one| one["cost"].as_i64().unwrap()).sum();
    assert_eq!(cost, spent);
    let away = &told["turned_away"][0];
    assert_eq!((&away["code"], &away["times"]), (&json!("model"), &json!(1)), "{told}");
    let terminal: Value = serde_json::from_str(&agency.tent.ok(["golem", "costs", "ada", "--json"])).unwrap();
    for part in ["purse", "next", "models", "stops", "checks", "refusals"] {
        assert_eq!(terminal["spending"][part], told[part], "{part}");
    }
    assert_eq!(terminal["spending"]["sessions"], json!([]));
}

/// A tree's own figures: each part is the sum of its own.
fn check_tree(part: &Value) -> [i64; 3] {
    let own = ["calls", "cost", "aside"].map(|name| part[name].as_i64().unwrap_or_else(|| panic!("{name}: {part}")));
    let parts = ["lives", "parts"].iter().filter_map(|list| part[*list].as_array()).flatten();
    let sums: Vec<[i64; 3]> = parts.map(check_tree).collect();
    if !sums.is_empty() {
        let of = |at: usize| sums.iter().map(|sums| sums[at]).sum::<i64>();
        assert_eq!([of(0), of(1), of(2)], own, "{part}");
    }
    own
}

/// Only a host that had heard a session could say what it had spent, until it stopped; and of sub-agents none could.
#[test]
fn who_spent_what_is_on_record_by_session_sub_agent_and_tool_and_adds_up() {
    const SESSION: &str = "0199f2a4-1c7d-7e10-9d4b-3a1f0c9e8b77";
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "1", &super::UNWATCHED);
    let up = agency.up();
    let asks = json!({ "id": "c1", "type": "function", "function": { "name": "read", "arguments": "{}" } });
    let reads = json!({ "model": "m", "messages": [
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": "I look", "tool_calls": [asks] },
        { "role": "tool", "tool_call_id": "c1", "content": "a" }] });
    let claude = format!("x-claude-code-session-id: {SESSION}\r\n");
    let helper = format!("{claude}x-claude-code-agent-id: a1b2c3\r\nx-claude-code-agent-type: Explore\r\n");
    let below = format!("{claude}x-claude-code-agent-id: d4e5f6\r\nx-claude-code-parent-agent-id: a1b2c3\r\n");
    let named = "x-session-id: a word with customer-of-ours\r\n".to_owned();
    let calls = [
        (claude.clone(), hello()),
        (claude, reads.clone()),
        (helper, reads),
        (below, hello()),
        (String::new(), hello()),
        (named, hello()),
    ];
    for (headers, body) in &calls {
        let answer = up.post("/g/ada/v1/chat/completions", &agency.token, headers, &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    let life = agency.settled();
    let tree =
        || -> Value { serde_json::from_str(&agency.tent.ok(["golem", "costs", "ada", "--tree", "--json"])).unwrap() };
    let told = tree();
    let purse = &told["lives"][0]["purse"];
    assert_eq!(check_tree(&told), [calls.len() as i64, sum(purse, &["spent"]), sum(purse, &["aside"])], "{told}");
    assert_eq!(sum(purse, &["spent", "aside", "kept", "free", "returned"]), sum(purse, &["given"]));
    let sessions = |told: &Value| -> Vec<Value> {
        let parts = told["lives"][0]["parts"].as_array().unwrap().iter();
        parts.filter(|one| one["part"] == "session").cloned().collect()
    };
    let spent: i64 = sessions(&told).iter().map(|one| sum(one, &["cost"])).sum();
    assert_eq!(spent, life.calls().spent.as_micros(), "each call is in a session, or in the one without a name");
    let part = |of: &Value, kind: &str, name: &str| -> Value {
        let parts = of["parts"].as_array().unwrap_or_else(|| panic!("no parts: {of}"));
        let found = parts.iter().find(|one| one["part"] == kind && one["name"] == name);
        found.unwrap_or_else(|| panic!("no {kind} {name:?}: {of}")).clone()
    };
    let session = part(&told["lives"][0], "session", SESSION);
    assert_eq!(sum(&session, &["calls"]), 4);
    let itself = part(&session, "agent", "");
    assert_eq!(sum(&part(&itself, "tool", ""), &["calls"]), sum(&part(&itself, "tool", "read"), &["calls"]));
    let explore = part(&session, "agent", "a1b2c3");
    assert_eq!((&explore["kind"], sum(&explore, &["calls"])), (&json!("Explore"), 2), "with the one it started");
    assert_eq!(sum(&part(&explore, "agent", "d4e5f6"), &["calls"]), 1);
    assert_eq!(sum(&part(&told["lives"][0], "session", ""), &["calls"]), 1);
    let shown = agency.tent.ok(["golem", "costs", "--tree"]);
    for words in [SESSION, "sub-agent a1b2c3 (Explore)", "result of read", "the agent itself", "no session named"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // However the host ends, it is on record; and a name that is no number is not.
    up.kill();
    agency.up().stop();
    agency.tent.verified("ada");
    assert_eq!(sessions(&tree()), sessions(&told));
    assert!(!shown.contains("customer"), "{shown}");
    let folder = agency.tent.golem("ada").folder;
    for name in ["life.db", "life.db-wal"] {
        let bytes = fs::read(folder.join(name)).unwrap_or_default();
        assert!(!bytes.windows(8).any(|bytes| bytes == b"customer"), "{name}");
    }
    assert!(!agency.tent.run(["golem", "costs", "ada", "--tree", "--csv"]).status.success());
}
