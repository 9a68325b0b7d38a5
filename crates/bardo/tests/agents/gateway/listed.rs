//! What an agent may name, asked as clients ask: names as the owner maps them, or what has a price and a key.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;
use testing::upstream::{Act, Upstream};

use super::{Agency, Up};

fn models(up: &Up, agency: &Agency, headers: &str) -> Value {
    let mut socket = TcpStream::connect(&up.address).unwrap();
    let request = format!(
        "GET /g/ada/v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {}\r\n{headers}\r\n",
        agency.token
    );
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    let body = if head.to_lowercase().contains("chunked") { super::unchunked(body) } else { body.to_owned() };
    serde_json::from_str(&body).unwrap()
}

fn ids(list: &Value) -> Vec<&str> {
    list["data"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

#[test]
fn an_agent_is_told_which_models_it_may_name() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "1", &[]);
    let up = agency.up();
    assert_eq!(ids(&models(&up, &agency, "")), ["m", "dear"]);
    up.stop();
    // Where nobody has said which: what has a price, at providers whose key is there, and what the owner has given one.
    let own = format!("{}/v1/m", upstream.url);
    fs::write(agency.tent.root().join("bardo.toml"), format!("[models]\nprices = \"{own}=1/5\"\n")).unwrap();
    let keys = ["GEMINI", "OPENROUTER", "GROQ", "MISTRAL", "DEEPSEEK", "XAI", "TOGETHER", "FIREWORKS", "VENICE"];
    let unset = keys.map(|name| format!("{name}_API_KEY"));
    let set: Vec<(&str, &str)> = unset.iter().map(|name| (name.as_str(), "")).collect();
    let both = [&set[..], &[("OPENAI_API_KEY", "sk-canary"), ("ANTHROPIC_API_KEY", "sk-canary")]].concat();
    let up = agency.up_with(&both);
    let chat = models(&up, &agency, "");
    let named = ids(&chat);
    for name in ["gpt-5-mini", "text-embedding-3-small", "anthropic/claude-opus-4-5", own.as_str()] {
        assert!(named.contains(&name), "{name}");
    }
    assert!(chat["object"] == "list" && !named.iter().any(|name| name.starts_with("gemini")));
    let messages = models(&up, &agency, "anthropic-version: 2023-06-01\r\n");
    assert!(ids(&messages).contains(&"claude-opus-4-5") && ids(&messages).contains(&"openai/gpt-5-mini"));
    assert!(messages["has_more"] == false && messages["first_id"].is_string());
    assert_eq!(upstream.calls(), 0);
    up.stop();
}
