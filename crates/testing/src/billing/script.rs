//! What a test wants the model to say, and how it wants the provider to behave while it does.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::asked::BilledRequest;

/// How much of what a model thinks is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Whole,
    /// Some words instead of all of it.
    Summary,
    Not,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Think {
        tokens: u64,
        shown: Shown,
    },
    Text(String),
    /// Text that counts so many tokens.
    Words(u64),
    Tool {
        name: String,
        input: Value,
    },
    /// How often tools at the provider are used; without this, as often as they may be.
    Search(u64),
}

/// The parts of one answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn(pub Vec<Part>);

impl Turn {
    pub fn text(text: &str) -> Turn {
        Turn(vec![Part::Text(text.to_owned())])
    }

    pub fn words(tokens: u64) -> Turn {
        Turn(vec![Part::Words(tokens)])
    }

    pub fn thinks(tokens: u64, shown: Shown) -> Turn {
        Turn(vec![Part::Think { tokens, shown }])
    }

    #[must_use]
    pub fn then(mut self, part: Part) -> Turn {
        self.0.push(part);
        self
    }

    #[must_use]
    pub fn tool(self, name: &str, input: Value) -> Turn {
        self.then(Part::Tool { name: name.to_owned(), input })
    }

    /// A list of parts: `{"text": …}`, `{"words": N}`, `{"think": N, "shown": "whole" | "summary" | "not"}`,
    /// `{"tool": NAME, "input": …}`, `{"search": N}`.
    pub fn parse(parts: &Value) -> Result<Turn, String> {
        let read = |part: &Value| {
            let number = |name: &str| part[name].as_u64();
            let shown = match part["shown"].as_str() {
                Some("whole") => Shown::Whole,
                Some("summary") => Shown::Summary,
                _ => Shown::Not,
            };
            let tool = |name: &str| Part::Tool { name: name.to_owned(), input: part["input"].clone() };
            None.or(part["text"].as_str().map(|text| Part::Text(text.to_owned())))
                .or(number("words").map(Part::Words))
                .or(number("think").map(|tokens| Part::Think { tokens, shown }))
                .or(part["tool"].as_str().map(tool))
                .or(number("search").map(Part::Search))
                .ok_or_else(|| format!("this is not a part of an answer: {part}"))
        };
        parts.as_array().ok_or("a turn is a list of parts")?.iter().map(read).collect::<Result<_, _>>().map(Turn)
    }
}

/// The usage a provider reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    Honest,
    /// So many times as much, or only such a part of it.
    Times(u64),
    Part(u64),
    Zero,
    Nothing,
    /// Zero until the last event says it all.
    OnlyAtEnd,
    /// In every event of a stream, up to there.
    Running,
}

/// Where in that the tokens of thinking are; the bill is the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Among those of the answer.
    Inside,
    /// Beside those of the answer, in the details and in the total.
    Beside,
    OnlyInTotal,
    OnlyInDetails,
}

/// Billing when a client hangs up in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HangUp {
    /// The tokens made until then.
    Stops,
    /// The longest answer that was allowed.
    GoesOn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Refused with this status; nothing is billed.
    Status(u16),
    /// All the work is done and billed, and this status is all that comes back.
    Lost(u16),
    /// The line is cut after so many tokens, which are billed.
    CutAt(u64),
    /// After so many tokens, which are billed, a stream ends with word of an error. An answer that comes at once is cut.
    ErrorAt(u64),
    /// All is said but for how it ends: the line stays open and silent for so long, and is cut then.
    Stalls(Duration),
}

/// How a provider behaves in one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habit {
    pub says: Says,
    pub counted: Counted,
    pub hang_up: HangUp,
    /// Tokens made in a second; at once, where there is none.
    pub pace: Option<u64>,
    /// How long it waits before it begins.
    pub first: Duration,
    pub fault: Option<Fault>,
    /// Thinking does not count towards the longest answer that was asked for.
    pub thinks_past_most: bool,
}

