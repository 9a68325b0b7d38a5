//! The life record: one line a life, figures and hashes only. `docs/age-record.md` says what each field means and how it is
//! read from each source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tariff::Tokens;

use crate::name;

/// Of the record as it is written here.
pub(crate) const VERSION: u16 = 1;
/// More calls than this in one life are a damaged file.
const MOST_CALLS: usize = 1 << 20;

/// The agent, or the program around it, that wrote the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Harness {
    ClaudeCode,
    Codex,
    Gemini,
    Opencode,
    Aider,
    /// Anything that writes OpenTelemetry spans with `gen_ai` names.
    Spans,
    /// An agent that has a golem for its purse.
    Bardo,
}

impl Harness {
    pub const ALL: [Harness; 7] = [
        Harness::ClaudeCode,
        Harness::Codex,
        Harness::Gemini,
        Harness::Opencode,
        Harness::Aider,
        Harness::Spans,
        Harness::Bardo,
    ];

    /// As its users call it.
    pub fn name(self) -> &'static str {
        match self {
            Harness::ClaudeCode => "Claude Code",
            Harness::Codex => "Codex",
            Harness::Gemini => "Gemini CLI",
            Harness::Opencode => "opencode",
            Harness::Aider => "aider",
            Harness::Spans => "spans",
            Harness::Bardo => "golems",
        }
    }
}

/// How it came to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Born {
    #[default]
    Fresh,
    /// With a copy of what another had said and heard.
    Forked,
    /// With what another left for it.
    HandedOver,
    /// By another that had something done.
    Helper,
}

/// How it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Finished: it said its last word and asked for nothing more.
    Finished,
    /// The owner stopped it in the middle.
    Interrupted,
    /// The provider refused or failed, and it did not go on.
    Failed,
    /// In the middle of something, and nothing says why: killed, or its machine went.
    Cut,
    /// Still open: its file was being written to when it was read.
    #[default]
    Open,
}

/// One call of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Call {
    /// Milliseconds since 1970, in UTC.
    pub at: i64,
    /// Which of its life's models.
    pub model: u8,
    /// Tokens that went in, but for what has to do with a cache.
    #[serde(skip_serializing_if = "none")]
    pub input: u64,
    /// Read from a cache.
    #[serde(skip_serializing_if = "none")]
    pub cached: u64,
    /// Written to one, for minutes and for an hour or longer.
    #[serde(skip_serializing_if = "none")]
    pub write_5m: u64,
    #[serde(skip_serializing_if = "none")]
    pub write_1h: u64,
    /// Tokens that came out, thinking included.
    #[serde(skip_serializing_if = "none")]
    pub output: u64,
    /// For how many calls what went in has been in the context, on average.
    pub age: f32,
    /// In micro-dollars, at the prices of the book; none where the book has none, or the usage is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// Tools it asked for.
    #[serde(skip_serializing_if = "no")]
    pub tools: u32,
    /// How many of its tools failed.
    #[serde(skip_serializing_if = "no")]
    pub failed: u32,
    /// Files it changed.
    #[serde(skip_serializing_if = "no")]
    pub edits: u32,
    /// Changes that put back what one of the twenty changes before had changed.
    #[serde(skip_serializing_if = "no")]
    pub undone: u32,
    /// Tools that were asked for the same among the twenty before.
    #[serde(skip_serializing_if = "no")]
    pub repeated: u32,
    /// Runs of tests whose results are known, and those that passed.
    #[serde(skip_serializing_if = "no")]
    pub checks: u32,
    #[serde(skip_serializing_if = "no")]
    pub passed: u32,
    /// The record does not say what it used.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub untold: bool,
}

fn none(tokens: &u64) -> bool {
    *tokens == 0
}

fn no(times: &u32) -> bool {
    *times == 0
}

impl Call {
    /// Tokens that went in.
    pub fn context(&self) -> u64 {
        self.tokens().all_input()
    }

    pub fn tokens(&self) -> Tokens {
        Tokens {
            input: self.input,
            output: self.output,
            cached: self.cached,
            write_5m: self.write_5m,
            write_1h: self.write_1h,
            thought: 0,
        }
    }
}

/// One life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Life {
    /// Of this record.
    pub v: u16,
    /// A hash of what its harness calls it.
    pub life: String,
    /// The life it was a helper of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// A hash of the folder it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub harness: Harness,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The models it asked, the one it asked most often first.
    pub models: Vec<String>,
    pub born: Born,
    /// Milliseconds since 1970, in UTC.
    pub began: i64,
    pub ended: i64,
    pub end: End,
    /// Tokens that fit into its context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Cost of it and its helpers by its harness's own word, in micro-dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<u64>,
    #[serde(default)]
    pub helpers: u32,
    /// How many calls it had made before each compaction of its context.
    #[serde(default)]
    pub compactions: Vec<u32>,
    /// And before each time it was taken up again.
    #[serde(default)]
    pub resumed: Vec<u32>,
    /// Whether its tokens were rounded by the program that wrote them down.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rounded: bool,
    /// The grade for its work given by a judge outside, from nothing to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    pub calls: Vec<Call>,
}

impl Life {
    pub fn model(&self) -> &str {
        self.models.first().map_or("unknown", String::as_str)
    }

    /// In micro-dollars, as far as it is known.
    pub fn cost(&self) -> u64 {
        self.calls.iter().filter_map(|call| call.cost).fold(0, u64::saturating_add)
    }

    pub fn tokens(&self) -> Tokens {
        self.calls.iter().fold(Tokens::default(), |sum, call| {
            let one = call.tokens();
            Tokens {
                input: sum.input.saturating_add(one.input),
                output: sum.output.saturating_add(one.output),
                cached: sum.cached.saturating_add(one.cached),
                write_5m: sum.write_5m.saturating_add(one.write_5m),
                write_1h: sum.write_1h.saturating_add(one.write_1h),
                thought: 0,
            }
        })
    }

    /// Whether this program could have written it: a record from another program is not believed.
    pub(crate) fn is_sound(&self) -> bool {
        let hashed = |text: &String| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let indices = self.compactions.iter().chain(&self.resumed);
        self.v == VERSION
            && hashed(&self.life)
            && self.of.as_ref().is_none_or(hashed)
            && self.project.as_ref().is_none_or(hashed)
            && self.version.as_ref().is_none_or(|text| name::version(text).as_ref() == Some(text))
            && !self.models.is_empty()
            && self.models.iter().all(|text| name::model(text).as_ref() == Some(text))
            && (1..=MOST_CALLS).contains(&self.calls.len())
            && self.reward.is_none_or(|reward| (0.0..=1.0).contains(&reward))
            && indices.into_iter().all(|at| *at as usize <= self.calls.len())
            && self.calls.iter().all(|call| self.is_one(call))
    }

    fn is_one(&self, call: &Call) -> bool {
        usize::from(call.model) < self.models.len()
            && call.age.is_finite()
            && call.age >= 0.0
            && call.failed <= call.tools
            && call.repeated <= call.tools
            && call.passed <= call.checks
            && call.undone <= call.edits
    }
}

/// The JSON Schema of the record.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Life).to_value()
}
