//! Claude Code: a file of lines for each session, and one for each helper in a folder beside it. An answer is as many lines as
//! it has parts, each with the usage of the whole. Written by 2.1.328 and versions before it.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tariff::Tokens;

use crate::growing::Growing;
use crate::lines::{Lines, Taken, each_line};
use crate::name::millis;
use crate::record::{Born, Harness};
use crate::shelf::{FilePlace, Shelf, named};
use crate::tool::{Edit, ToolUse, command};

/// Kinds of lines that the program writes for itself, and that say nothing about a life.
const FOR_ITSELF: [&str; 28] = [
    "queue-operation",
    "attachment",
    "last-prompt",
    "tools-used",
    "atis-latch",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "mode",
    "permission-mode",
    "summary",
    "file-history-snapshot",
    "file-history-delta",
    "progress",
    "custom-title",
    "ai-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "tag",
    "pr-link",
    "worktree-state",
    "content-replacement",
    "task-summary",
    "speculation-accept",
    "attribution-snapshot",
    "bridge-session",
    "frame-link",
];

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeLine<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    subtype: Option<String>,
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(default)]
    uuid: Option<String>,
    #[serde(default)]
    parent_uuid: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    request_ref: Option<String>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_api_error_message: bool,
    #[serde(default)]
    is_compact_summary: bool,
    #[serde(default)]
    is_meta: bool,
    #[serde(default, borrow)]
    message: Option<&'a RawValue>,
    #[serde(default, rename = "totalCostUSD")]
    total_cost: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct ClaudeMessage<'a> {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(default, borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default, borrow)]
    input: Option<&'a RawValue>,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(default, borrow)]
    content: Option<&'a RawValue>,
    #[serde(default, borrow)]
    text: Option<&'a RawValue>,
}

/// Reads one file of a session, or of a helper's.
pub fn read_claude(shelf: &mut Shelf<'_>, place: &FilePlace<'_>, from: impl BufRead) -> io::Result<()> {
    let mut lines = Lines { files: 1, ..Lines::default() };
    let mut file = SessionFile { place: *place, rooms: Vec::new(), sides: HashMap::new(), left: false };
    let read = each_line(from, &mut lines, |text| {
        let mut taken = Taken::Known;
        // Some versions, now and then, put a second record behind the first, on the same line.
        for line in serde_json::Deserializer::from_slice(text).into_iter::<ClaudeLine<'_>>() {
            match line.map_or(Taken::Unreadable, |line| file.take(&line, shelf)) {
                Taken::Known => {}
                other => taken = other,
            }
        }
        taken
    });
    // What was read before a disk failed is read.
    file.rooms.into_iter().for_each(|room| shelf.put(room.growing));
    shelf.count(Harness::ClaudeCode, lines);
    read
}

/// One life in a file.
struct Room {
    growing: Growing,
    /// The calls that stand in another file already.
    copied: HashSet<u64>,
    /// Changes it has asked for, which are some once the tool says so.
    asked: HashMap<u64, (usize, Vec<Edit>)>,
}

struct SessionFile<'a> {
    place: FilePlace<'a>,
    rooms: Vec<Room>,
    /// In older versions helpers stand in the same file: which line belongs to which of them.
    sides: HashMap<u64, usize>,
    /// Whether the program has ended since the last line.
    left: bool,
}

impl SessionFile<'_> {
    fn take(&mut self, line: &ClaudeLine<'_>, shelf: &mut Shelf<'_>) -> Taken {
        match (line.kind.as_str(), line.subtype.as_deref()) {
            ("assistant" | "user", _) => {}
            ("system", Some("compact_boundary")) => self.room(line).growing.compacted(),
            ("system", Some("api_error")) => self.room(line).growing.broke(),
            ("system", _) => {}
            ("cost-state", _) => {
                self.costs(line);
                return Taken::Known;
            }
            (kind, _) if FOR_ITSELF.contains(&kind) => return Taken::Known,
            _ => return Taken::Unknown,
        }
        let message = match line.message.map(|raw| serde_json::from_str::<ClaudeMessage<'_>>(raw.get())) {
            Some(Ok(message)) => Some(message),
            Some(Err(_)) => return Taken::Unreadable,
            None if line.kind == "system" => None,
            None => return Taken::Unreadable,
        };
        let at = line.timestamp.as_deref().and_then(millis).unwrap_or(0);
        let left = std::mem::take(&mut self.left);
        let room = self.room(line);
        if at > 0 {
            room.growing.at(at);
        }
        if let Some(version) = &line.version {
            room.growing.version(version);
        }
        if let Some(folder) = line.cwd.as_deref().filter(|_| room.growing.life().project.is_none()) {
            room.growing.lives_in(folder);
        }
        match (message, line.kind.as_str()) {
            (Some(message), "assistant") => room.spoke(line, &message, at, shelf),
            (Some(message), "user") => room.heard(line, &message, left),
            _ => Taken::Known,
        }
    }

    /// Takes in the program's own total for the session, which it writes when it ends.
    fn costs(&mut self, line: &ClaudeLine<'_>) {
        self.left = true;
        let micros = line.total_cost.filter(|dollars| (0.0..1e9).contains(dollars)).map(|dollars| dollars * 1e6);
        if let (Some(micros), Some(room)) = (micros, self.rooms.first_mut()) {
            room.growing.life().told = Some(micros.round() as u64);
        }
    }

    /// The life a line belongs to.
    fn room(&mut self, line: &ClaudeLine<'_>) -> &mut Room {
        let at = if self.place.helper || !line.is_sidechain { 0 } else { self.side(line) };
        while self.rooms.len() <= at {
            let number = self.rooms.len();
            let session = line.session_id.as_deref().unwrap_or(self.place.stem);
            let growing = match (number, self.place.helper) {
                (0, false) => Growing::new(Harness::ClaudeCode, session, None),
                (0, true) => {
                    let own = line.agent_id.as_deref().unwrap_or(self.place.stem);
                    Growing::new(Harness::ClaudeCode, &format!("{session} {own}"), Some(session))
                }
                _ => Growing::new(Harness::ClaudeCode, &format!("{session} {number}"), Some(session)),
            };
            self.rooms.push(Room { growing, copied: HashSet::new(), asked: HashMap::new() });
        }
        &mut self.rooms[at]
    }

    /// Which helper, by the line before; one that comes after none is the first of another.
    fn side(&mut self, line: &ClaudeLine<'_>) -> usize {
        let before = line.parent_uuid.as_deref().and_then(|before| self.sides.get(&named(&[before]))).copied();
        let at = before.unwrap_or_else(|| self.rooms.len().max(1));
        if let Some(own) = &line.uuid {
            self.sides.insert(named(&[own]), at);
        }
        at
    }
}

