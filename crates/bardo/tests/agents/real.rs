//! Agents that people have, unmodified, as they are published, at a provider that bills like the published price pages. Each
//! works on two dollars with its default model and settings, and what it is said to have spent is what was billed.

mod lines;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tariff::Book;
use tempfile::TempDir;
use testing::billing::{Double, Habit, Plays, Prices, Setting, Turn, turns};

use crate::common::Tent;
use crate::wrap::{life, told};

/// One agent: how it is asked, asked again where it left off, and with which of its tools it looks at a file and asks a helper.
struct Agent {
    name: &'static str,
    asks: &'static [&'static str],
    again: &'static [&'static str],
    looks: fn(&str) -> (&'static str, Value),
    helper: fn() -> (&'static str, Value),
}

const CLAUDE: Agent = Agent {
    name: "claude",
    asks: &["-p"],
    again: &["-c", "-p"],
    looks: |file| ("Read", json!({ "file_path": file })),
    helper: || {
        let asked = json!({ "description": "look", "prompt": "say a word", "subagent_type": "general-purpose" });
        ("Agent", asked)
    },
};

/// Its model writes programs that use its tools.
const CODEX: Agent = Agent {
    name: "codex",
    asks: &["exec", "--skip-git-repo-check"],
    again: &["exec", "resume", "--last", "--skip-git-repo-check"],
    looks: |file| {
        let look = format!("text(await tools.exec_command({{ cmd: \"cat {file}\" }}));");
        ("exec", json!(look))
    },
    helper: || ("spawn_agent", json!({ "task_name": "look", "message": "say a word" })),
};

const GEMINI: Agent = Agent {
    name: "gemini",
    asks: &["--skip-trust", "-p"],
    again: &["--skip-trust", "--resume", "latest", "-p"],
    looks: |file| ("read_file", json!({ "file_path": file })),
    helper: || ("invoke_agent", json!({ "agent_name": "codebase_investigator", "prompt": "say a word" })),
};

const OPENCODE: Agent = Agent {
    name: "opencode",
    asks: &["run"],
    again: &["run", "-c"],
    looks: |file| ("read", json!({ "filePath": file })),
    helper: || {
        let asked = json!({ "description": "look", "prompt": "say a word", "subagent_type": "general" });
        ("task", asked)
    },
};

fn folder(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

fn cache() -> Option<PathBuf> {
    Some(folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?.join("bardo"))
}

/// Where `.ci/setup` puts them, or `just agents` the newest.
fn program(name: &str) -> Option<PathBuf> {
    let programs = folder("BARDO_AGENTS").or_else(|| Some(cache()?.join("programs")))?;
    let program = programs.join("node_modules/.bin").join(name);
    let found = program.exists().then_some(program);
    assert!(found.is_some() || std::env::var_os("BARDO_REALPARTS").is_none(), "{name} is absent: run .ci/setup");
    if found.is_none() {
        eprintln!("skipped: {name} is absent; `just agents` installs it");
    }
    found
}

/// What the book says, as the double reads it.
fn prices() -> Prices {
    let dollars = |micros: u64| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let row = |row: &tariff::PriceRow| {
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

/// An agent at work on two dollars, in a folder with notes.
struct Work<'a> {
    agent: &'a Agent,
    path: PathBuf,
    /// Its user's folder; agents distrust one that lies where everybody may write.
    user: TempDir,
    tent: Tent,
    double: Double,
}

impl Work<'_> {
    fn begin(agent: &Agent, plays: Vec<Turn>) -> Option<Work<'_>> {
        Work::with(agent, turns(plays, Habit::HONEST))
    }

    /// With a model that answers by this script.
    fn with(agent: &Agent, plays: Box<Plays>) -> Option<Work<'_>> {
        let path = program(agent.name)?;
        let double = Double::start(Setting::new(prices(), plays)).unwrap();
        let user = tempfile::tempdir_in(cache()?).unwrap();
        let work = Work { agent, path, user, tent: Tent::bare(), double };
        std::fs::create_dir_all(work.folder()).unwrap();
        for nth in 0..20 {
            std::fs::write(work.folder().join(format!("notes{nth}.txt")), format!("word {nth} is marzipan\n")).unwrap();
        }
        Some(work)
    }

    fn folder(&self) -> PathBuf {
        self.user.path().join("work")
    }

    /// The agent in its folder under `wrap` with these flags.
    fn command(&self, flags: &[&str], asks: &[&str]) -> Command {
        let mut command: Command = self.tent.command([&["wrap", "--name", "ada"][..], flags, &["--"]].concat());
        command.arg(&self.path).args(asks).current_dir(self.folder()).stdin(Stdio::null());
        let upstreams = format!("openai={0}/v1, anthropic={0}, gemini={0}/v1beta/openai", self.double.url);
        command.env("BARDO__GATEWAY__UPSTREAMS", upstreams).env("HOME", self.user.path()).env_remove("XDG_CACHE_HOME");
        for (name, key) in
            [("OPENAI_API_KEY", "sk-canary"), ("ANTHROPIC_API_KEY", "sk-ant-canary"), ("GEMINI_API_KEY", "AIzacanary")]
        {
            command.env(name, key);
        }
        command
    }

    /// Runs it, and gives what it said.
    fn run(&self, asks: &[&str], prompt: &str) -> String {
        let output = self.command(&["--credit", "2"], asks).arg(prompt).output().unwrap();
        let said = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), told(&output));
        assert!(output.status.success(), "{}: {said}\n{}", self.agent.name, self.double.ledger.lines());
        assert!(!said.contains("canary"), "{said}");
        said
    }

    /// Whatever it asked is in the bill, and what is booked is the bill.
    fn is_paid(&self, calls: u64, said: &str) {
        let (name, ledger) = (self.agent.name, &self.double.ledger);
        assert!(ledger.quiet(Duration::from_secs(20)), "{name} is still being answered");
        let (billed, life) = (ledger.billed_in_all(), life(&self.tent, "ada"));
        let (spent, made) = (life.calls().spent.as_micros() as u64, ledger.calls());
        println!("counted: {name}: {made} calls, billed {billed} micro-dollars, booked {spent}");
        assert!(made >= calls, "{name}: {made} calls\n{said}\n{}", ledger.lines());
        assert!(billed > 0 && billed <= 2_000_000, "{name}: {said}");
        assert!(spent >= billed && spent - billed <= billed / 100, "{name}: billed {billed}, booked {spent}");
        assert_eq!(life.calls().denied, 0, "{name}: {said}");
    }
}

