//! Gemini CLI: a chat is a file of lines since 0.5x, and was one JSON document before. An answer is written again when its
//! tools have done what they were asked, and the whole chat when it is taken up again.

use std::collections::HashSet;
use std::io::{self, BufRead, Read};

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

/// The longest chat of the older kind that is read.
const LONGEST: u64 = 64 << 20;

/// A line is the head of a chat, a message, or a changed setting; each has names of its own. Flattened it could not borrow.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GeminiLine<'a> {
    session_id: Option<String>,
    project_hash: Option<String>,
    kind: Option<String>,
    #[serde(borrow)]
    messages: Option<Vec<Message<'a>>>,
    #[serde(rename = "$set", borrow)]
    set: Option<Set<'a>>,
    #[serde(rename = "$rewindTo", borrow)]
    rewind: Option<&'a RawValue>,
    #[serde(rename = "type")]
    speaker: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Set<'a> {
    #[serde(borrow)]
    messages: Option<Vec<Message<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Message<'a> {
    id: Option<String>,
    timestamp: Option<String>,
    #[serde(rename = "type")]
    speaker: Option<String>,
    model: Option<String>,
    tokens: Option<Counts>,
    #[serde(borrow)]
    tool_calls: Option<Vec<Tool<'a>>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    input: u64,
    output: u64,
    cached: u64,
    thoughts: u64,
    tool: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Tool<'a> {
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    status: Option<String>,
    #[serde(borrow)]
    result_display: Option<&'a RawValue>,
}

impl Counts {
    /// Tokens by kind; cached ones are part of the input, and thoughts are paid like answers.
    fn tokens(self) -> Tokens {
        let all = self.input.saturating_add(self.tool);
        let cached = self.cached.min(all);
        Tokens {
            input: all - cached,
            output: self.output.saturating_add(self.thoughts),
            cached,
            write_5m: 0,
            write_1h: 0,
            thought: 0,
        }
    }
}

/// Reads one chat.
pub fn read_gemini(shelf: &mut Shelf<'_>, place: &FilePlace<'_>, mut from: impl BufRead) -> io::Result<()> {
    let mut lines = Lines { files: 1, ..Lines::default() };
    let mut chat = Chat {
        growing: Growing::new(Harness::Gemini, place.stem, None),
        stem: place.stem,
        headed: false,
        tools: HashSet::new(),
        answers: HashSet::new(),
    };
    // A document begins with a brace alone on its line.
    let document = from.fill_buf()?.starts_with(b"{\n") || from.fill_buf()?.starts_with(b"{\r\n");
    let read = if document {
        whole(&mut chat, shelf, &mut lines, from)
    } else {
        each_line(from, &mut lines, |line| match serde_json::from_slice::<GeminiLine<'_>>(line) {
            Ok(head) => chat.take(&head, line, shelf),
            Err(_) => Taken::Unreadable,
        })
    };
    shelf.put(chat.growing);
    shelf.count(Harness::Gemini, lines);
    read
}

fn whole(chat: &mut Chat<'_>, shelf: &mut Shelf<'_>, lines: &mut Lines, from: impl BufRead) -> io::Result<()> {
    let mut text = Vec::new();
    from.take(LONGEST).read_to_end(&mut text)?;
    lines.bytes += text.len() as u64;
    let taken = match serde_json::from_slice::<GeminiLine<'_>>(&text) {
        Ok(head) => chat.take(&head, &text, shelf),
        Err(_) => Taken::Unreadable,
    };
    lines.count(taken);
    Ok(())
}

struct Chat<'a> {
    growing: Growing,
    /// The name of its file.
    stem: &'a str,
    headed: bool,
    /// Tools that were asked for: an answer that is written again asks for nothing new.
    tools: HashSet<u64>,
    /// Answers that were set anew.
    answers: HashSet<u64>,
}

