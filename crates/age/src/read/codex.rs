//! Codex: a file of lines for each session, called a rollout. What a call used stands behind what it said: since 0.169 by the
//! name of the answer, before that as sums that only grow.

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

/// Events that say what other lines say too, or nothing about a life.
const SAID_ELSEWHERE: [&str; 31] = [
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "background_event",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_close_end",
    "collab_waiting_end",
    "context_compacted",
    "deprecation_notice",
    "entered_review_mode",
    "exec_command_begin",
    "exited_review_mode",
    "image_generation_end",
    "item_started",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "patch_apply_begin",
    "plan_update",
    "session_configured",
    "task_started",
    "thread_name_updated",
    "thread_rolled_back",
    "thread_settings_applied",
    "turn_diff",
    "turn_started",
    "user_message",
    "view_image_tool_call",
    "warning",
    "web_search_end",
];
/// Beginnings of a tool's answer that mean it did not do what it was asked.
const BROKE: [&str; 5] =
    ["exec_command failed", "apply_patch verification failed", "failed to parse", "Script failed", "unsupported call"];

#[derive(Debug, Deserialize)]
struct CodexLine<'a> {
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    payload: &'a RawValue,
}

#[derive(Debug, Deserialize)]
struct Payload<'a> {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    call_id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    cli_version: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    model_context_window: Option<u64>,
    #[serde(default)]
    response_id: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    info: Option<Info>,
    #[serde(default)]
    exit_code: Option<i64>,
    #[serde(default)]
    success: Option<bool>,
    #[serde(default, borrow)]
    source: Option<&'a RawValue>,
    #[serde(default, borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(default, borrow)]
    input: Option<&'a RawValue>,
    #[serde(default, borrow)]
    action: Option<&'a RawValue>,
    #[serde(default, borrow)]
    output: Option<&'a RawValue>,
    #[serde(default, borrow)]
    item: Option<&'a RawValue>,
    #[serde(default, borrow)]
    changes: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
struct Usage {
    input_tokens: u64,
    #[serde(default)]
    cached_input_tokens: u64,
    #[serde(default)]
    cache_write_input_tokens: u64,
    output_tokens: u64,
}

#[derive(Debug, Deserialize)]
struct Info {
    total_token_usage: Usage,
    #[serde(default)]
    last_token_usage: Usage,
    #[serde(default)]
    model_context_window: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    exit_code: Option<i64>,
    #[serde(default)]
    changes: Option<Value>,
}

impl Usage {
    /// Tokens by kind; cached ones are part of the input.
    fn tokens(self) -> Tokens {
        let write_5m = self.cache_write_input_tokens.min(self.input_tokens);
        let cached = self.cached_input_tokens.min(self.input_tokens - write_5m);
        let input = self.input_tokens - write_5m - cached;
        Tokens { input, output: self.output_tokens, cached, write_5m, write_1h: 0, thought: 0 }
    }
}

/// Reads one rollout.
pub fn read_codex(shelf: &mut Shelf<'_>, place: &FilePlace<'_>, from: impl BufRead) -> io::Result<()> {
    let mut lines = Lines { files: 1, ..Lines::default() };
    let mut rollout = Rollout {
        growing: Growing::new(Harness::Codex, place.stem, None),
        model: String::new(),
        open: None,
        by_name: false,
        sum: None,
    };
    let read = each_line(from, &mut lines, |line| {
        let Ok(line) = serde_json::from_slice::<CodexLine<'_>>(line) else { return Taken::Unreadable };
        rollout.take(&line, shelf)
    });
    shelf.put(rollout.growing);
    shelf.count(Harness::Codex, lines);
    read
}

struct Rollout {
    growing: Growing,
    model: String,
    /// The call that is speaking: what it used is yet to be told.
    open: Option<usize>,
    /// Whether usage is given for each answer by name, so that sums only repeat it.
    by_name: bool,
    sum: Option<Usage>,
}

