//! `--own-login`: an official client keeps its own login, which goes to its own provider and to nobody else, and which nobody
//! here reads or keeps. No provider is asked: what would be is seen at a proxy that lets nothing through.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use crate::common::Tent;
use crate::wrap::{life, told};
use golem::Usdc;
use testing::upstream::{Act, Upstream};

/// Says what it was given, and calls as its client would: with a login, without one, and with a token that is not its golem's.
const CLAUDE: &str = r#"#!/bin/sh
env
call() {
  curl -s "$1/v1/$2" -H "authorization: Bearer $3" -H 'anthropic-version: 2023-06-01' \
    -d '{"model":"claude-opus-4-8","max_tokens":20,"messages":[{"role":"user","content":"hello"}]}' \
    -o "$SAID" -w "$4 %{http_code} "
  cat "$SAID"; echo
}
call "$ANTHROPIC_BASE_URL" messages sk-ant-oat01-canary own
call "$ANTHROPIC_BASE_URL" messages/count_tokens sk-ant-oat01-canary count
call "$ANTHROPIC_BASE_URL" messages "$BARDO_TOKEN" ours
call "${ANTHROPIC_BASE_URL%??}zz" messages sk-ant-oat01-canary wrong
call "$ANTHROPIC_BASE_URL/t/$BARDO_TOKEN" messages sk-ant-oat01-canary unsaid
"#;

/// Whatever it is asked to let through, up to the empty line.
fn proxy() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, asked) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<String>>>::default());
    let seen = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let lines = BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
            seen.lock().unwrap().push(lines.collect::<Vec<_>>().join("\n"));
            let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
        }
    });
    (format!("http://{address}"), asked)
}

fn claude(tent: &Tent, args: &[&str]) -> Command {
    let user = tent.folder.path();
    let script = user.join("claude");
    std::fs::write(&script, CLAUDE).unwrap();
    // Behind a fence that lets nothing new be made here, what is there can still be written to.
    std::fs::write(user.join("said"), "").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = tent.command([&["wrap", "--name", "ada"][..], args, &["--", "claude"]].concat());
    for name in ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"] {
        command.env_remove(name);
    }
    command.env("PATH", format!("{}:{}", user.display(), std::env::var("PATH").unwrap())).env("HOME", user);
    command.env("SAID", user.join("said"));
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What came of one of its calls.
fn came<'a>(said: &'a str, of: &str) -> &'a str {
    let begins = format!("{of} ");
    said.lines().find_map(|line| line.strip_prefix(&begins)).unwrap_or_else(|| panic!("{of}: {said}"))
}

fn holds(folder: &Path, word: &str) -> bool {
    std::fs::read_dir(folder).unwrap().flatten().any(|entry| match entry.path() {
        path if path.is_dir() => holds(&path, word),
        path => std::fs::read(&path).is_ok_and(|bytes| bytes.windows(word.len()).any(|part| part == word.as_bytes())),
    })
}

#[test]
fn a_login_of_the_programs_own_goes_to_its_provider_over_tls_and_is_kept_nowhere() {
    let tent = Tent::bare();
    let (proxy, asked) = proxy();
    let output = claude(&tent, &["--own-login"]).env("HTTPS_PROXY", &proxy).output().unwrap();
    let (said, told) = (said(&output), told(&output));
    assert!(output.status.success() && told.contains("claude keeps its own login"), "{told}");
    // What leads to its golem is in the address, and nothing stands where it would go before a login.
    assert!(said.contains("/g/ada/t/bardo-login-") && !said.contains("ANTHROPIC_AUTH_TOKEN="), "{said}");
    assert!(!said.contains("ANTHROPIC_API_KEY="), "{said}");
    assert!(came(&said, "own").starts_with("502") && came(&said, "count").starts_with("502"), "{said}");
    let asked = asked.lock().unwrap().clone();
    assert!(asked.len() >= 2, "{asked:?}");
    assert!(asked.iter().all(|head| head.starts_with("CONNECT api.anthropic.com:443 ") && !head.contains("canary")));
    // A golem's token is no login, and no login is a golem's token.
    assert!(came(&said, "ours").starts_with("401") && came(&said, "ours").contains("\"code\":\"login\""), "{said}");
    assert!(came(&said, "wrong").starts_with("401") && came(&said, "wrong").contains("\"code\":\"token\""), "{said}");
    // Nobody was reached, so it cost nothing; and what it was is written down nowhere.
    let ada = life(&tent, "ada");
    assert_eq!((ada.calls().made, ada.calls().spent, ada.calls().units.calls), (1, Usdc::ZERO, 0));
    assert!(!holds(&tent.root(), "canary") && !told.contains("canary"), "{told}");
}

#[test]
fn without_its_owners_word_no_login_is_passed_on() {
    let tent = Tent::bare();
    let (proxy, asked) = proxy();
    let output = claude(&tent, &[]).env("HTTPS_PROXY", &proxy).output().unwrap();
    let said = said(&output);
    assert!(said.contains("ANTHROPIC_AUTH_TOKEN=bardo-agent-") && !said.contains("/t/bardo-login-"), "{said}");
    assert!(came(&said, "own").starts_with("401"), "{said}");
    // A token is none in an address, where others see it.
    assert!(came(&said, "unsaid").starts_with("401") && came(&said, "unsaid").contains("\"code\":\"token\""), "{said}");
    assert!(asked.lock().unwrap().is_empty(), "a key of the owner's there was not, and nobody was asked with another");
}

#[test]
fn a_login_never_goes_to_a_server_that_stands_in_for_its_provider() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let refused = claude(&tent, &["--own-login"]).env("ANTHROPIC_BASE_URL", &upstream.url).output().unwrap();
    let why = told(&refused);
    assert!(!refused.status.success() && why.contains("env -u ANTHROPIC_BASE_URL bardo wrap"), "{why}");
    assert!(!tent.root().exists());
    // Where the settings say it, it is the gateway that refuses.
    let model = format!("claude-opus-4-8={}/v1/m", upstream.url);
    let mapped = claude(&tent, &["--own-login"])
        .env("BARDO__GATEWAY__MODELS", model)
        .env("BARDO__MODELS__PRICES", format!("{}/v1/m=1/5", upstream.url))
        .output()
        .unwrap();
    let said = said(&mapped);
    assert!(came(&said, "own").starts_with("404") && came(&said, "own").contains("only for anthropic"), "{said}");
    assert_eq!(upstream.calls(), 0);
    let other = tent.command(["wrap", "--own-login", "--name", "bob", "--", "true"]).output().unwrap();
    assert!(!other.status.success() && told(&other).contains("claude and codex"), "{}", told(&other));
}
