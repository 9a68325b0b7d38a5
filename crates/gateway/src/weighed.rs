//! The input of a call, counted here instead of by its bytes, where it is public how its model counts.

use serde_json::Value;

use super::o200k;
use super::parts::{self, Parts};
use super::prefix::Input;
use super::protocol::AgentProtocol;

/// OpenAI's models that are known to count by o200k, and all that are called like them. How newer ones count is not
/// published.
const KNOWN: [&str; 8] = ["gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "chatgpt-4o", "o1", "o3", "o4-mini"];
/// The margin: one token in so many more may come from how a server writes things down.
const MORE: u64 = 10;
/// Tokens that a server may add around each message, and around all.
const EACH: u64 = 8;
const AROUND: u64 = 64;
/// The longest uncounted input, in bytes, that is counted here.
const LONGEST: u64 = 1 << 20;
/// Names that may announce a picture, which counts by other rules.
const PICTURES: [&str; 3] = ["image_url", "input_image", "computer_screenshot"];
/// Fields that hold text for the model wherever they stand.
const TEXTS: [&str; 12] = [
    "content",
    "text",
    "arguments",
    "input",
    "output",
    "name",
    "refusal",
    "reasoning_content",
    "reasoning",
    "tool_calls",
    "function",
    "custom",
];

/// Whether it is public how a model counts, by its name with its provider's before it.
pub(super) fn is_public(model: &str) -> bool {
    let like = |known: &&str| {
        let rest = model.strip_prefix("openai/").and_then(|name| name.strip_prefix(known));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
    };
    KNOWN.iter().any(like)
}

/// Returns the bound as it is or a lower one: what was counted before stays, and what is new is counted here.
pub(super) fn weighed(input: Input, whole: &Value, protocol: AgentProtocol, parts: &Parts) -> Input {
    if !matches!(protocol, AgentProtocol::Chat | AgentProtocol::Responses) || input.rough() > LONGEST {
        return input;
    }
    let new = parts::messages(whole, protocol).iter().zip(&parts.messages).skip(input.known);
    let messages = new.map(|(message, bytes)| bounded(message, message_tokens, *bytes) + EACH).sum::<u64>();
    let before = if input.known == 0 { before(whole, protocol).min(parts.before) } else { 0 };
    let most = input.counted + AROUND + before + messages;
    if most >= input.most {
        return input;
    }
    Input { most, margin: AROUND + (before + messages) / 6, ..input }
}

/// Bounds a value by its tokens and a margin, or by its bytes.
fn bounded(value: &Value, tokens: impl Fn(&Value) -> u64, bytes: u64) -> u64 {
    let text = value.to_string();
    if PICTURES.iter().any(|name| text.contains(name)) {
        return bytes;
    }
    let tokens = tokens(value);
    (tokens + tokens.div_ceil(MORE)).min(bytes)
}

/// Tokens of all that is not a message, and of a text in place of the messages.
fn before(whole: &Value, protocol: AgentProtocol) -> u64 {
    let said = if protocol == AgentProtocol::Responses { "input" } else { "messages" };
    let fields = whole.as_object().into_iter().flatten();
    let others = fields.filter(|(name, value)| *name != said || !value.is_array());
    others.map(|(_, value)| bounded(value, json_or_text, u64::MAX)).fold(0, u64::saturating_add)
}

fn json_or_text(value: &Value) -> u64 {
    match value {
        Value::String(text) => o200k::count(text),
        _ => o200k::count(&value.to_string()),
    }
}

/// Tokens of a message: text as the model reads it, and everything else as JSON. Sealed content counts by its bytes.
fn message_tokens(value: &Value) -> u64 {
    let field = |(name, value): (&String, &Value)| match value {
        Value::String(text) if name == "encrypted_content" => text.len() as u64,
        Value::String(_) | Value::Array(_) if TEXTS.contains(&name.as_str()) => message_tokens(value),
        Value::Object(_) if name == "function" || name == "custom" => message_tokens(value),
        _ => 2 + json_or_text(value),
    };
    match value {
        Value::Array(all) => all.iter().map(message_tokens).sum(),
        Value::Object(fields) => fields.iter().map(field).sum(),
        _ => json_or_text(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_public_is_counted_here() {
        for known in ["openai/gpt-5", "openai/gpt-5.1-codex", "openai/gpt-4o-mini-2024-07-18", "openai/o3"] {
            assert!(is_public(known), "{known}");
        }
        for other in ["gpt-5", "openai/gpt-6.1-sol", "openai/gpt-50", "openai/gpt-4", "openai/o30", "vllm/gpt-5"] {
            assert!(!is_public(other), "{other}");
        }
    }

    #[test]
    fn new_text_counts_by_its_tokens_and_what_is_sealed_by_its_bytes() {
        let text = "The heron stands in the shallow water and waits. ".repeat(100);
        let tools = json!([{ "type": "function", "function": { "name": "look", "parameters": { "type": "object" } } }]);
        let whole = json!({ "model": "gpt-5", "tools": tools, "messages": [{ "role": "user", "content": text }] });
        let parts = parts::read(&whole, AgentProtocol::Chat, "gpt-5").unwrap();
        let bytes = parts.before + parts.messages[0];
        let rough = Input { most: bytes, counted: 0, known: 0, margin: bytes };
        let input = weighed(rough, &whole, AgentProtocol::Chat, &parts);
        let exact = o200k::count(&text);
        assert!(input.most > exact && input.most < exact + exact / 5 + 200, "{input:?} {exact}");
        let known = Input { most: 500 + bytes, counted: 500, known: 1, margin: bytes };
        assert_eq!(weighed(known, &whole, AgentProtocol::Chat, &parts).most, 500 + AROUND);
        assert_eq!(weighed(rough, &whole, AgentProtocol::Messages, &parts), rough);
        let sealed = json!({ "type": "reasoning", "summary": [], "encrypted_content": "A".repeat(9_000) });
        assert!(message_tokens(&sealed) >= 9_000);
        let picture = json!([{ "type": "image_url", "image_url": { "url": "https://example.com/a.png" } }]);
        assert_eq!(bounded(&json!({ "role": "user", "content": picture }), message_tokens, 777), 777);
    }
}
