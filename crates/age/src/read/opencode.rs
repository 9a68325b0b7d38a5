//! opencode: a database since 1.2, and a folder of small files before. Both have a session's messages and the parts of each as
//! JSON; the caller opens them and hands those over, in order.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use tariff::Tokens;

use crate::growing::Growing;
use crate::lines::{Lines, Taken};
use crate::record::Harness;
use crate::shelf::{Shelf, named};
use crate::tool::{Edit, ToolUse, command};

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    time: Times,
    #[serde(default)]
    tokens: Option<Counts>,
    #[serde(default)]
    cost: Option<f64>,
    #[serde(default, rename = "modelID")]
    model: Option<String>,
    #[serde(default, rename = "providerID")]
    provider: Option<String>,
    #[serde(default)]
    error: Option<Failure>,
    #[serde(default)]
    summary: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Times {
    created: i64,
    completed: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Failure {
    name: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    input: u64,
    output: u64,
    reasoning: u64,
    cache: Cache,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Cache {
    read: u64,
    write: u64,
}

#[derive(Debug, Deserialize)]
struct MessagePart<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default, rename = "callID")]
    call_id: Option<String>,
    #[serde(default, borrow)]
    state: Option<ToolState<'a>>,
}

#[derive(Debug, Deserialize)]
struct ToolState<'a> {
    status: String,
    #[serde(default, borrow)]
    input: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default, borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct ToolOutcome {
    #[serde(default)]
    exit: Option<i64>,
}

/// One session while it is read.
#[derive(Debug)]
pub struct Session {
    growing: Growing,
    call: Option<usize>,
    told: f64,
    lines: Lines,
}

impl Session {
    /// By what opencode calls it, whose helper it is, where it works, and which version wrote it.
    pub fn new(id: &str, parent: Option<&str>, folder: &str, version: &str) -> Session {
        let mut growing = Growing::new(Harness::Opencode, id, parent);
        growing.lives_in(folder);
        growing.version(version);
        Session { growing, call: None, told: 0.0, lines: Lines::default() }
    }

    /// One message; its parts come after it.
    pub fn message(&mut self, id: &str, data: &[u8]) {
        self.call = None;
        self.lines.bytes += data.len() as u64;
        let taken = match serde_json::from_slice::<Message>(data) {
            Ok(message) => self.take(id, &message),
            Err(_) => Taken::Unreadable,
        };
        self.lines.count(taken);
    }

    fn take(&mut self, id: &str, message: &Message) -> Taken {
        for at in [Some(message.time.created), message.time.completed].into_iter().flatten().filter(|at| *at > 0) {
            self.growing.at(at);
        }
        match message.role.as_str() {
            "user" => self.growing.asked(),
            "assistant" => {
                if message.summary == Some(Value::Bool(true)) {
                    self.growing.compacted();
                }
                let Some(counts) = message.tokens else { return Taken::Unreadable };
                let all = [counts.input, counts.output, counts.reasoning, counts.cache.read, counts.cache.write];
                let failed = message.error.as_ref().map(|error| error.name.as_str());
                // An answer that never came has nothing but an error.
                if all != [0; 5] || failed.is_none() {
                    self.answers(id, message, counts);
                }
                match failed {
                    Some("MessageAbortedError") => self.growing.interrupted(),
                    Some(_) => self.growing.broke(),
                    None => {}
                }
            }
            _ => return Taken::Unknown,
        }
        Taken::Known
    }

    fn answers(&mut self, id: &str, message: &Message, counts: Counts) {
        let call = self.growing.call(Some(named(&[id])), message.time.created);
        self.call = Some(call);
        // No words have come yet.
        if counts.input == 0 && counts.cache.read == 0 && counts.cache.write == 0 {
            return self.growing.asked();
        }
        let tokens = Tokens {
            input: counts.input,
            output: counts.output.saturating_add(counts.reasoning),
            cached: counts.cache.read,
            write_5m: counts.cache.write,
            write_1h: 0,
            thought: 0,
        };
        let model = message.model.as_deref().unwrap_or_default();
        let name = message.provider.as_deref().map_or_else(|| model.to_owned(), |maker| format!("{maker}/{model}"));
        self.growing.used(call, &name, &tokens);
        self.told += message.cost.filter(|dollars| (0.0..1e6).contains(dollars)).unwrap_or(0.0);
    }

    /// One part of the message before it.
    pub fn part(&mut self, data: &[u8]) {
        self.lines.bytes += data.len() as u64;
        let taken = match serde_json::from_slice::<MessagePart<'_>>(data) {
            Ok(part) => self.take_part(&part),
            Err(_) => Taken::Unreadable,
        };
        self.lines.count(taken);
    }

    fn take_part(&mut self, part: &MessagePart<'_>) -> Taken {
        match part.kind.as_str() {
            "tool" => self.uses(part),
            "compaction" => {
                self.growing.compacted();
                Taken::Known
            }
            "text" | "reasoning" | "file" | "step-start" | "step-finish" | "snapshot" | "patch" | "agent"
            | "subtask" | "retry" => Taken::Known,
            _ => Taken::Unknown,
        }
    }

    fn uses(&mut self, part: &MessagePart<'_>) -> Taken {
        let (Some(name), Some(id), Some(state)) = (&part.tool, &part.call_id, &part.state) else {
            return Taken::Unreadable;
        };
        let Some(call) = self.call else { return Taken::Known };
        let raw = state.input.map_or("null", RawValue::get);
        let told = serde_json::from_str::<Value>(raw).unwrap_or_default();
        let mut tool = ToolUse::new(name, raw.as_bytes());
        tool.helper = name == "task";
        if name == "bash" {
            tool = tool.runs(command(&told).as_deref());
        }
        let own = named(&[id, &call.to_string()]);
        self.growing.tool(call, own, &tool);
        match state.status.as_str() {
            "completed" => {
                let more = state.metadata.and_then(|more| serde_json::from_str::<ToolOutcome>(more.get()).ok());
                let code = more.and_then(|more| more.exit);
                self.growing.result(own, Some(code.is_some_and(|code| code != 0)));
                if matches!(name.as_str(), "edit" | "multiedit" | "write") {
                    self.edit(call, &told, raw);
                }
            }
            "error" => {
                let why = state.error.as_deref().unwrap_or_default();
                let forbidden = why.contains("rejected permission") || why.contains("rule which prevents");
                self.growing.result(own, (!forbidden).then_some(true));
            }
            _ => {}
        }
        Taken::Known
    }

    fn edit(&mut self, call: usize, told: &Value, raw: &str) {
        let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
        let file = text(told, "filePath").unwrap_or_default();
        let many = told.get("edits").and_then(Value::as_array).cloned().unwrap_or_else(|| vec![told.clone()]);
        for one in &many {
            let edit = match (text(one, "oldString"), text(one, "newString")) {
                (Some(from), Some(to)) => Edit::new(&file, &from, &to),
                _ => Edit::new(&file, "", raw),
            };
            self.growing.edit(call, edit);
        }
    }

    /// All of it is told.
    pub fn put(mut self, shelf: &mut Shelf<'_>) {
        if self.told > 0.0 {
            self.growing.life().told = Some((self.told * 1e6).round() as u64);
        }
        shelf.count(Harness::Opencode, Lines { files: 1, ..self.lines });
        shelf.put(self.growing);
    }
}