fn says_hello(agent: &Agent) {
    let Some(work) = Work::begin(agent, vec![Turn::text("hello from the double")]) else { return };
    let said = work.run(agent.asks, "say hello");
    assert!(said.contains("hello from the double"), "{}: {said}", agent.name);
    work.is_paid(1, &said);
}

fn works_through_twenty_calls(agent: &Agent) {
    let looks = |nth: usize| {
        let (tool, input) = (agent.looks)(&format!("notes{nth}.txt"));
        Turn::default().tool(tool, input)
    };
    let mut plays: Vec<Turn> = (0..20).map(looks).collect();
    plays.push(Turn::text("the word is marzipan, twenty times"));
    let Some(work) = Work::begin(agent, plays) else { return };
    let said = work.run(agent.asks, "read all the notes");
    assert!(said.contains("twenty times"), "{}: {said}", agent.name);
    work.is_paid(21, &said);
}

fn asks_a_helper(agent: &Agent) {
    let (tool, input) = (agent.helper)();
    let plays = vec![Turn::default().tool(tool, input), Turn::text("the helper said so")];
    let Some(work) = Work::begin(agent, plays) else { return };
    let said = work.run(agent.asks, "have a helper say a word");
    assert!(said.contains("the helper said so"), "{}: {said}", agent.name);
    work.is_paid(3, &said);
    // Those that name their helpers are told apart in what they spent.
    if ["claude", "codex"].contains(&agent.name) {
        let tree = work.tent.ok(["golem", "costs", "ada", "--tree", "--json"]);
        let tree: Value = serde_json::from_str(&tree).unwrap();
        let is_helper = |part: &Value| part["part"] == "agent" && part["name"] != "" && part["cost"] != 0;
        let parts = |of: &Value| of["parts"].as_array().cloned().unwrap_or_default();
        let has_helper = |part: &Value| part["part"] == "session" && parts(part).iter().any(is_helper);
        assert!(parts(&tree["lives"][0]).iter().any(has_helper), "{}: {tree}", agent.name);
    }
}

fn goes_on_where_it_left_off(agent: &Agent) {
    let plays = vec![Turn::text("the first word"), Turn::text("the second word")];
    let Some(work) = Work::begin(agent, plays) else { return };
    let said = work.run(agent.asks, "say a word");
    assert!(said.contains("the first word"), "{}: {said}", agent.name);
    let said = work.run(agent.again, "and another");
    assert!(said.contains("the second word"), "{}: {said}", agent.name);
    work.is_paid(2, &said);
}

macro_rules! agents {
    ($($name:ident: $agent:ident),* $(,)?) => { $(mod $name {
        #[test]
        fn says_hello() {
            super::says_hello(&super::$agent);
        }

        #[test]
        fn works_through_a_task_of_twenty_calls() {
            super::works_through_twenty_calls(&super::$agent);
        }

        #[test]
        fn asks_a_helper() {
            super::asks_a_helper(&super::$agent);
        }

        #[test]
        fn goes_on_where_it_left_off() {
            super::goes_on_where_it_left_off(&super::$agent);
        }
    })* };
}

agents! { claude: CLAUDE, codex: CODEX, gemini: GEMINI, opencode: OPENCODE }

/// Whoever points Codex at the gateway by hand has it try a WebSocket first.
#[test]
fn codex_goes_on_by_itself_where_it_finds_no_websocket() {
    let Some(work) = Work::begin(&CODEX, vec![Turn::text("hello from the double")]) else { return };
    let asks = [CODEX.asks, &["-c", "model_providers.bardo.supports_websockets=true"]].concat();
    let said = work.run(&asks, "say hello");
    assert!(said.contains("hello from the double") && !said.contains("Reconnecting"), "{said}");
    work.is_paid(1, &said);
}
