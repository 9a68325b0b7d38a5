//! Sessions of agents by their shapes, which stand in `sessions.csv`: how much goes in and comes out, call by call. The requests
//! are written from them in whatever protocol is wanted, as the clients write them, with words of our own that look like English,
//! like code and like JSON.

use serde_json::{Value, json};
use testing::billing::Tokeniser;

use crate::common::Dice;

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spoken {
    Chat,
    Responses,
    Messages,
    Generate,
}

/// What goes in before one answer, what that looks like, and how long the answer is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    gets: u64,
    kind: char,
    pub(super) says: u64,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) name: String,
    pub(super) spoken: Spoken,
    pub(super) model: String,
    system: u64,
    tools: u64,
    /// The client marks what is to be cached.
    pub(super) marks: bool,
    /// Tokens of an answer, where the client says.
    pub(super) most: Option<u64>,
    pub(super) steps: Vec<Step>,
}

/// All of them, in the order in which a share of them is taken.
pub(super) fn all() -> Vec<Session> {
    let lines = include_str!("sessions.csv").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| read(line).unwrap_or_else(|| panic!("no session: {line}"))).collect()
}

fn read(line: &str) -> Option<Session> {
    let cells: Vec<&str> = line.split(',').collect();
    let [name, spoken, model, system, tools, marks, most, steps] = cells[..] else { return None };
    let spoken = match spoken {
        "chat" => Spoken::Chat,
        "responses" => Spoken::Responses,
        "messages" => Spoken::Messages,
        "generate" => Spoken::Generate,
        _ => return None,
    };
    let step = |step: &str| {
        let (goes_in, says) = step.split_once('/')?;
        let kind = goes_in.chars().next_back()?;
        Some(Step { gets: goes_in.strip_suffix(kind)?.parse().ok()?, kind, says: says.parse().ok()? })
    };
    Some(Session {
        name: name.to_owned(),
        spoken,
        model: model.to_owned(),
        system: system.parse().ok()?,
        tools: tools.parse().ok()?,
        marks: marks == "yes",
        most: most.parse().ok(),
        steps: steps.split(';').map(step).collect::<Option<_>>()?,
    })
}

/// A session with its words.
pub(super) struct Talk<'a> {
    session: &'a Session,
    spoken: Spoken,
    model: &'a str,
    system: String,
    tools: Vec<(String, String, Value)>,
    /// What goes in and what was answered, step by step.
    said: Vec<(String, String)>,
}

