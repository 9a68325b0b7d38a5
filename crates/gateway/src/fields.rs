//! The fields at the top of a call, by protocol. A known field has its bound; a field that could cost more than the
//! call shows is refused by name; and an unknown field is let through only if it is small and points nowhere else.

use serde_json::Value;

use super::protocol::AgentProtocol;

/// The largest value of an unknown field.
const SMALL: usize = 256;
/// The longest text that counts as a choice between values.
const WORD: usize = 24;

const CHAT: &[&str] = &[
    "messages",
    "model",
    "stream",
    "stream_options",
    "n",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "user",
    "seed",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "functions",
    "function_call",
    "response_format",
    "reasoning_effort",
    "reasoning",
    "verbosity",
    "store",
    "metadata",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "modalities",
    "thinking",
    "enable_thinking",
    "chat_template_kwargs",
    "usage",
    "keep_alive",
];
const RESPONSES: &[&str] = &[
    "input",
    "instructions",
    "model",
    "stream",
    "stream_options",
    "max_output_tokens",
    "max_tool_calls",
    "temperature",
    "top_p",
    "top_logprobs",
    "user",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "text",
    "reasoning",
    "include",
    "store",
    "metadata",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "truncation",
    "background",
    "client_metadata",
];
const MESSAGES: &[&str] = &[
    "messages",
    "system",
    "model",
    "stream",
    "max_tokens",
    "metadata",
    "stop_sequences",
    "temperature",
    "top_k",
    "top_p",
    "tools",
    "tool_choice",
    "thinking",
    "service_tier",
    "context_management",
    "output_config",
    "output_format",
    "cache_control",
];
const EMBEDDINGS: &[&str] = &["input", "model", "encoding_format", "dimensions", "user"];

const GENERATE: &[&str] =
    &["contents", "systemInstruction", "tools", "toolConfig", "safetySettings", "generationConfig", "labels"];

/// Fields that could cost more than the call shows: other models, tools and files at the provider, other tiers, a
/// second sampling.
const HIDDEN: &[&str] = &[
    "audio",
    "web_search_options",
    "prediction",
    "models",
    "route",
    "plugins",
    "provider",
    "search_parameters",
    "extra_body",
    "inference_geo",
    "speed",
    "previous_response_id",
    "conversation",
    "prompt",
    "mcp_servers",
    "container",
    "fallbacks",
    "transforms",
    "cached_content",
    "file_ids",
    "attachments",
    "cachedContent",
    "generation_config",
    "system_instruction",
    "venice_parameters",
    "documents",
    "num_completions",
    "best_of",
    "min_tokens",
    "thinking_budget",
];
/// Parts of names of unknown fields that may bring in more than stands in the call, or change its price.
const DEAR: [&str; 6] = ["search", "web", "tier", "priority", "browse", "retriev"];

fn known(protocol: AgentProtocol) -> &'static [&'static str] {
    match protocol {
        AgentProtocol::Chat => CHAT,
        AgentProtocol::Responses => RESPONSES,
        AgentProtocol::Messages => MESSAGES,
        AgentProtocol::Embeddings => EMBEDDINGS,
        AgentProtocol::Generate => GENERATE,
    }
}

pub(super) fn refused(what: &str) -> String {
    format!("{what} cannot be priced in advance, so the call is not passed on")
}

/// Returns the unknown fields of a call, all of them small; or why the call is not passed on.
pub(super) fn look(whole: &Value, protocol: AgentProtocol) -> Result<Vec<String>, String> {
    let Some(fields) = whole.as_object() else { return Err("a call must be an object".to_owned()) };
    let mut unknown = Vec::new();
    for (name, value) in fields {
        let unsaid = matches!(value, Value::Null | Value::Bool(false)) || value.as_array().is_some_and(Vec::is_empty);
        if known(protocol).contains(&name.as_str()) || unsaid {
            continue;
        }
        if HIDDEN.contains(&name.as_str()) {
            // Some clients say the usual value too.
            let usual = matches!(
                (name.as_str(), value.as_str()),
                ("speed", Some("standard")) | ("inference_geo", Some("global"))
            );
            if !usual {
                return Err(refused(name));
            }
            continue;
        }
        let lower = name.to_ascii_lowercase();
        let dear = DEAR.iter().any(|part| lower.contains(part));
        if dear || value.to_string().len() > SMALL || points(name, value) {
            return Err(refused(&format!("the field {name:?}, which is not known here,")));
        }
        unknown.push(shape_of(name, value));
    }
    tiers(whole)?;
    Ok(unknown)
}