impl Rollout {
    fn take(&mut self, line: &CodexLine<'_>, shelf: &mut Shelf<'_>) -> Taken {
        let at = line.timestamp.as_deref().and_then(millis).unwrap_or(0);
        if at > 0 {
            self.growing.at(at);
        }
        if line.kind == "compacted" {
            self.growing.compacted();
            return Taken::Known;
        }
        if matches!(line.kind.as_str(), "world_state" | "ghost_snapshot" | "inter_agent_communication") {
            return Taken::Known;
        }
        let Ok(payload) = serde_json::from_str::<Payload<'_>>(line.payload.get()) else { return Taken::Unreadable };
        match line.kind.as_str() {
            "session_meta" => self.meta(&payload),
            "turn_context" => {
                if let Some(model) = payload.model {
                    self.model = model;
                }
            }
            "response_item" => return self.item(&payload, at),
            "token_usage_record" => return self.record(&payload, at, shelf),
            "event_msg" => return self.event(&payload, at),
            _ => return Taken::Unknown,
        }
        Taken::Known
    }

    /// The first says whose it is; one that is copied in behind it says whose copy.
    fn meta(&mut self, payload: &Payload<'_>) {
        if self.growing.calls() > 0 || self.growing.life().version.is_some() {
            return;
        }
        if let Some(id) = &payload.id {
            let parent = payload.source.and_then(|source| parent(&serde_json::from_str(source.get()).ok()?));
            let began = self.growing.life().began;
            self.growing = Growing::new(Harness::Codex, id, parent.as_deref());
            if began > 0 {
                self.growing.at(began);
            }
        }
        if let Some(folder) = &payload.cwd {
            self.growing.lives_in(folder);
        }
        if let Some(version) = &payload.cli_version {
            self.growing.version(version);
        }
    }

    fn item(&mut self, payload: &Payload<'_>, at: i64) -> Taken {
        match payload.kind.as_deref().unwrap_or_default() {
            "message" if payload.role.as_deref() == Some("assistant") => {
                self.speaks(at);
            }
            "message" if payload.role.as_deref() == Some("user") => self.growing.asked(),
            "message" | "additional_tools" | "compaction" | "ghost_snapshot" | "other" => {}
            "reasoning" | "web_search_call" | "image_generation_call" => {
                self.speaks(at);
            }
            "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" => self.uses(payload, at),
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                if let Some(id) = &payload.call_id {
                    let failed = payload.output.map_or(Some(false), |output| failed(output.get()));
                    self.growing.result(named(&[id]), failed);
                }
            }
            _ => return Taken::Unknown,
        }
        Taken::Known
    }

    /// The call that says this.
    fn speaks(&mut self, at: i64) -> usize {
        *self.open.get_or_insert_with(|| self.growing.call(None, at))
    }

    fn uses(&mut self, payload: &Payload<'_>, at: i64) {
        let call = self.speaks(at);
        let Some(id) = &payload.call_id else { return };
        let name = payload.name.as_deref().unwrap_or("shell");
        let told = payload.arguments.or(payload.input).or(payload.action).map_or("null", RawValue::get);
        let mut tool = ToolUse::new(name, told.as_bytes());
        tool.helper = name == "spawn_agent";
        if matches!(name, "shell" | "shell_command" | "exec_command" | "container.exec") {
            // Arguments are JSON in a text; an action is JSON as it is.
            let inner = serde_json::from_str::<String>(told).unwrap_or_else(|_| told.to_owned());
            let told = serde_json::from_str::<Value>(&inner).unwrap_or_default();
            tool = tool.runs(command(&told).as_deref());
        }
        self.growing.tool(call, named(&[id]), &tool);
    }

    fn record(&mut self, payload: &Payload<'_>, at: i64, shelf: &mut Shelf<'_>) -> Taken {
        let (Some(id), Some(usage)) = (&payload.response_id, payload.usage) else { return Taken::Unreadable };
        self.by_name = true;
        let time = at.to_string();
        if shelf.is_new(named(&["codex", id, &time])) {
            self.close(usage, at);
        } else {
            self.open = None;
            self.growing.life().born = Born::Forked;
        }
        Taken::Known
    }

    fn close(&mut self, usage: Usage, at: i64) {
        let call = self.open.take().unwrap_or_else(|| self.growing.call(None, at));
        let model = std::mem::take(&mut self.model);
        self.growing.used(call, &model, &usage.tokens());
        self.model = model;
    }

    fn event(&mut self, payload: &Payload<'_>, at: i64) -> Taken {
        let window = payload.model_context_window.or(payload.info.as_ref().and_then(|info| info.model_context_window));
        if window.is_some() {
            self.growing.life().window = window;
        }
        match payload.kind.as_deref().unwrap_or_default() {
            "token_count" => self.counts(payload.info.as_ref(), at),
            "item_completed" => {
                let item = payload.item.and_then(|item| serde_json::from_str::<Item>(item.get()).ok());
                let Some(item) = item else { return Taken::Unreadable };
                self.completed(&item);
            }
            "exec_command_end" => {
                if let (Some(id), Some(code)) = (&payload.call_id, payload.exit_code) {
                    self.growing.result(named(&[id]), Some(code != 0));
                }
            }
            "patch_apply_end" => {
                let changes = payload.changes.and_then(|changes| serde_json::from_str(changes.get()).ok());
                if let (Some(id), true, Some(changes)) = (&payload.call_id, payload.success == Some(true), changes) {
                    self.changes(named(&[id]), &changes);
                }
            }
            "turn_aborted" => self.growing.interrupted(),
            "task_complete" | "turn_complete" => self.growing.finished(),
            "error" | "stream_error" => self.growing.broke(),
            kind if SAID_ELSEWHERE.contains(&kind) => {}
            _ => return Taken::Unknown,
        }
        Taken::Known
    }

    /// Sums as they grow; said again without any growth they are no call.
    fn counts(&mut self, info: Option<&Info>, at: i64) {
        let Some(info) = info.filter(|_| !self.by_name) else { return };
        if self.sum != Some(info.total_token_usage) {
            self.sum = Some(info.total_token_usage);
            self.close(info.last_token_usage, at);
        }
    }

    fn completed(&mut self, item: &Item) {
        let Some(id) = &item.id else { return };
        match (item.kind.as_str(), item.exit_code, &item.changes) {
            ("CommandExecution", Some(code), _) => self.growing.result(named(&[id]), Some(code != 0)),
            ("FileChange", _, Some(changes)) => self.changes(named(&[id]), changes),
            _ => {}
        }
    }

    fn changes(&mut self, tool: u64, changes: &Value) {
        let last = self.growing.calls().saturating_sub(1);
        let call = self.growing.asked_by(tool).unwrap_or(last);
        for (file, change) in changes.as_object().into_iter().flatten() {
            // By kind in older versions, beside it in newer ones.
            let diff = change.get("unified_diff").or_else(|| change.pointer("/update/unified_diff"));
            let edit = match diff.and_then(Value::as_str) {
                Some(diff) => Edit::of_diff(file, diff),
                None => Edit::new(file, "", &change.to_string()),
            };
            self.growing.edit(call, edit);
        }
    }
}

