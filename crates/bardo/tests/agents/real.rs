//! Agents that people have, unmodified, as they are published, at a provider that bills like the published price pages. Each
//! works on two dollars with its default model and settings, and what it is said to have spent is what was billed.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use mind::Book;
use serde_json::json;
use testing::billing::{Double, Habit, Prices, Setting, Turn, turns};

use crate::common::Tent;
use crate::wrap::{life, told};

/// How each is asked for one thing, and with which tool it looks at a file.
struct Agent {
    name: &'static str,
    asks: &'static [&'static str],
    tool: &'static str,
    looks: fn(&str) -> serde_json::Value,
}

const AGENTS: [Agent; 4] = [
    Agent { name: "claude", asks: &["-p"], tool: "Read", looks: |file| json!({ "file_path": file }) },
    Agent {
        name: "codex",
        asks: &["exec", "--skip-git-repo-check"],
        tool: "exec_command",
        looks: |file| json!({ "cmd": format!("cat {file}") }),
    },
    Agent {
        name: "gemini",
        asks: &["-p"],
        tool: "read_file",
        looks: |file| json!({ "file_path": file, "absolute_path": file }),
    },
    Agent { name: "opencode", asks: &["run"], tool: "read", looks: |file| json!({ "filePath": file }) },
];

/// Where `.ci/setup` puts them.
fn program(name: &str) -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    let program = cache.join("bardo/programs/node_modules/.bin").join(name);
    let found = program.exists().then_some(program);
    if found.is_none() {
        eprintln!("skipped: {name} is absent; `just agents` installs it");
    }
    found
}

/// What the book says, as the double reads it.
fn prices() -> Prices {
    let dollars = |micros: u64| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let row = |row: &mind::Row| {
        let rates = row.price.rates;
        let cells = [rates.input, rates.output, rates.cached, rates.write_5m, rates.write_1h].map(dollars).join("/");
        let model = row.name.split_once('/').map_or(row.name.as_str(), |(_, model)| model);
        format!("{model}*={cells}")
    };
    let spoken = ["openai/", "anthropic/", "gemini/"];
    let rows = Book::built_in();
    let rows: Vec<String> =
        rows.rows().iter().filter(|row| spoken.iter().any(|with| row.name.starts_with(with))).map(row).collect();
    Prices::parse(&rows.join(",")).unwrap()
}

/// Runs one on two dollars, and gives what it said.
fn run(agent: &Agent, path: PathBuf, plays: Vec<Turn>, rest: &[&str]) -> (Double, Tent, String) {
    let double = Double::start(Setting::new(prices(), turns(plays, Habit::HONEST))).unwrap();
    let tent = Tent::bare();
    let work = tent.folder.path().join("work");
    std::fs::create_dir_all(&work).unwrap();
    for nth in 0..20 {
        std::fs::write(work.join(format!("notes{nth}.txt")), format!("word {nth} is marzipan\n")).unwrap();
    }
    let mut command: Command = tent.command(["wrap", "--credit", "2", "--name", "ada", "--"]);
    command.arg(path).args(agent.asks).args(rest).current_dir(&work).stdin(Stdio::null());
    let upstreams = format!("openai={0}/v1, anthropic={0}/v1, gemini={0}/v1", double.url);
    command.env("BARDO__GATEWAY__UPSTREAMS", upstreams);
    for (name, key) in
        [("OPENAI_API_KEY", "sk-canary"), ("ANTHROPIC_API_KEY", "sk-ant-canary"), ("GEMINI_API_KEY", "AIzacanary")]
    {
        command.env(name, key);
    }
    let output = command.output().unwrap();
    let said = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), told(&output));
    assert!(output.status.success(), "{}: {said}\n{}", agent.name, double.ledger.lines());
    (double, tent, said)
}

fn is_paid(agent: &Agent, double: &Double, tent: &Tent, said: &str) {
    assert!(double.ledger.quiet(Duration::from_secs(20)), "{} is still being answered", agent.name);
    let (billed, life) = (double.ledger.billed_in_all(), life(tent, "ada"));
    let spent = life.calls.spent.as_micros() as u64;
    println!("counted: {}: {} calls, billed {billed} micro-dollars, booked {spent}", agent.name, double.ledger.calls());
    assert!(billed > 0 && billed <= 2_000_000, "{}: {said}", agent.name);
    assert!(spent >= billed && spent - billed <= billed / 100, "{}: billed {billed}, booked {spent}", agent.name);
    assert!(!said.contains("canary"), "{said}");
}

#[test]
fn each_says_hello_with_its_default_model() {
    for agent in &AGENTS {
        let Some(path) = program(agent.name) else { continue };
        let (double, tent, said) = run(agent, path, vec![Turn::text("hello from the double")], &["say hello"]);
        assert!(said.contains("hello from the double"), "{}: {said}", agent.name);
        is_paid(agent, &double, &tent, &said);
    }
}

/// Whoever points Codex at the gateway by hand has it try a WebSocket first.
#[test]
fn codex_goes_on_by_itself_where_it_finds_no_websocket() {
    let agent = AGENTS.iter().find(|agent| agent.name == "codex").unwrap();
    let Some(path) = program(agent.name) else { return };
    let rest = ["-c", "model_providers.bardo.supports_websockets=true", "say hello"];
    let (double, tent, said) = run(agent, path, vec![Turn::text("hello from the double")], &rest);
    assert!(said.contains("hello from the double") && !said.contains("Reconnecting"), "{said}");
    is_paid(agent, &double, &tent, &said);
}

#[test]
fn each_works_through_a_task_of_twenty_calls() {
    for agent in &AGENTS {
        let Some(path) = program(agent.name) else { continue };
        let looks = |nth: usize| Turn::default().tool(agent.tool, (agent.looks)(&format!("notes{nth}.txt")));
        let mut plays: Vec<Turn> = (0..20).map(looks).collect();
        plays.push(Turn::text("the word is marzipan, twenty times"));
        let (double, tent, said) = run(agent, path, plays, &["read all the notes"]);
        assert!(said.contains("twenty times"), "{}: {said}", agent.name);
        assert!(
            double.ledger.calls() >= 20,
            "{}: {} calls\n{}",
            agent.name,
            double.ledger.calls(),
            double.ledger.lines()
        );
        is_paid(agent, &double, &tent, &said);
    }
}