impl<'a> Talk<'a> {
    /// In the protocol of its client and with its model, or in another and with another.
    pub(super) fn new(session: &'a Session, spoken: Spoken, model: &'a str) -> Talk<'a> {
        let mut dice = Dice(session.name.bytes().map(u64::from).sum());
        let tool = |n: u64, dice: &mut Dice| {
            let name = format!("{}_{}_{n}", word(dice), word(dice));
            let schema = json!({ "type": "object", "required": ["command"], "additionalProperties": false, "properties": {
                "command": { "type": "string", "description": text('e', 24, dice) },
                word(dice): { "type": "integer", "description": text('e', 18, dice), "minimum": 0 } } });
            (name, text('e', 300, dice), schema)
        };
        let tools = (0..session.tools.div_ceil(400)).map(|n| tool(n, &mut dice)).collect();
        let system = text('e', session.system, &mut dice);
        let said = |step: &Step| {
            let goes_in = text(step.kind, step.gets, &mut dice);
            (goes_in, text(if session.tools > 0 { 'c' } else { 'e' }, step.says, &mut dice))
        };
        let said = session.steps.iter().map(said).collect();
        Talk { session, spoken, model, system, tools, said }
    }

    fn is_agent(&self) -> bool {
        !self.tools.is_empty()
    }

    /// Where its nth request goes, after `/g/NAME`.
    pub(super) fn path(&self) -> String {
        match self.spoken {
            Spoken::Chat => "/v1/chat/completions".to_owned(),
            Spoken::Responses => "/v1/responses".to_owned(),
            Spoken::Messages => "/v1/messages".to_owned(),
            Spoken::Generate => format!("/v1beta/models/{}:generateContent", self.model),
        }
    }

    /// Its nth request, with everything that was said before.
    pub(super) fn body(&self, nth: usize) -> Value {
        match self.spoken {
            Spoken::Chat => self.chat(nth),
            Spoken::Responses => self.responses(nth),
            Spoken::Messages => self.messages(nth),
            Spoken::Generate => self.generate(nth),
        }
    }

    /// What an agent asks its tool, or what a model says.
    fn asks(&self, step: usize) -> (&str, Value) {
        let (tool, ..) = &self.tools[step % self.tools.len()];
        (tool.as_str(), json!({ "command": self.said[step].1 }))
    }

    fn chat(&self, nth: usize) -> Value {
        let mut list = vec![json!({ "role": "system", "content": self.system })];
        for (step, (goes_in, answer)) in self.said[..=nth].iter().enumerate() {
            list.push(match step {
                0 => json!({ "role": "user", "content": goes_in }),
                _ if self.is_agent() => {
                    json!({ "role": "tool", "tool_call_id": format!("call_{}", step - 1), "content": goes_in })
                }
                _ => json!({ "role": "user", "content": goes_in }),
            });
            if step == nth {
                break;
            }
            list.push(if self.is_agent() {
                let (tool, input) = self.asks(step);
                let call = json!({ "name": tool, "arguments": input.to_string() });
                json!({ "role": "assistant", "content": null,
                        "tool_calls": [{ "id": format!("call_{step}"), "type": "function", "function": call }] })
            } else {
                json!({ "role": "assistant", "content": answer })
            });
        }
        let mut body = json!({ "model": self.model, "messages": list });
        if self.is_agent() {
            let tool = |(name, what, schema): &(String, String, Value)| {
                let function = json!({ "name": name, "description": what, "parameters": schema });
                json!({ "type": "function", "function": function })
            };
            body["tools"] = self.tools.iter().map(tool).collect();
        }
        self.with_most(body, "max_completion_tokens")
    }

    fn responses(&self, nth: usize) -> Value {
        let message = |role: &str, kind: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
        let mut list = Vec::new();
        for (step, (goes_in, answer)) in self.said[..=nth].iter().enumerate() {
            list.push(if step > 0 && self.is_agent() {
                json!({ "type": "function_call_output", "call_id": format!("call_{}", step - 1), "output": goes_in })
            } else {
                message("user", "input_text", goes_in)
            });
            if step == nth {
                break;
            }
            list.push(if self.is_agent() {
                let (tool, input) = self.asks(step);
                json!({ "type": "function_call", "call_id": format!("call_{step}"), "name": tool,
                        "arguments": input.to_string() })
            } else {
                message("assistant", "output_text", answer)
            });
        }
        let tool = |(name, what, schema): &(String, String, Value)| json!({ "type": "function", "name": name, "description": what, "parameters": schema, "strict": false });
        let tools: Vec<Value> = self.tools.iter().map(tool).collect();
        let body = json!({ "model": self.model, "instructions": self.system, "input": list, "tools": tools,
                           "store": false, "include": ["reasoning.encrypted_content"] });
        self.with_most(body, "max_output_tokens")
    }

    fn messages(&self, nth: usize) -> Value {
        let mut list = Vec::new();
        for (step, (goes_in, answer)) in self.said[..=nth].iter().enumerate() {
            let mut part = match self.session.steps[step].kind {
                _ if step > 0 && self.is_agent() => {
                    let id = format!("toolu_{}", step - 1);
                    json!({ "type": "tool_result", "tool_use_id": id, "content": goes_in })
                }
                'd' => {
                    let source = json!({ "type": "text", "media_type": "text/plain", "data": goes_in });
                    json!({ "type": "document", "source": source })
                }
                _ => json!({ "type": "text", "text": goes_in }),
            };
            // The last two of what the client sends.
            if self.session.marks && step + 2 > nth {
                part["cache_control"] = json!({ "type": "ephemeral" });
            }
            list.push(json!({ "role": "user", "content": [part] }));
            if step == nth {
                break;
            }
            let part = if self.is_agent() {
                let (tool, input) = self.asks(step);
                json!({ "type": "tool_use", "id": format!("toolu_{step}"), "name": tool, "input": input })
            } else {
                json!({ "type": "text", "text": answer })
            };
            list.push(json!({ "role": "assistant", "content": [part] }));
        }
        let mut system = json!([{ "type": "text", "text": self.system }]);
        if self.session.marks {
            system[0]["cache_control"] = json!({ "type": "ephemeral" });
        }
        let mut body = json!({ "model": self.model, "system": system, "messages": list });
        if self.is_agent() {
            let tool = |(name, what, schema): &(String, String, Value)| json!({ "name": name, "description": what, "input_schema": schema });
            body["tools"] = self.tools.iter().map(tool).collect();
        }
        self.with_most(body, "max_tokens")
    }

    fn generate(&self, nth: usize) -> Value {
        let mut list = Vec::new();
        for (step, (goes_in, answer)) in self.said[..=nth].iter().enumerate() {
            let part = if step > 0 && self.is_agent() {
                let (tool, _) = self.asks(step - 1);
                json!({ "functionResponse": { "name": tool, "response": { "output": goes_in } } })
            } else {
                json!({ "text": goes_in })
            };
            list.push(json!({ "role": "user", "parts": [part] }));
            if step == nth {
                break;
            }
            let part = if self.is_agent() {
                let (tool, input) = self.asks(step);
                json!({ "functionCall": { "name": tool, "args": input } })
            } else {
                json!({ "text": answer })
            };
            list.push(json!({ "role": "model", "parts": [part] }));
        }
        let mut body = json!({ "systemInstruction": { "parts": [{ "text": self.system }] }, "contents": list });
        if self.is_agent() {
            let tool = |(name, what, schema): &(String, String, Value)| json!({ "name": name, "description": what, "parametersJsonSchema": schema });
            let all: Vec<Value> = self.tools.iter().map(tool).collect();
            body["tools"] = json!([{ "functionDeclarations": all }]);
        }
        if let Some(most) = self.session.most {
            body["generationConfig"] = json!({ "maxOutputTokens": most });
        }
        body
    }

    fn with_most(&self, mut body: Value, name: &str) -> Value {
        if let Some(most) = self.session.most {
            body[name] = json!(most);
        }
        body
    }
}