/// The life it helps, as its source says.
fn parent(source: &Value) -> Option<String> {
    let found = source.get("subagent").or_else(|| source.get("sub_agent"))?;
    let spawned = found.get("thread_spawn").unwrap_or(found);
    Some(spawned.get("parent_thread_id").and_then(Value::as_str).unwrap_or("unknown").to_owned())
}

/// Whether what a tool said means that it failed: by the code it ended with. It is in the first lines, or it is not said, and
/// then it did what it was asked.
fn failed(output: &str) -> Option<bool> {
    let text = serde_json::from_str::<String>(output).unwrap_or_else(|_| output.to_owned());
    if let Ok(Value::Object(said)) = serde_json::from_str::<Value>(&text) {
        if let Some(code) = said.get("metadata").and_then(|more| more.get("exit_code")).and_then(Value::as_i64) {
            return Some(code != 0);
        }
        if let Some(success) = said.get("success").and_then(Value::as_bool) {
            return Some(!success);
        }
    }
    let head: Vec<&str> = text.lines().take(6).collect();
    if head.iter().any(|line| line.contains("rejected by user") || line.contains("aborted by user")) {
        return None;
    }
    for line in &head {
        let code =
            ["Process exited with code ", "Exit code: ", "exit code: "].iter().find_map(|say| line.strip_prefix(say));
        if let Some(code) = code.and_then(|code| code.trim().parse::<i64>().ok()) {
            return Some(code != 0);
        }
    }
    // A program that still runs is no failure.
    Some(head.first().is_some_and(|line| BROKE.iter().any(|say| line.starts_with(say))))
}
