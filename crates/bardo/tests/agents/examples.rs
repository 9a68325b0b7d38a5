//! The examples for frameworks, unmodified, at a provider that bills: with money they do their work, and without it they end well. The
//! frameworks are most of a gigabyte, so they are installed by `just agents`, and every run only sees that the examples can be read.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::json;
use testing::billing::{Double, Habit, Prices, Setting, Turn, turns};

use crate::common::{Tent, text};
use crate::wrap::told;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/agents");

/// One example: its file, the environment of its framework, and whether its model is given the tool that counts letters.
struct Example {
    file: &'static str,
    python: &'static str,
    counts: bool,
}

const ALL: [Example; 6] = [
    Example { file: "langgraph_agent.py", python: "python", counts: true },
    Example { file: "openai_agents.py", python: "python", counts: true },
    Example { file: "pydantic_agent.py", python: "python", counts: true },
    Example { file: "vercel_agent.mjs", python: "", counts: true },
    Example { file: "claude_agent.py", python: "python", counts: false },
    Example { file: "crewai_crew.py", python: "crewai", counts: false },
];

/// Where `just agents` has put the frameworks.
fn frameworks() -> Option<PathBuf> {
    let found = std::env::var_os("BARDO_FRAMEWORKS").map(PathBuf::from);
    if found.is_none() {
        eprintln!("skipped: the frameworks are absent; `just agents` installs them");
    }
    found
}

/// Runs an example under `bardo wrap` on so many dollars.
fn run(example: &Example, frameworks: &Path, double: &Double, credit: &str) -> Output {
    let tent = Tent::bare();
    let at = frameworks.join("at");
    std::fs::create_dir_all(&at).unwrap();
    // A module finds its packages from where it lies.
    let file = if example.python.is_empty() { frameworks.join(example.file) } else { at.join(example.file) };
    std::fs::copy(Path::new(EXAMPLES).join(example.file), &file).unwrap();
    let mut command = tent.command(["wrap", "--credit", credit, "--wind-up", "20s", "--name", "ada", "--"]);
    match example.python {
        "" => command.arg("node"),
        folder => command.arg(frameworks.join(folder).join("bin/python")),
    };
    command.arg(&file).current_dir(&at).env("OPENAI_API_KEY", "sk-canary").env("ANTHROPIC_API_KEY", "sk-ant-canary");
    if example.file == "claude_agent.py" {
        command.env("MODEL", "claude-sonnet-4-5");
    }
    let upstreams = format!("openai={0}/v1, anthropic={0}", double.url);
    command.env("BARDO__GATEWAY__UPSTREAMS", upstreams).env("HOME", tent.folder.path()).env_remove("XDG_CACHE_HOME");
    command.output().unwrap()
}

fn double(example: &Example) -> Double {
    let counted = Turn::default().tool("length", json!({ "text": "budget" }));
    let last = Turn::text("It has six letters.");
    let plays = if example.counts { vec![counted, last] } else { vec![last] };
    Double::start(Setting::new(Prices::parse("*=3/15").unwrap(), turns(plays, Habit::HONEST))).unwrap()
}

#[test]
fn an_example_does_its_work_with_money_and_ends_well_without() {
    let Some(frameworks) = frameworks() else { return };
    for example in &ALL {
        let double = double(example);
        let worked = run(example, &frameworks, &double, "2");
        let said = format!("{}\n{}", text(&worked.stdout), told(&worked));
        assert!(worked.status.success() && said.contains("six letters"), "{}: {said}", example.file);
        assert!(double.ledger.quiet(Duration::from_secs(20)) && double.ledger.calls() >= 1, "{}: {said}", example.file);
        let before = double.ledger.calls();
        let poor = run(example, &frameworks, &double, "0.0001");
        let said = format!("{}\n{}", text(&poor.stdout), told(&poor));
        assert!(said.contains("out of money") && !said.contains("Traceback"), "{}: {said}", example.file);
        assert_eq!((poor.status.code(), double.ledger.calls()), (Some(5), before), "{}: {said}", example.file);
    }
}

#[test]
fn every_example_can_be_read() {
    let listed: Vec<String> = ALL.iter().map(|example| example.file.to_owned()).collect();
    let mut found = 0;
    for entry in std::fs::read_dir(EXAMPLES).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(listed.contains(&name), "{name} is run by no test");
        found += 1;
        if name.ends_with(".py") {
            let read = "import ast, sys; ast.parse(open(sys.argv[1]).read())";
            let output = Command::new("python3").args(["-c", read]).arg(entry.path()).output().unwrap();
            assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        }
    }
    assert_eq!(found, listed.len());
}

/// The script of the skill, as an agent runs it; its words are those of the tools and the gateway.
#[test]
fn the_skill_tells_an_agent_how_it_stands() {
    let skill = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/skill/bardo-budget");
    let tent = Tent::bare();
    let asks = format!("sh {skill}/standing.sh && sh {skill}/standing.sh remember '{{\"text\":\"the port is 8080\"}}'");
    let mut command = tent.command(["wrap", "--credit", "2", "--name", "ada", "--", "sh", "-c", &asks]);
    let output = command.env("OPENAI_API_KEY", "sk-canary").output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    let lines = text(&output.stdout);
    let answers: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let standing = &answers[0]["result"]["structuredContent"];
    assert_eq!(answers[1]["result"]["structuredContent"]["done"], json!(true));
    // Every field that the skill explains is one that an agent is told.
    let words = std::fs::read_to_string(format!("{skill}/SKILL.md")).unwrap();
    let table = words.split("| field |").nth(1).unwrap().split("\n\n").next().unwrap();
    let fields: Vec<&str> = table.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next()).collect();
    assert!(fields.len() >= 6, "{fields:?}");
    for field in fields.iter().flat_map(|cell| cell.split(", ")).map(|name| name.trim_matches('`')) {
        assert!(standing.get(field).is_some(), "no {field} in {standing}");
    }
    let outside = Command::new("sh").arg(format!("{skill}/standing.sh")).env_remove("BARDO_MCP_URL").output().unwrap();
    assert!(!outside.status.success() && text(&outside.stderr).contains("does not run on a budget"));
}
