//! A line of three lives of Claude Code and of Codex: each is told its end in time, in its calls or by its own hooks, leaves a
//! word for the next, and reads what those before it left.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use testing::billing::{BilledRequest, Habit, Turn, Used};

use super::{Agent, Work};
use crate::wrap::{life, told};

/// How the line of the runtime begins.
const NOTICE: &str = "Notice of the runtime: this life is about to end";
/// The file that a prompt names.
const PAGE: &str = "inheritance.md";
/// Words that lives leave: the first one, and those behind it.
const FIRST: &str = "the first half of it";
const LATER: &str = "the second half of it";
const NAMES: [&str; 3] = ["ada", "ada-2", "ada-3"];
/// Claude Code puts the variables in itself, and has these tools at hand from its first call on.
const MCP: &str = r#"{"mcpServers":{"bardo":{"type":"http","url":"${BARDO_MCP_URL}","alwaysLoad":true,"headers":{"Authorization":"Bearer ${BARDO_TOKEN}"}}}}"#;
/// A hook that its owner has not looked at.
const UNTRUSTED: &str =
    "[[hooks.PostToolUse]]\n[[hooks.PostToolUse.hooks]]\ntype = \"command\"\ncommand = \"touch \\\"$HOME/evil\\\"\"\n";

struct LineAgent {
    agent: &'static Agent,
    /// Arguments behind its prompt.
    allows: &'static [&'static str],
    /// The tool by which it takes its time.
    works: fn(usize) -> (&'static str, Value),
    /// The tool by which it leaves its word: as the first life, or beside the page it was left.
    leaves: fn(bool, &str) -> (&'static str, Value),
    /// The role of the message in which its hooks tell it something.
    hooked: &'static str,
}

static CLAUDE: LineAgent = LineAgent {
    agent: &super::CLAUDE,
    allows: &[
        "--add-dir",
        "{inheritance}/..",
        "--mcp-config",
        MCP,
        "--allowedTools",
        "Bash,Write,mcp__bardo__last_words",
    ],
    works: |round| ("Bash", json!({ "command": format!("sleep 3; echo {round}"), "description": "work" })),
    leaves: |is_first, page| {
        if is_first {
            return ("mcp__bardo__last_words", json!({ "worked": FIRST }));
        }
        ("Write", json!({ "file_path": beside(page), "content": format!("worked: {LATER}\n") }))
    },
    hooked: "system",
};

/// A sandbox of its own cannot be set up behind the fence.
static CODEX: LineAgent = LineAgent {
    agent: &super::CODEX,
    allows: &["--sandbox", "danger-full-access"],
    works: |round| shell_of_codex(&format!("sleep 3; echo {round}")),
    leaves: |is_first, page| {
        let word = if is_first { FIRST } else { LATER };
        shell_of_codex(&format!("echo 'worked: {word}' > '{}'", beside(page)))
    },
    hooked: "developer",
};

fn shell_of_codex(command: &str) -> (&'static str, Value) {
    ("exec", json!(format!("text(await tools.exec_command({{ cmd: {} }}));", json!(command))))
}

/// The file for a last word, in the folder of this page.
fn beside(page: &str) -> String {
    page.replace(PAGE, "testament.txt")
}

/// The path of the page that its prompt names.
fn page_in(body: &str) -> Option<&str> {
    let end = body.find(PAGE)? + PAGE.len();
    let begin = body[..end].rfind([' ', '"'])? + 1;
    Some(&body[begin..end])
}

/// The model reads what was left, works until it is told of its end, and then leaves its word.
fn turn(line: &LineAgent, asked: &BilledRequest) -> Turn {
    let body = asked.body.to_string();
    let Some(page) = page_in(&body).filter(|_| !asked.tools.is_empty()) else { return Turn::text("A title.") };
    let (tool, input) = match asked.rounds {
        0 => (line.agent.looks)(page),
        round if !body.contains(NOTICE) => (line.works)(round),
        _ => (line.leaves)(body.contains("nothing was left to you"), page),
    };
    Turn::default().tool(tool, input)
}

/// A call as its provider received it, and what it used.
type HeardCall = (Value, Used);

/// Three lives of three calls, each dead of that and paid as billed; none where the agent is absent.
fn three_lives(line: &'static LineAgent, tell: &str) -> Option<Vec<Vec<HeardCall>>> {
    let plays = move |_: u64, asked: &BilledRequest| (turn(line, asked), Habit::HONEST);
    let work = Work::with(line.agent, Box::new(plays))?;
    fs::create_dir(work.user.path().join(".codex")).unwrap();
    fs::write(work.user.path().join(".codex/config.toml"), UNTRUSTED).unwrap();
    let flags = ["--credit", "20", "--lives", "3", "--calls", "3", tell, "--every", "1s", "--wind-up", "2s"];
    let mut command = work.command(&flags, line.agent.asks);
    let output = command.arg("Read {inheritance} first. Then work.").args(line.allows).output().unwrap();
    let (words, ledger) = (told(&output), &work.double.ledger);
    let name = line.agent.name;
    assert!(output.status.success(), "{name}: {words}\n{}", ledger.lines());
    assert!(ledger.quiet(Duration::from_secs(20)), "{name} is still being answered");
    let lives = NAMES.map(|golem| life(&work.tent, golem));
    assert!(lives.iter().all(golem::Life::is_dead), "{name}: {words}");
    let billed = ledger.billed_in_all();
    let spent: u64 = lives.iter().map(|life| life.calls().spent.as_micros() as u64).sum();
    assert!((billed..=billed + billed / 100).contains(&spent), "{name}: billed {billed}, booked {spent}");
    assert!(!work.user.path().join("evil").exists(), "{name} ran a hook that its owner did not look at");
    assert!(!work.user.path().join(".claude/settings.json").exists(), "{name}");
    Some(calls_by_life(&work))
}

/// What was asked, life by life; requests that only count are left out.
fn calls_by_life(work: &Work<'_>) -> Vec<Vec<HeardCall>> {
    let (heard, entries) = (work.double.heard(), work.double.ledger.entries());
    assert_eq!(heard.len(), entries.len(), "some are not kept");
    let mut lives: Vec<(String, Vec<HeardCall>)> = Vec::new();
    for ((_, body), entry) in heard.into_iter().zip(entries) {
        let page = page_in(&body.to_string()).map(str::to_owned);
        let Some(page) = page.filter(|_| !entry.path.contains("_tokens")) else { continue };
        match lives.last_mut() {
            Some((of, calls)) if *of == page => calls.push((body, entry.used)),
            _ => lives.push((page, vec![(body, entry.used)])),
        }
    }
    assert!(lives.len() == 3 && lives.iter().all(|(_, calls)| calls.len() == 3), "{}", work.double.ledger.lines());
    lives.into_iter().map(|(_, calls)| calls).collect()
}

/// Each life has read the words of all before it by its second call, and none in its first.
fn is_handed_on(lives: &[Vec<HeardCall>]) {
    for (at, calls) in lives.iter().enumerate() {
        let has = |call: usize, word: &str| calls[call].0.to_string().contains(word);
        assert!(!has(0, FIRST) && !has(0, LATER), "life {at} knows it before it has read it");
        assert_eq!((has(1, FIRST), has(1, LATER)), (at > 0, at > 1), "life {at}: {}", calls[1].0);
    }
}

fn messages(call: &Value) -> &[Value] {
    ["messages", "input"].iter().find_map(|name| call[name].as_array()).unwrap()
}

/// A message without the marks for a cache, which a client moves; a text alone may stand in a list or not.
fn bare(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(name, _)| !["cache_control", "output_config"].contains(&name.as_str()));
            fields.map(|(name, value)| (name.clone(), bare(value))).collect()
        }
        Value::Array(all) => match &all[..] {
            [one] if one["type"] == "text" => one["text"].clone(),
            _ => all.iter().map(bare).collect(),
        },
        other => other.clone(),
    }
}

