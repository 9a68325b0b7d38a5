//! What every protocol needs to write an answer down, and what it says about what was used.

use serde_json::{Value, json};

use super::asked::{BilledRequest, Protocol};
use super::made::Made;
use super::price::Used;
use super::script::{Counted, Habit, Says};

/// A piece of a stream as it goes out, and the tokens that have been made by then.
pub(crate) struct Event {
    pub(crate) text: String,
    pub(crate) made: u64,
}

pub(crate) struct ModelAnswer<'a> {
    pub(crate) asked: &'a BilledRequest,
    pub(crate) made: &'a Made,
    pub(crate) used: Used,
    /// How often tools at the provider were used.
    pub(crate) searches: u64,
    pub(crate) counts_writes: bool,
    pub(crate) habit: Habit,
    pub(crate) now: u64,
}

impl ModelAnswer<'_> {
    /// The usage it reports, in the words of this protocol; none where none is reported.
    pub(crate) fn usage(&self) -> Option<Value> {
        let says = self.habit.says;
        (says != Says::Nothing).then(|| usage(self.asked.protocol, &self.told(self.used), self))
    }

    /// The usage reported before any token was made.
    pub(crate) fn first_usage(&self) -> Option<Value> {
        let none = self.habit.says == Says::OnlyAtEnd;
        let used = if none { Used::default() } else { Used { said: 1, reasoned: 0, ..self.used } };
        (self.habit.says != Says::Nothing).then(|| usage(self.asked.protocol, &self.told(used), self))
    }

    /// The usage reported when so many tokens have been made.
    pub(crate) fn running(&self, made: u64) -> Option<Value> {
        let reasoned = made.min(self.used.reasoned);
        let used = Used { reasoned, said: made - reasoned, ..self.used };
        (self.habit.says == Says::Running).then(|| usage(self.asked.protocol, &used, self))
    }

    fn told(&self, used: Used) -> Used {
        let times = |tokens: u64| match self.habit.says {
            Says::Times(times) => tokens * times,
            Says::Part(part) => tokens / part.max(1),
            Says::Zero => 0,
            _ => tokens,
        };
        Used {
            input: times(used.input),
            read: times(used.read),
            write_5m: times(used.write_5m),
            write_1h: times(used.write_1h),
            said: times(used.said),
            reasoned: times(used.reasoned),
        }
    }
}

fn usage(protocol: Protocol, used: &Used, answer: &ModelAnswer<'_>) -> Value {
    match protocol {
        Protocol::Chat => openai(used, answer, ["prompt", "completion"]),
        Protocol::Responses | Protocol::CountResponses => openai(used, answer, ["input", "output"]),
        Protocol::Embeddings => json!({ "prompt_tokens": used.all_input(), "total_tokens": used.all_input() }),
        Protocol::Messages | Protocol::CountMessages => messages(used, answer.searches),
        Protocol::Gemini | Protocol::CountGemini => gemini(used, answer.habit.counted),
    }
}

fn openai(used: &Used, answer: &ModelAnswer<'_>, [input, output]: [&str; 2]) -> Value {
    let counted = answer.habit.counted;
    let out = if counted == Counted::Inside { used.output() } else { used.said };
    let total = used.all_input() + if counted == Counted::OnlyInDetails { used.said } else { used.output() };
    let mut usage = json!({
        format!("{input}_tokens"): used.all_input(),
        format!("{output}_tokens"): out,
        "total_tokens": total,
        format!("{input}_tokens_details"): { "cached_tokens": used.read },
        format!("{output}_tokens_details"): {},
    });
    if answer.counts_writes {
        usage[format!("{input}_tokens_details")]["cache_write_tokens"] = json!(used.write_5m);
    }
    if counted != Counted::OnlyInTotal {
        usage[format!("{output}_tokens_details")]["reasoning_tokens"] = json!(used.reasoned);
    }
    usage
}

fn messages(used: &Used, searches: u64) -> Value {
    json!({
        "input_tokens": used.input,
        "cache_creation_input_tokens": used.write_5m + used.write_1h,
        "cache_read_input_tokens": used.read,
        "cache_creation": { "ephemeral_5m_input_tokens": used.write_5m, "ephemeral_1h_input_tokens": used.write_1h },
        "output_tokens": used.output(),
        "server_tool_use": if searches == 0 { Value::Null } else { json!({ "web_search_requests": searches }) },
        "service_tier": "standard",
    })
}

fn gemini(used: &Used, counted: Counted) -> Value {
    let total = used.all_input() + if counted == Counted::OnlyInDetails { used.said } else { used.output() };
    let mut usage = json!({
        "promptTokenCount": used.all_input(),
        "candidatesTokenCount": used.said,
        "totalTokenCount": total,
    });
    if used.read > 0 {
        usage["cachedContentTokenCount"] = json!(used.read);
    }
    if used.reasoned > 0 && counted != Counted::OnlyInTotal {
        usage["thoughtsTokenCount"] = json!(used.reasoned);
    }
    usage
}