impl Chat<'_> {
    fn take(&mut self, head: &GeminiLine<'_>, text: &[u8], shelf: &mut Shelf<'_>) -> Taken {
        if let Some(set) = &head.set {
            self.set(set.messages.as_deref().unwrap_or_default());
            return Taken::Known;
        }
        if let Some(session) = &head.session_id {
            self.head(session, head, shelf);
            head.messages.iter().flatten().for_each(|message| self.message(message));
            return Taken::Known;
        }
        if head.rewind.is_some() {
            return Taken::Known;
        }
        if head.speaker.is_none() {
            return Taken::Unknown;
        }
        match serde_json::from_slice::<Message<'_>>(text) {
            Ok(message) => self.message(&message),
            Err(_) => return Taken::Unreadable,
        }
        Taken::Known
    }

    /// The whole talk anew. Where none of its answers was there before, it has been summed up.
    fn set(&mut self, messages: &[Message<'_>]) {
        let answers = messages.iter().filter(|message| message.speaker.as_deref() == Some("gemini"));
        let answers: Vec<u64> = answers.filter_map(|message| Some(named(&[message.id.as_deref()?]))).collect();
        let known = |id: &u64| self.answers.contains(id) || self.growing.known(*id).is_some();
        if self.growing.calls() > 0 && !answers.is_empty() && !answers.iter().any(known) {
            self.growing.compacted();
        }
        self.answers.extend(answers);
        messages.iter().for_each(|message| self.message(message));
    }

    /// The first says whose it is; any other, that it was taken up again.
    fn head(&mut self, session: &str, head: &GeminiLine<'_>, shelf: &mut Shelf<'_>) {
        if self.headed {
            return self.growing.resumed();
        }
        self.headed = true;
        let helper = head.kind.as_deref().is_some_and(|kind| kind != "main");
        let mut own = if helper { format!("{session} {:?}", head.kind) } else { session.to_owned() };
        // Older versions begin another file for a chat that is taken up, under the same name and with a copy of what was said.
        let again = !shelf.is_new(named(&["gemini", &own]));
        if again {
            own = format!("{own} {}", self.stem);
        }
        self.growing = Growing::new(Harness::Gemini, &own, helper.then_some(session));
        if again && !helper {
            self.growing.life().born = Born::Forked;
        }
        if let Some(project) = &head.project_hash {
            self.growing.lives_in(project);
        }
    }

    fn message(&mut self, message: &Message<'_>) {
        let at = message.timestamp.as_deref().and_then(millis).unwrap_or(0);
        let Some(id) = message.id.as_deref().map(|id| named(&[id])) else { return };
        match message.speaker.as_deref().unwrap_or_default() {
            "gemini" => self.spoke(id, message, at),
            "user" => {
                let content = message.content.map_or("", RawValue::get);
                // What its tools say comes back as its user's, and each chat begins with what the program says.
                if !content.contains("functionResponse") && !content.contains("<session_context>") {
                    if at > 0 {
                        self.growing.at(at);
                    }
                    self.growing.asked();
                }
            }
            "error" => self.growing.broke(),
            _ => {}
        }
    }

    fn spoke(&mut self, id: u64, message: &Message<'_>, at: i64) {
        // Said again without what it used, when a chat is taken up.
        let Some(counts) = message.tokens else { return };
        if at > 0 {
            self.growing.at(at);
        }
        let call = self.growing.known(id).unwrap_or_else(|| self.growing.call(Some(id), at));
        self.growing.used(call, message.model.as_deref().unwrap_or_default(), &counts.tokens());
        // Neither words nor tools: it asks for some, which are written down when they are through.
        let silent = matches!(message.content.map_or("", RawValue::get), "" | "\"\"" | "[]");
        if silent && message.tool_calls.iter().flatten().next().is_none() {
            return self.growing.asked();
        }
        self.growing.speaks();
        for tool in message.tool_calls.iter().flatten() {
            self.uses(call, tool);
        }
    }

    fn uses(&mut self, call: usize, tool: &Tool<'_>) {
        let (Some(id), Some(name)) = (&tool.id, &tool.name) else { return };
        let own = named(&[id, &call.to_string()]);
        let raw = tool.args.map_or("null", RawValue::get);
        let told = || serde_json::from_str::<Value>(raw).unwrap_or_default();
        if self.tools.insert(own) {
            let mut used = ToolUse::new(name, raw.as_bytes());
            used.helper = name.ends_with("_investigator") || name.ends_with("_agent") || name == "delegate_to_agent";
            if name == "run_shell_command" {
                used = used.runs(command(&told()).as_deref());
            }
            self.growing.tool(call, own, &used);
        }
        let Some(status) = tool.status.as_deref() else { return };
        let waits = self.growing.asked_by(own).is_some();
        match status {
            "success" => {
                // A shell that did what it was told has done so whatever its command came to.
                let said = tool.result_display.map_or("", RawValue::get);
                let code = said.strip_prefix("\"Command exited with code: ");
                let failed = code.is_some_and(|code| !code.starts_with('0'));
                self.growing.result(own, Some(failed));
                if waits && matches!(name.as_str(), "replace" | "edit" | "write_file") {
                    self.edit(call, &told(), raw);
                }
            }
            "error" => self.growing.result(own, Some(true)),
            "cancelled" => self.growing.result(own, None),
            _ => {}
        }
    }

    fn edit(&mut self, call: usize, told: &Value, raw: &str) {
        let text = |name: &str| told.get(name).and_then(Value::as_str);
        let edit = match (text("file_path"), text("old_string"), text("new_string")) {
            (Some(file), Some(from), Some(to)) => Edit::new(file, from, to),
            (file, _, _) => Edit::new(file.unwrap_or_default(), "", raw),
        };
        self.growing.edit(call, edit);
    }
}