impl Habit {
    pub const HONEST: Habit = Habit {
        says: Says::Honest,
        counted: Counted::Inside,
        hang_up: HangUp::Stops,
        pace: None,
        first: Duration::ZERO,
        fault: None,
        thinks_past_most: false,
    };

    pub fn fault(fault: Fault) -> Habit {
        Habit { fault: Some(fault), ..Habit::HONEST }
    }
}

/// Only what is unusual about it.
impl fmt::Display for Habit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = Habit::HONEST;
        let mut unusual = Vec::new();
        let mut note = |is: bool, text: String| unusual.extend(is.then_some(text));
        note(self.says != usual.says, format!("says {:?}", self.says));
        note(self.counted != usual.counted, format!("counts thinking {:?}", self.counted));
        note(self.hang_up != usual.hang_up, format!("hung up on, it {:?}", self.hang_up));
        note(self.pace.is_some(), format!("{} tokens a second", self.pace.unwrap_or_default()));
        note(!self.first.is_zero(), format!("waits {:?}", self.first));
        note(self.fault.is_some(), self.fault.map(|fault| format!("{fault:?}")).unwrap_or_default());
        note(self.thinks_past_most, "thinks past the most".to_owned());
        f.write_str(&if unusual.is_empty() { "honest".to_owned() } else { unusual.join(", ") })
    }
}

/// A script: the turn and the habit for the nth call.
pub type Plays = dyn Fn(u64, &BilledRequest) -> (Turn, Habit) + Send + Sync;

/// A script with one turn and one habit for every call.
pub fn always(turn: Turn, habit: Habit) -> Box<Plays> {
    Box::new(move |_, _| (turn.clone(), habit))
}

/// One turn after the other, by how often the model has spoken in the conversation: clients that ask for titles and the like
/// in between do not lose their place. Where a tool is not offered, or nothing is left, it says that it is done. Who wants JSON
/// gets the least that is what they describe.
pub fn turns(turns: Vec<Turn>, habit: Habit) -> Box<Plays> {
    Box::new(move |_, asked| {
        let fits = |turn: &&Turn| {
            turn.0.iter().all(|part| match part {
                Part::Tool { name, .. } => asked.offers(name).is_some(),
                _ => true,
            })
        };
        if let Some(schema) = wanted(&asked.body) {
            return (Turn::text(&least(schema).to_string()).then(Part::Search(0)), habit);
        }
        let done = || Turn::text("Done.").then(Part::Search(0));
        (turns.get(asked.rounds).filter(fits).cloned().unwrap_or_else(done), habit)
    })
}

/// The description of an answer that is to be JSON.
fn wanted(body: &Value) -> Option<&Value> {
    let places = [
        "/response_format/json_schema/schema",
        "/text/format/schema",
        "/output_config/format/schema",
        "/generationConfig/responseJsonSchema",
        "/generationConfig/responseSchema",
    ];
    places.iter().find_map(|place| body.pointer(place)).filter(|schema| schema.is_object())
}

fn least(schema: &Value) -> Value {
    let kind = schema["type"].as_str().unwrap_or_default().to_ascii_lowercase();
    match (schema["enum"].as_array().and_then(|all| all.first()), kind.as_str()) {
        (Some(first), _) => first.clone(),
        (None, "object") => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            fields.map(|(name, schema)| (name.clone(), least(schema))).collect()
        }
        (None, "array") => json!([]),
        (None, "boolean") => json!(false),
        (None, "integer" | "number") => json!(schema["minimum"].as_u64().unwrap_or(1)),
        _ => json!("words"),
    }
}

/// Uses the first tool once, and then says that it is done.
pub fn first_tool(input: Value, habit: Habit) -> Box<Plays> {
    Box::new(move |_, asked| match asked.tools.first() {
        Some(tool) if asked.rounds == 0 => {
            let input = if tool.custom { json!(input.to_string()) } else { input.clone() };
            (Turn::default().tool(&tool.name, input), habit)
        }
        _ => (Turn::text("Done."), habit),
    })
}