/// The key under which an unknown field is learned: its value may decide what it costs, unless that is a text of some
/// length.
fn shape_of(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) if text.len() > WORD => name.to_owned(),
        _ => format!("{name}={value}"),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Whether a field names something that lies elsewhere: by its address, or by what looks like the name of an id.
pub(super) fn points(name: &str, value: &Value) -> bool {
    let name = name.to_ascii_lowercase();
    let names_one = ["id", "ids", "url", "uri", "urls", "file", "files", "path", "ref", "model", "models"]
        .iter()
        .any(|end| name == *end || name.ends_with(&format!("_{end}")));
    match value {
        Value::String(text) => names_one || text.contains("://"),
        Value::Array(all) => all.iter().any(|one| points(&name, one)),
        Value::Object(fields) => names_one || fields.iter().any(|(name, value)| points(name, value)),
        _ => names_one && !is_nothing(value),
    }
}

/// Tiers and kinds of answers that cost more than the book says.
fn tiers(whole: &Value) -> Result<(), String> {
    if whole["background"] == true {
        return Err(refused("background"));
    }
    let text = |kinds: &Value| kinds.as_array().is_some_and(|all| all.iter().all(|one| one == "text"));
    if !is_nothing(&whole["modalities"]) && !text(&whole["modalities"]) {
        return Err(refused("modalities other than text"));
    }
    // Google's servers take each name in two spellings, and only one of them is read here.
    let config = whole["generationConfig"].as_object();
    if let Some(name) = config.and_then(|config| config.keys().find(|name| name.contains('_'))) {
        return Err(format!("names in generationConfig are written like maxOutputTokens here, not like {name}"));
    }
    let kinds = &whole["generationConfig"]["responseModalities"];
    if !is_nothing(kinds) && !kinds.as_array().is_some_and(|all| all.iter().all(|one| one == "TEXT")) {
        return Err(refused("modalities other than text"));
    }
    match &whole["service_tier"] {
        Value::Null => Ok(()),
        Value::String(tier) if ["auto", "default", "flex", "standard_only"].contains(&tier.as_str()) => Ok(()),
        _ => Err(refused("service_tier")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_small_and_points_nowhere_is_let_through_and_nothing_else_that_is_new() {
        let look = |body: Value| look(&body, AgentProtocol::Chat);
        assert_eq!(
            look(json!({ "model": "m", "effort_hint": "low", "n": 1 })),
            Ok(vec!["effort_hint=\"low\"".to_owned()])
        );
        assert_eq!(look(json!({ "model": "m", "provider": null, "plugins": [], "audio": false })), Ok(vec![]));
        for wrong in [
            json!({ "hint": "x".repeat(300) }),
            json!({ "hint": { "file_id": "file-7" } }),
            json!({ "memory_id": "m-7" }),
            json!({ "hint": ["https://example.com/large.pdf"] }),
            json!({ "models": ["dear"] }),
            json!({ "plugins": [{ "id": "web" }] }),
            json!({ "provider": { "order": ["dear"] } }),
            json!({ "search_parameters": { "mode": "on" } }),
            json!({ "extra_body": { "x": 1 } }),
            json!({ "speed": "fast" }),
            json!({ "inference_geo": "us" }),
            json!({ "modalities": "audio" }),
            json!({ "service_tier": "priority" }),
            json!({ "service_tier": ["flex"] }),
            json!({ "venice_parameters": { "enable_web_search": "on" } }),
            json!({ "enable_search": true }),
            json!({ "best_of": 64 }),
            json!({ "tier": "priority" }),
        ] {
            assert!(look(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