const WORDS: &[&str] = &[
    "about", "above", "account", "after", "again", "agent", "along", "answer", "another", "before", "begin", "between",
    "bridge", "budget", "build", "carry", "change", "check", "clear", "close", "collect", "column", "common", "count",
    "course", "cover", "current", "decide", "detail", "differ", "double", "early", "effect", "empty", "enough",
    "every", "example", "expect", "field", "figure", "finish", "folder", "follow", "forest", "garden", "gather",
    "handle", "heron", "include", "index", "inside", "island", "journal", "keep", "ladder", "large", "later", "learn",
    "letter", "limit", "listen", "little", "marker", "matter", "measure", "method", "middle", "minute", "moment",
    "morning", "mountain", "network", "never", "nothing", "notice", "number", "object", "offer", "often", "order",
    "other", "output", "parcel", "people", "place", "plain", "point", "prefix", "present", "price", "profile",
    "quarter", "question", "quiet", "reader", "record", "region", "remain", "report", "result", "return", "river",
    "sample", "second", "settle", "shadow", "signal", "simple", "sketch", "source", "spare", "station", "stone",
    "story", "stream", "summer", "table", "thread", "ticket", "timber", "token", "travel", "under", "update", "value",
    "vessel", "village", "wander", "water", "weather", "window", "winter", "within", "without", "wonder", "worker",
    "yellow",
];

fn word(dice: &mut Dice) -> &'static str {
    WORDS[dice.roll(WORDS.len() as u64) as usize]
}

/// Text of so many tokens, or a few more.
fn text(kind: char, tokens: u64, dice: &mut Dice) -> String {
    let (mut text, mut counted) = (String::new(), 0);
    while counted < tokens {
        let line = match kind {
            'c' => code(dice),
            'j' => record(dice),
            _ => sentence(dice),
        };
        counted += Tokeniser::O200k.count(&line);
        text += &line;
    }
    text
}

fn sentence(dice: &mut Dice) -> String {
    let words: Vec<&str> = (0..6 + dice.roll(12)).map(|_| word(dice)).collect();
    let all = words.join(" ");
    let (first, rest) = all.split_at(1);
    let end = if dice.roll(5) == 0 { ".\n\n" } else { ". " };
    format!("{}{rest}{end}", first.to_uppercase())
}

fn code(dice: &mut Dice) -> String {
    let (a, b, c, n) = (word(dice), word(dice), word(dice), dice.roll(4_096));
    match dice.roll(5) {
        0 => format!("    let {a}_{b} = self.{c}.get(&{a})?.{b}({n});\n"),
        1 => format!("    if {a}.{b}() > {n} {{\n        return Err(Error::{c}(\"{a} {b}\"));\n    }}\n"),
        2 => format!("def {a}_{b}(self, {c}: int = {n}) -> str:\n    return f\"{{self.{a}}}/{{{c}}}\"\n\n"),
        3 => format!("{n:>6}\tfor {a} in {b}.iter().filter(|{a}| {a}.{c}) {{\n"),
        _ => format!("src/{a}/{b}.rs:{n}:{}: // {c} {b} {a}\n", dice.roll(80)),
    }
}

fn record(dice: &mut Dice) -> String {
    let (a, b, c) = (word(dice), word(dice), word(dice));
    let (n, m) = (dice.roll(100_000), dice.roll(60));
    format!(
        "{}\n",
        json!({ "id": n, "name": format!("{a}-{m}"), "state": b, "at": format!("2026-03-{:02}T11:{m:02}:09Z", 1 + m % 28),
                "tags": [c, a], "total": n as f64 / 100.0 })
    )
}
