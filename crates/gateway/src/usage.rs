//! The usage of a call, as the provider counted it, found where each protocol says it. Of two ways to read a count the
//! dearer one is taken.

use serde_json::Value;
pub(super) use tariff::Tokens as Usage;

use super::protocol::AgentProtocol;

const CHAT: [&str; 2] = ["prompt_tokens", "completion_tokens"];
const RESPONSES: [&str; 2] = ["input_tokens", "output_tokens"];

/// Reads the usage in an answer that has come whole; `None` if it does not say.
pub(super) fn of(answer: &Value, protocol: AgentProtocol) -> Option<Usage> {
    if protocol == AgentProtocol::Generate {
        return generated(answer.get("usageMetadata")?);
    }
    let usage = answer.get("usage").filter(|usage| usage.is_object())?;
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    match protocol {
        AgentProtocol::Chat => Usage::in_parts(usage, CHAT).map(|known| beside(known, usage)),
        AgentProtocol::Responses => Usage::in_parts(usage, RESPONSES).map(|known| beside(known, usage)),
        AgentProtocol::Embeddings | AgentProtocol::Generate => {
            Some(Usage { input: count("prompt_tokens")?, ..Usage::default() })
        }
        AgentProtocol::Messages => {
            let mut known = Usage { output: count("output_tokens")?, ..Usage::default() };
            known.heed(usage);
            Some(in_rounds(known, usage))
        }
    }
}

/// Adds what one event of a stream says to what earlier ones said.
pub(super) fn hear(known: Option<Usage>, event: &Value, protocol: AgentProtocol) -> Option<Usage> {
    let told = match protocol {
        AgentProtocol::Chat | AgentProtocol::Embeddings | AgentProtocol::Generate => of(event, protocol),
        AgentProtocol::Responses => event.get("response").and_then(|answer| of(answer, protocol)),
        AgentProtocol::Messages => event.pointer("/message/usage").or_else(|| event.get("usage")).map(|usage| {
            let mut sum = known.unwrap_or_default();
            sum.heed(usage);
            // Counted up to here, each time.
            sum.output = usage.get("output_tokens").and_then(Value::as_u64).unwrap_or(0).max(sum.output);
            in_rounds(sum, usage)
        }),
    };
    told.or(known)
}

/// Whether the provider left out some of the input or went over it again, so that its usage is not a count of the call.
pub(super) fn is_edited(answer: &Value) -> bool {
    let edits = ["/context_management/applied_edits", "/delta/context_management/applied_edits"];
    let rounds = ["/usage/iterations", "/message/usage/iterations"];
    let items = |place: &&str| answer.pointer(place).and_then(Value::as_array).map_or(0, Vec::len);
    edits.iter().any(|place| items(place) > 0) || rounds.iter().any(|place| items(place) > 1)
}

/// Adds thoughts that a provider counts beside the answer: some say so in the details alone, where the thoughts are
/// then more than all output.
fn beside(known: Usage, usage: &Value) -> Usage {
    let count = |place: &str| usage.pointer(place).and_then(Value::as_u64).unwrap_or(0);
    let details = ["/completion_tokens_details/reasoning_tokens", "/output_tokens_details/reasoning_tokens"];
    let thought = details.into_iter().map(count).max().unwrap_or(0);
    let said = count("/completion_tokens").max(count("/output_tokens"));
    let both = if thought > said { said.saturating_add(thought) } else { 0 };
    let output = known.output.max(both);
    Usage { output, thought: known.thought.max(thought).min(output), ..known }
}

/// Takes the sum over all rounds of an answer, of which the totals hold only one.
fn in_rounds(known: Usage, usage: &Value) -> Usage {
    let rounds = usage.get("iterations").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let sum = |name: &str| rounds.iter().filter_map(|round| round.get(name)?.as_u64()).fold(0, u64::saturating_add);
    Usage {
        input: known.input.max(sum("input_tokens")),
        cached: known.cached.max(sum("cache_read_input_tokens")),
        output: known.output.max(sum("output_tokens")),
        ..known
    }
}

