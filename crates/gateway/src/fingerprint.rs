//! The fingerprint by which a repeated call is recognised: what the model last said or did, and all that has come
//! since. A longer history does not make another question; another answer of a tool does.

use serde_json::Value;

/// Fields with identifiers that differ each time, whatever is asked.
const NAMES: [&str; 6] = ["id", "tool_call_id", "tool_use_id", "call_id", "item_id", "cache_control"];

/// Fields that decide how an answer comes out, beside the words themselves: a call with another value in one of them
/// asks something else. A field that is not among them, such as a user's name or a number for the books, makes no
/// difference.
const DECIDES: [&str; 20] = [
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "n",
    "stop",
    "stop_sequences",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "response_format",
    "text",
    "reasoning",
    "reasoning_effort",
    "thinking",
    "tool_choice",
    "tools",
    "verbosity",
    "dimensions",
    "encoding_format",
];

/// Returns the fingerprint of a call to `path`, whether it has `messages`, `contents` or `input`.
pub(super) fn alike(whole: &Value, path: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(path.as_bytes());
    take(&mut hasher, &whole["model"]);
    for name in DECIDES {
        if !whole[name].is_null() {
            hasher.update(name.as_bytes());
            take(&mut hasher, &whole[name]);
        }
    }
    let said = ["messages", "contents"].into_iter().find(|name| !whole[*name].is_null()).unwrap_or("input");
    match whole[said].as_array() {
        // A list of texts has no steps in it.
        Some(all) if all.iter().any(Value::is_object) => {
            let last = all.iter().rposition(is_own);
            if last.is_none() {
                ["system", "instructions", "systemInstruction"]
                    .iter()
                    .for_each(|part| take(&mut hasher, &whole[*part]));
            }
            all[last.unwrap_or(0)..].iter().for_each(|one| take(&mut hasher, one));
        }
        _ => take(&mut hasher, &whole[said]),
    }
    u64::from_le_bytes(hasher.finalize().as_bytes()[..8].try_into().expect("eight of thirty-two"))
}

/// Whether the model itself said or did this.
fn is_own(one: &Value) -> bool {
    one["role"] == "assistant"
        || one["role"] == "model"
        || one["type"].as_str().is_some_and(|kind| kind.ends_with("_call"))
}

fn take(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Object(fields) => {
            hasher.update(b"{");
            for (name, value) in fields.iter().filter(|(name, _)| !NAMES.contains(&name.as_str())) {
                hasher.update(name.as_bytes()).update(b":");
                take(hasher, value);
            }
            hasher.update(b"}");
        }
        Value::Array(all) => {
            hasher.update(b"[");
            all.iter().for_each(|one| take(hasher, one));
            hasher.update(b"]");
        }
        Value::String(text) => drop(hasher.update(b"\"").update(text.as_bytes()).update(b"\0")),
        plain => drop(hasher.update(plain.to_string().as_bytes()).update(b"\0")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_step_that_is_repeated_is_the_same_however_long_its_history_and_whatever_its_numbers() {
        let step = |id: &str, result: &str| {
            [
                json!({ "role": "assistant", "tool_calls": [{ "id": id, "function": { "name": "test" } }] }),
                json!({ "role": "tool", "tool_call_id": id, "content": result }),
            ]
        };
        let call = |steps: &[[Value; 2]]| {
            let mut messages = vec![json!({ "role": "user", "content": "mend it" })];
            messages.extend(steps.iter().flatten().cloned());
            alike(&json!({ "model": "m", "messages": messages }), "/chat/completions")
        };
        let once = call(&[step("a", "3 failed")]);
        assert_eq!(once, call(&[step("a", "3 failed"), step("b", "3 failed")]));
        assert_ne!(once, call(&[step("a", "3 failed"), step("b", "2 failed")]));
        assert_ne!(once, call(&[]));
        let plain = |system: &str, text: &str| {
            let messages = json!([{ "role": "user", "content": text }]);
            alike(&json!({ "model": "m", "system": system, "messages": messages }), "/messages")
        };
        assert_eq!(plain("s", "row 1"), plain("s", "row 1"));
        assert_ne!(plain("s", "row 1"), plain("s", "row 2"));
        assert_ne!(plain("s", "row 1"), plain("t", "row 1"));
        let items = |last: &str| {
            json!({ "model": "m", "input": [
                { "type": "function_call", "call_id": last, "name": "look", "arguments": "{}" },
                { "type": "function_call_output", "call_id": last, "output": "nothing" },
            ] })
        };
        assert_eq!(alike(&items("1"), "/responses"), alike(&items("2"), "/responses"));
        // Nine calls with the same text and other parameters were one call.
        let with = |name: &str, value: Value| {
            let mut call = json!({ "model": "m", "messages": [{ "role": "user", "content": "sort these" }] });
            call[name] = value;
            alike(&call, "/chat/completions")
        };
        let plain = with("user", Value::Null);
        let schema = |name: &str| json!({ "type": "json_schema", "json_schema": { "name": name } });
        let differ = [
            plain,
            with("temperature", json!(0.1)),
            with("temperature", json!(0.2)),
            with("n", json!(2)),
            with("max_tokens", json!(100)),
            with("reasoning_effort", json!("low")),
            with("response_format", schema("a")),
            with("response_format", schema("b")),
        ];
        assert!((1..differ.len()).all(|at| !differ[..at].contains(&differ[at])), "{differ:?}");
        // The user and the way of sending are no part of the question.
        for same in [("user", json!("u-7")), ("metadata", json!({ "run": 9 })), ("stream", json!(true))] {
            assert_eq!(plain, with(same.0, same.1));
        }
        let embed = |text: &str| alike(&json!({ "model": "m", "input": [text] }), "/embeddings");
        assert_ne!(embed("a"), embed("b"));
    }
}