fn is_told_in_its_calls(line: &'static LineAgent) {
    let Some(lives) = three_lives(line, "--tell") else { return };
    is_handed_on(&lives);
    for calls in &lives {
        let [first, (earlier, before), (last, used)] = &calls[..] else { panic!("{} calls", calls.len()) };
        assert!([&first.0, earlier].iter().all(|call| !call.to_string().contains(NOTICE)));
        assert_eq!(last.to_string().matches(NOTICE).count(), 1, "{last}");
        let (known, now) = (messages(earlier), messages(last));
        let newest = &now[now.len() - 1]["content"];
        let begins = |text: &Value| text.as_str().is_some_and(|text| text.starts_with(NOTICE));
        match newest.as_array().map(Vec::as_slice) {
            Some([.., marked, block]) => {
                assert!(!marked["cache_control"].is_null() && block["cache_control"].is_null(), "{newest}");
                assert!(block["type"] == "text" && begins(&block["text"]), "{newest}");
            }
            _ => assert!(begins(newest), "{newest}"),
        }
        // What its provider had read before, it reads again from its cache.
        let is_kept = known.iter().zip(now).all(|(one, other)| bare(one) == bare(other));
        assert!(now.len() > known.len() && is_kept, "{last}");
        assert!(used.read > 0 && used.read + 256 >= before.all_input(), "{before:?}, then {used:?}");
    }
}

fn is_told_by_its_own_hooks(line: &'static LineAgent) {
    let Some(lives) = three_lives(line, "--tell=hooks") else { return };
    is_handed_on(&lives);
    for calls in &lives {
        for (at, (call, _)) in calls.iter().enumerate() {
            let with: Vec<&Value> =
                messages(call).iter().filter(|message| message.to_string().contains(NOTICE)).collect();
            assert_eq!(with.len(), usize::from(at == 2), "{call}");
            assert!(with.iter().all(|message| message["role"] == line.hooked), "{with:?}");
        }
    }
}

#[test]
fn claude_is_told_in_its_calls_and_its_heirs_read_its_words() {
    is_told_in_its_calls(&CLAUDE);
}

#[test]
fn codex_is_told_in_its_calls_and_its_heirs_read_its_words() {
    is_told_in_its_calls(&CODEX);
}

#[test]
fn claude_is_told_by_its_own_hooks_and_its_heirs_read_its_words() {
    is_told_by_its_own_hooks(&CLAUDE);
}

#[test]
fn codex_is_told_by_its_own_hooks_and_its_heirs_read_its_words() {
    is_told_by_its_own_hooks(&CODEX);
}
