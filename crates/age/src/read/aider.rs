//! aider: the history of a chat, in which it rounds what it counts (`Tokens: 2.1k sent, 150 received.`), and its own log, in
//! which it does not and which only those have who asked for one. Read in 0.86.2.

use std::io::{self, BufRead};

use serde::Deserialize;
use tariff::Tokens;

use crate::growing::Growing;
use crate::lines::{Lines, Taken, each_line};
use crate::name;
use crate::record::Harness;
use crate::shelf::{FilePlace, Shelf, named};
use crate::tool::{Edit, ToolUse};

const BEGINS: &str = "# aider chat started at ";

/// Reads a history, in which one life comes after the other.
pub fn read_aider(shelf: &mut Shelf<'_>, place: &FilePlace<'_>, from: impl BufRead) -> io::Result<()> {
    let mut lines = Lines { files: 1, ..Lines::default() };
    let mut history =
        History { folder: place.stem.to_owned(), life: None, model: String::new(), edits: 0, failed: 0, at: 0 };
    let read = each_line(from, &mut lines, |line| match std::str::from_utf8(line) {
        Ok(line) => history.take(line, shelf),
        Err(_) => Taken::Unreadable,
    });
    if let Some(life) = history.life {
        shelf.put(life);
    }
    shelf.count(Harness::Aider, lines);
    read
}

struct History {
    folder: String,
    life: Option<Growing>,
    model: String,
    /// Since the call before.
    edits: u32,
    failed: u32,
    at: i64,
}

impl History {
    fn take(&mut self, line: &str, shelf: &mut Shelf<'_>) -> Taken {
        if let Some(when) = line.strip_prefix(BEGINS) {
            return self.begin(when, shelf);
        }
        let Some(life) = &mut self.life else { return Taken::Unknown };
        if line.starts_with("#### ") {
            life.asked();
            return Taken::Known;
        }
        // All else is what was said, or what it shows.
        let Some(said) = line.strip_prefix("> ") else { return Taken::Known };
        if let Some(counted) = said.strip_prefix("Tokens: ") {
            return self.call(counted);
        }
        for begins in ["Model: ", "Main model: "] {
            if let Some(model) = said.strip_prefix(begins) {
                model.split(' ').next().unwrap_or_default().clone_into(&mut self.model);
            }
        }
        if said.starts_with("Applied edit to ") {
            self.edits += 1;
            let call = life.calls().checked_sub(1);
            if let Some(call) = call {
                life.edit(call, Edit::new(said, "", &format!("{call} {}", self.edits)));
                let name = named(&[&call.to_string(), "applied", &self.edits.to_string()]);
                life.tool(call, name, &ToolUse::new("edit", name.to_string().as_bytes()));
                life.result(name, Some(false));
            }
        }
        if said.starts_with("The LLM did not conform to the edit format") {
            self.failed += 1;
            if let Some(call) = life.calls().checked_sub(1) {
                let name = named(&[&call.to_string(), &self.failed.to_string()]);
                life.tool(call, name, &ToolUse::new("edit", name.to_string().as_bytes()));
                life.result(name, Some(true));
            }
        }
        if said.starts_with("^C") {
            life.interrupted();
        }
        Taken::Known
    }

    /// Begins a life. aider writes local time without its zone: it is read as if it were UTC.
    fn begin(&mut self, when: &str, shelf: &mut Shelf<'_>) -> Taken {
        if let Some(before) = self.life.take() {
            shelf.put(before);
        }
        (self.edits, self.failed) = (0, 0);
        let utc = format!("{}Z", when.trim().replacen(' ', "T", 1));
        let Some(at) = name::millis(&utc) else { return Taken::Unreadable };
        let mut life = Growing::new(Harness::Aider, &format!("{} {when}", self.folder), None);
        life.lives_in(&self.folder);
        life.life().rounded = true;
        life.at(at);
        self.at = at;
        self.life = Some(life);
        Taken::Known
    }

    /// `2.1k sent, 1k cache write, 3k cache hit, 150 received. Cost: $0.01 message, $0.02 session.`
    fn call(&mut self, counted: &str) -> Taken {
        let Some(life) = &mut self.life else { return Taken::Unknown };
        let counts = counted.split(". ").next().unwrap_or(counted).trim_end_matches('.');
        let mut tokens = Tokens::default();
        for part in counts.split(", ") {
            let Some((many, what)) = part.split_once(' ') else { return Taken::Unreadable };
            let Some(many) = rounded(many) else { return Taken::Unreadable };
            match what {
                "sent" => tokens.input = many,
                "cache write" => tokens.write_5m = many,
                "cache hit" => tokens.cached = many,
                "received" => tokens.output = many,
                _ => return Taken::Unreadable,
            }
        }
        tokens.input = tokens.input.saturating_sub(tokens.write_5m.saturating_add(tokens.cached));
        let call = life.call(None, self.at);
        life.used(call, &self.model, &tokens);
        let told = counted.split("Cost: $").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
        if let Some(dollars) = told.filter(|dollars| (0.0..1e6).contains(dollars)) {
            let sum = life.life().told.unwrap_or(0);
            life.life().told = Some(sum.saturating_add((dollars * 1e6).round() as u64));
        }
        Taken::Known
    }
}

/// `950`, `2.1k`, `35k`.
fn rounded(text: &str) -> Option<u64> {
    let (digits, times) = text.strip_suffix('k').map_or((text, 1.0), |digits| (digits, 1e3));
    let number = digits.parse::<f64>().ok().filter(|number| (0.0..1e9).contains(number))?;
    Some((number * times).round() as u64)
}

#[derive(Debug, Deserialize)]
struct Event {
    event: String,
    time: i64,
    #[serde(default)]
    properties: Properties,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Properties {
    main_model: String,
    prompt_tokens: u64,
    completion_tokens: u64,
    cost: f64,
}

/// Reads its own log (`--analytics-log`), in which each start of the program is a life.
pub fn read_aider_log(shelf: &mut Shelf<'_>, place: &FilePlace<'_>, from: impl BufRead) -> io::Result<()> {
    let mut lines = Lines { files: 1, ..Lines::default() };
    let mut life: Option<Growing> = None;
    let read = each_line(from, &mut lines, |line| {
        let Ok(event) = serde_json::from_slice::<Event>(line) else { return Taken::Unreadable };
        let at = event.time.saturating_mul(1_000);
        if event.event == "launched" {
            life.take().into_iter().for_each(|before| shelf.put(before));
            life = Some(Growing::new(Harness::Aider, &format!("{} {at}", place.stem), None));
        }
        let Some(life) = &mut life else { return Taken::Unknown };
        life.at(at);
        match event.event.as_str() {
            "message_send_starting" => life.asked(),
            "message_send_exception" => life.broke(),
            "message_send" => sent(life, &event.properties, at),
            _ => {}
        }
        Taken::Known
    });
    life.into_iter().for_each(|last| shelf.put(last));
    shelf.count(Harness::Aider, lines);
    read
}

/// Notes a call: aider has one count for all input, and says what the call cost.
fn sent(life: &mut Growing, said: &Properties, at: i64) {
    let call = life.call(None, at);
    let tokens = Tokens { input: said.prompt_tokens, output: said.completion_tokens, ..Tokens::default() };
    life.used(call, &said.main_model, &tokens);
    if (0.0..1e6).contains(&said.cost) {
        let sum = life.life().told.unwrap_or(0);
        life.life().told = Some(sum.saturating_add((said.cost * 1e6).round() as u64));
    }
}
