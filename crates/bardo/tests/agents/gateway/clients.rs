//! The clients people use, unmodified, at a real model: only an address and a key are set.

use std::path::{Path, PathBuf};
use std::process::Command;

use golem::Usdc;
use serde_json::Value;

use super::{Agency, hello, post, streamed};
use testing::model::Server;
use testing::upstream::{Act, Upstream};

/// Where `.ci/setup` puts the clients.
fn python() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    let python = cache.map(|cache| cache.join("bardo/agents/bin/python")).filter(|python| python.exists());
    if python.is_none() {
        assert!(std::env::var_os("BARDO_REALPARTS").is_none(), "the clients are absent; .ci/setup installs them");
        eprintln!("skipped: the clients are absent; .ci/setup installs them");
    }
    python
}

/// Runs an agent with what `golem connect` says and nothing else of anybody's.
fn agent(agency: &Agency, what: &str) -> Option<Value> {
    let script = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("tests/agents/gateway/agents.py");
    let shown: Value = serde_json::from_str(&agency.tent.ok(["golem", "connect", "ada", "--json"])).unwrap();
    let text = |name: &str| shown[name].as_str().unwrap().to_owned();
    let output = Command::new(python()?)
        .arg(script)
        .arg(what)
        .env("OPENAI_BASE_URL", text("openai_base_url"))
        .env("OPENAI_API_KEY", text("token"))
        .env("ANTHROPIC_BASE_URL", text("anthropic_base_url"))
        .env("ANTHROPIC_API_KEY", text("token"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn unmodified_clients_talk_stream_and_use_tools_at_a_real_model() {
    let Some(server) = Server::start("serve_chat.py", None) else { return };
    let agency = Agency::at(&server.url, "1", &[]);
    let up = agency.up();
    let Some(openai) = agent(&agency, "openai") else { return };
    let at_least = |value: &Value, least: u64| value.as_u64().is_some_and(|count| count >= least);
    assert!(at_least(&openai["used"], 1) && at_least(&openai["chunks"], 2) && at_least(&openai["text"], 1), "{openai}");
    let langchain = agent(&agency, "langchain").unwrap();
    assert!(at_least(&langchain["streamed"], 1) && langchain["last"] == "AIMessage", "{langchain}");
    let anthropic = agent(&agency, "anthropic").unwrap();
    assert!(at_least(&anthropic["used"], 1) && at_least(&anthropic["text"], 1), "{anthropic}");
    let life = agency.settled();
    assert!(
        life.calls().spent.is_positive() && life.calls().cut == 0,
        "each has said what it used: {:?}",
        life.calls()
    );
    println!(
        "counted: {} calls of three unmodified clients to a real model, {}",
        life.calls().made,
        life.calls().spent
    );
    up.stop();
}

/// The small real model has never heard of tools; this one uses whatever it is given.
#[test]
fn unmodified_clients_have_their_tools_called() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "1", &[]);
    let up = agency.up();
    for client in ["openai", "anthropic", "langchain"] {
        let Some(told) = agent(&agency, client) else { return };
        assert_eq!(told["tools"], 1, "{client}: {told}");
    }
    let spent = agency.settled().calls().spent;
    assert_eq!(spent, Usdc::micros(upstream.worth() as i64), "to the micro-dollar");
    up.stop();
}

#[test]
fn unmodified_clients_are_told_of_a_death_by_an_error_they_can_read() {
    let upstream = Upstream::start(|_| Act::Slowly(100));
    let agency = Agency::new(&upstream, "1", &[]);
    let up = agency.up();
    // In the middle of a conversation: one answer was had, and another is being said.
    assert_eq!(up.chat(&agency, &hello()).status, 200);
    let (address, token) = (up.address.clone(), agency.token.clone());
    let talking =
        std::thread::spawn(move || post(&address, "/g/ada/v1/chat/completions", &token, "", &streamed().to_string()));
    std::thread::sleep(std::time::Duration::from_millis(800));
    agency.tent.ok(["golem", "retire", "ada", "--reason", "enough", "--confirm", "ada"]);
    let cut = talking.join().unwrap().body;
    assert!(cut.contains("w3 ") && cut.contains("\"code\":\"dead\""), "{cut}");
    let testament = agency.tent.ok(["testament", "ada"]);
    assert!(testament.contains("What its agent's calls cost") && testament.contains("for 1 call,"), "{testament}");
    let Some(told) = agent(&agency, "refused") else { return };
    for client in ["openai", "anthropic"] {
        assert_eq!((&told[client][1], &told[client][2]), (&Value::from(410), &Value::from("dead")), "{told}");
        assert!(told[client][3].as_str().unwrap().contains("enough"), "{told}");
    }
    assert_eq!(upstream.calls(), 2);
    up.stop();
}