/// Reads Google's counts: thoughts beside the answer, and what its tools took beside the prompt.
fn generated(usage: &Value) -> Option<Usage> {
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    let all = count("promptTokenCount")?.saturating_add(count("toolUsePromptTokenCount").unwrap_or(0));
    let cached = count("cachedContentTokenCount").unwrap_or(0).min(all);
    let thought = count("thoughtsTokenCount").unwrap_or(0);
    let said = count("candidatesTokenCount").unwrap_or(0).saturating_add(thought);
    let output = said.max(count("totalTokenCount").unwrap_or(0).saturating_sub(all));
    Some(Usage { input: all - cached, cached, output, thought, ..Usage::default() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tariff::{Book, Price};

    use super::*;

    #[test]
    fn what_is_used_is_found_where_each_protocol_says_it() {
        let chat = json!({ "usage": { "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10 } });
        assert_eq!(of(&chat, AgentProtocol::Chat), Some(Usage { input: 7, output: 3, ..Usage::default() }));
        assert_eq!(of(&json!({ "usage": null }), AgentProtocol::Chat), None);
        assert_eq!(of(&json!({ "usage": { "prompt_tokens": -1, "completion_tokens": 3 } }), AgentProtocol::Chat), None);
        let vectors = json!({ "usage": { "prompt_tokens": 7, "total_tokens": 7 } });
        assert_eq!(of(&vectors, AgentProtocol::Embeddings), Some(Usage { input: 7, ..Usage::default() }));
        let start = json!({ "type": "message_start", "message": { "usage": {
            "input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 30,
            "cache_creation": { "ephemeral_1h_input_tokens": 10 }, "output_tokens": 1 } } });
        let delta = json!({ "type": "message_delta", "usage": { "output_tokens": 40 } });
        let known = hear(None, &start, AgentProtocol::Messages);
        let known = hear(known, &json!({ "type": "ping" }), AgentProtocol::Messages);
        let known = hear(known, &delta, AgentProtocol::Messages).unwrap();
        assert_eq!(known, Usage { input: 5, output: 40, cached: 100, write_5m: 20, write_1h: 10, thought: 0 });
        let done =
            json!({ "type": "response.completed", "response": { "usage": { "input_tokens": 4, "output_tokens": 2 } } });
        assert_eq!(hear(None, &done, AgentProtocol::Responses).unwrap().output, 2);
        let google = json!({ "usageMetadata": { "promptTokenCount": 9, "candidatesTokenCount": 2,
            "cachedContentTokenCount": 4, "thoughtsTokenCount": 30, "totalTokenCount": 41 } });
        let counted = Usage { input: 5, cached: 4, output: 32, thought: 30, ..Usage::default() };
        assert_eq!(of(&google, AgentProtocol::Generate), Some(counted));
    }

    #[test]
    fn what_is_counted_beside_the_answer_is_part_of_it() {
        // As one provider does: completion 1, reasoning 386, total 399.
        let details = json!({ "reasoning_tokens": 386 });
        let mut usage = json!({ "prompt_tokens": 12, "completion_tokens": 1, "completion_tokens_details": details });
        let beside = of(&json!({ "usage": usage }), AgentProtocol::Chat).unwrap();
        assert_eq!((beside.output, beside.thought), (387, 386));
        usage["total_tokens"] = json!(399);
        assert_eq!(of(&json!({ "usage": usage }), AgentProtocol::Chat).unwrap().output, 387);
        let rounds = json!({ "usage": { "input_tokens": 10, "output_tokens": 20, "iterations": [
            { "type": "compaction", "input_tokens": 900, "output_tokens": 50 },
            { "type": "message", "input_tokens": 10, "output_tokens": 20 } ] } });
        let summed = of(&rounds, AgentProtocol::Messages).unwrap();
        assert_eq!((summed.input, summed.output, is_edited(&rounds)), (910, 70, true));
        let cleared = json!({ "context_management": { "applied_edits": [{ "cleared_input_tokens": 9 }] } });
        assert!(is_edited(&cleared) && !is_edited(&json!({ "usage": {} })));
    }

    /// A turn of a coding agent: most of what goes in was there before.
    #[test]
    fn what_comes_from_a_cache_costs_what_the_provider_bills() {
        let price = |name: &str| Book::built_in().find(name).unwrap().price;
        let usage = json!({ "prompt_tokens": 20_000, "completion_tokens": 100, "total_tokens": 20_100,
            "prompt_tokens_details": { "cached_tokens": 16_000 } });
        let chat = of(&json!({ "usage": usage }), AgentProtocol::Chat).unwrap();
        assert_eq!(price("openai/gpt-5-mini").cost(&chat), 1_000 + 400 + 200);
        let usage = json!({ "input_tokens": 20_000, "output_tokens": 100,
            "input_tokens_details": { "cached_tokens": 16_000, "cache_write_tokens": 4_000 } });
        let responses = of(&json!({ "usage": usage }), AgentProtocol::Responses).unwrap();
        assert_eq!(price("openai/gpt-6.1-sol").cost(&responses), 1_600 + 10_000 + 1_000);
        // Long calls cost more from their first token on, and cached input without a price of its own costs as much as
        // other input.
        let long = Usage { input: 300_000, output: 10, ..Usage::default() };
        assert_eq!(price("openai/gpt-6.1-sol").cost(&long), 1_200_000 + 150);
        let short = Price::parse("1/5").unwrap();
        assert_eq!(short.cost(&chat), 20_000 + 500);
    }
}