impl Room {
    fn spoke(&mut self, line: &ClaudeLine<'_>, message: &ClaudeMessage<'_>, at: i64, shelf: &mut Shelf<'_>) -> Taken {
        let model = message.model.as_deref().unwrap_or_default();
        // What the program says in the model's place.
        if line.is_api_error_message || model == "<synthetic>" {
            if line.is_api_error_message {
                self.growing.broke();
            }
            return Taken::Known;
        }
        let (Some(id), Some(usage)) = (&message.id, &message.usage) else { return Taken::Unreadable };
        let time = line.timestamp.as_deref().unwrap_or_default();
        let name = named(&[id, line.request_ref.as_deref().unwrap_or_default()]);
        if self.copied.contains(&name) {
            return Taken::Known;
        }
        let call = match self.growing.known(name) {
            Some(call) => call,
            None if shelf.is_new(named(&["claude", id, time])) => self.growing.call(Some(name), at),
            None => {
                self.copied.insert(name);
                self.growing.life().born = Born::Forked;
                return Taken::Known;
            }
        };
        let mut tokens = Tokens::default();
        tokens.heed(usage);
        tokens.output = usage.get("output_tokens").and_then(Value::as_u64).unwrap_or(0);
        self.growing.used(call, model, &tokens);
        let Some(blocks) = message.content.and_then(blocks) else { return Taken::Unreadable };
        for block in blocks.iter().filter(|block| block.kind == "tool_use") {
            self.uses(call, block);
        }
        Taken::Known
    }

    fn uses(&mut self, call: usize, block: &Block<'_>) {
        let (Some(id), Some(name)) = (&block.id, &block.name) else { return };
        let raw = block.input.map_or("null", RawValue::get);
        let mut tool = ToolUse::new(name, raw.as_bytes());
        let told = || serde_json::from_str::<Value>(raw).unwrap_or_default();
        match name.as_str() {
            "Bash" => tool = tool.runs(command(&told()).as_deref()),
            "Agent" | "Task" => tool.helper = true,
            "Edit" | "MultiEdit" => {
                let told = told();
                let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                let file = text(&told, "file_path");
                let many = told.get("edits").and_then(Value::as_array).cloned().unwrap_or_else(|| vec![told.clone()]);
                let edit = |one| Edit::new(&file, &text(one, "old_string"), &text(one, "new_string"));
                self.asked.insert(named(&[id]), (call, many.iter().map(edit).collect()));
            }
            "Write" | "NotebookEdit" => {
                let told = told();
                let file = told.get("file_path").or(told.get("notebook_path")).and_then(Value::as_str);
                let edit = Edit::new(file.unwrap_or_default(), "", raw);
                self.asked.insert(named(&[id]), (call, vec![edit]));
            }
            _ => {}
        }
        self.growing.tool(call, named(&[id]), &tool);
    }

    fn heard(&mut self, line: &ClaudeLine<'_>, message: &ClaudeMessage<'_>, left: bool) -> Taken {
        let Some(content) = message.content else { return Taken::Unreadable };
        if line.is_compact_summary && self.growing.calls() == 0 {
            self.growing.life().born = Born::HandedOver;
        }
        let Some(blocks) = blocks(content) else {
            // Plain text, of its owner's or of the program's.
            let own = ["\"<command-", "\"<local-command-", "\"<bash-"];
            if line.is_compact_summary || line.is_meta || own.iter().any(|begins| content.get().starts_with(begins)) {
                return Taken::Known;
            }
            if left {
                self.growing.resumed();
            }
            self.growing.asked();
            return Taken::Known;
        };
        let mut asked = false;
        for block in &blocks {
            if let ("tool_result", Some(id)) = (block.kind.as_str(), &block.tool_use_id) {
                let said = block.content.map_or("", RawValue::get);
                let forbidden = said.contains("The user doesn't want to ");
                let failed = block.is_error.unwrap_or(false);
                let id = named(&[id]);
                self.growing.result(id, (!forbidden).then_some(failed));
                let (call, edits) = self.asked.remove(&id).filter(|_| !failed).unwrap_or_default();
                edits.into_iter().for_each(|edit| self.growing.edit(call, edit));
                continue;
            }
            let said = block.text.map_or("", RawValue::get);
            if said.starts_with("\"[Request interrupted by user") {
                self.growing.interrupted();
                return Taken::Known;
            }
            asked |= !line.is_meta;
        }
        if asked {
            if left {
                self.growing.resumed();
            }
            self.growing.asked();
        }
        Taken::Known
    }
}

/// The parts of a message; nothing, where it is one text.
fn blocks<'a>(content: &'a RawValue) -> Option<Vec<Block<'a>>> {
    serde_json::from_str(content.get()).ok()
}
