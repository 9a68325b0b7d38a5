//! Reading a call with distrust: what it can cost at most, and that nothing in it could make it cost more. What is not about
//! cost is the agent's own and is passed on byte for byte.

use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Tokens that a server adds around what it is sent, and where tools are given.
const AROUND: u64 = 64;
const TOOLS: u64 = 1_000;
/// Tokens of one picture, at most.
const PICTURE: u64 = 50_000;
const PICTURE_IN_MESSAGES: u64 = 5_000;
/// Tokens of an answer, where the agent does not say.
const USUAL: u64 = 8_192;
/// Answers to one question.
const ANSWERS: u64 = 16;
/// How deep a call may be nested.
const DEEPEST: usize = 64;

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Chat,
    Responses,
    Embeddings,
    Messages,
}

impl Protocol {
    pub(super) const ALL: [Protocol; 4] =
        [Protocol::Chat, Protocol::Responses, Protocol::Embeddings, Protocol::Messages];

    pub(super) fn path(self) -> &'static str {
        match self {
            Protocol::Chat => "/chat/completions",
            Protocol::Responses => "/responses",
            Protocol::Embeddings => "/embeddings",
            Protocol::Messages => "/messages",
        }
    }

    fn most_tokens(self) -> &'static [&'static str] {
        match self {
            Protocol::Chat => &["max_completion_tokens", "max_tokens"],
            Protocol::Responses => &["max_output_tokens"],
            Protocol::Messages => &["max_tokens"],
            Protocol::Embeddings => &[],
        }
    }
}

/// A call as it came, in the order it came in.
#[derive(Debug)]
pub(super) struct Asked {
    fields: Vec<(String, Box<RawValue>)>,
    pub(super) protocol: Protocol,
    pub(super) model: String,
    pub(super) stream: bool,
    /// Tokens in, never too few.
    pub(super) input: u64,
    /// Tokens of one answer, at most.
    pub(super) output: u64,
    pub(super) answers: u64,
    /// By what calls that ask the same are known.
    pub(super) alike: u64,
    /// The agent wants to be told what was used.
    pub(super) tells_usage: bool,
}

/// The fields of an object in their order, none twice: of two, nobody knows which a server goes by.
struct Fields(Vec<(String, Box<RawValue>)>);

impl<'de> serde::Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
        struct Once;
        impl<'de> Visitor<'de> for Once {
            type Value = Fields;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    if fields.iter().any(|(known, _)| *known == name) {
                        return Err(A::Error::custom(format!("{name:?} is there twice")));
                    }
                    fields.push((name, value));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Once)
    }
}

/// Reads a call; or says what is wrong with it.
pub(super) fn read(body: &[u8], protocol: Protocol) -> Result<Asked, String> {
    let Fields(fields) = serde_json::from_slice(body).map_err(|why| format!("this is no call: {why}"))?;
    let whole: Value = serde_json::from_slice(body).map_err(|why| format!("this is no call: {why}"))?;
    let model = whole["model"].as_str().filter(|name| (1..=200).contains(&name.len()));
    let model = model.ok_or("a call names its model")?.to_owned();
    let stream = switch(&whole, "stream")?;
    if stream && protocol == Protocol::Embeddings {
        return Err("embeddings are not streamed".to_owned());
    }
    unbounded(&whole, protocol)?;
    let mut found = Found::default();
    for part in ["messages", "input", "system", "instructions", "tools"] {
        found.walk(&whole[part], 0)?;
    }
    let picture = if protocol == Protocol::Messages { PICTURE_IN_MESSAGES } else { PICTURE };
    let text = (body.len() as u64).saturating_sub(found.picture_bytes);
    let tools = if whole["tools"].is_null() { 0 } else { TOOLS };
    let written_twice = if found.cached { 2 } else { 1 };
    let input = (text + found.pictures * picture) * written_twice + AROUND + tools;
    let answers = number(&whole, "n")?.unwrap_or(1);
    if !(1..=ANSWERS).contains(&answers) {
        return Err(format!("n is from 1 to {ANSWERS}"));
    }
    let mut output = if protocol == Protocol::Embeddings { 0 } else { USUAL };
    let mut said = false;
    for name in protocol.most_tokens() {
        if let Some(most) = number(&whole, name)? {
            output = if said { output.min(most) } else { most };
            said = true;
        }
    }
    let tells_usage = whole.pointer("/stream_options/include_usage").and_then(Value::as_bool).unwrap_or(false);
    let alike = super::alike::alike(&whole, protocol.path());
    Ok(Asked { alike, fields, protocol, model, stream, input, output, answers, tells_usage })
}

/// What could cost more than anyone can see in the call.
fn unbounded(whole: &Value, protocol: Protocol) -> Result<(), String> {
    let refused = |what: &str| Err(format!("{what} cannot be paid for beforehand, so it is not passed on"));
    let hidden: &[&str] = match protocol {
        Protocol::Chat => &["audio", "web_search_options", "prediction"],
        Protocol::Responses => &["previous_response_id", "conversation", "prompt", "background"],
        Protocol::Messages => &["mcp_servers", "container", "context_management"],
        Protocol::Embeddings => &[],
    };
    let empty = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(list) => list.is_empty(),
        _ => false,
    };
    if let Some(name) = hidden.iter().find(|name| !empty(&whole[**name])) {
        return refused(name);
    }
    if whole["modalities"].as_array().is_some_and(|all| all.iter().any(|one| one != "text")) {
        return refused("modalities other than text");
    }
    let tier = whole["service_tier"].as_str().unwrap_or("auto");
    if !["auto", "default", "flex", "standard_only"].contains(&tier) {
        return refused("service_tier");
    }
    let ours = |kind: &str| {
        matches!(kind, "function" | "custom")
            || ["computer_", "text_editor_", "bash_", "str_replace_"].iter().any(|with| kind.starts_with(with))
    };
    let tools = whole["tools"].as_array().map_or(&[][..], Vec::as_slice);
    if let Some(tool) = tools.iter().filter_map(|tool| tool["type"].as_str()).find(|kind| !ours(kind)) {
        return refused(&format!("the tool {tool:?}, which runs at the provider,"));
    }
    Ok(())
}

#[derive(Default)]
struct Found {
    pictures: u64,
    picture_bytes: u64,
    cached: bool,
}

impl Found {
    /// Looks for what costs by something else than its letters.
    fn walk(&mut self, value: &Value, depth: usize) -> Result<(), String> {
        if depth > DEEPEST {
            return Err("it is nested too deeply".to_owned());
        }
        match value {
            Value::Array(list) => list.iter().try_for_each(|one| self.walk(one, depth + 1)),
            Value::Object(fields) => {
                self.cached |= fields.contains_key("cache_control");
                let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
                match kind {
                    "image_url" | "input_image" | "image" => return self.picture(value),
                    "input_audio"
                    | "file"
                    | "input_file"
                    | "document"
                    | "item_reference"
                    | "container_upload"
                    | "file_search_call"
                    | "web_search_call"
                    | "computer_call_output"
                        if !is_plain_document(value) =>
                    {
                        return Err(format!(
                            "a part of the kind {kind:?} cannot be paid for beforehand, so it is not passed on"
                        ));
                    }
                    _ => {}
                }
                // What an agent's own tools look like is theirs.
                fields.iter().try_for_each(|(name, inner)| match name.as_str() {
                    "input_schema" | "parameters" | "arguments" => Ok(()),
                    _ => self.walk(inner, depth + 1),
                })
            }
            _ => Ok(()),
        }
    }

    fn picture(&mut self, part: &Value) -> Result<(), String> {
        self.pictures += 1;
        let by_name = part["source"]["type"] == "file" || !part["file_id"].is_null();
        if by_name {
            return Err("a picture is sent or named by its address; files at the provider are not passed on".to_owned());
        }
        let inline = [&part["image_url"]["url"], &part["image_url"], &part["source"]["data"]];
        let data = inline.iter().filter_map(|place| place.as_str());
        self.picture_bytes += data.map(|data| data.len() as u64).sum::<u64>();
        Ok(())
    }
}

fn is_plain_document(part: &Value) -> bool {
    part["type"] == "document" && part["source"]["type"] == "text"
}

fn switch(whole: &Value, name: &str) -> Result<bool, String> {
    match &whole[name] {
        Value::Null => Ok(false),
        Value::Bool(on) => Ok(*on),
        _ => Err(format!("{name} is true or false")),
    }
}

fn number(whole: &Value, name: &str) -> Result<Option<u64>, String> {
    match &whole[name] {
        Value::Null => Ok(None),
        value => value.as_u64().map(Some).ok_or_else(|| format!("{name} is a whole number")),
    }
}

impl Asked {
    /// The call as it is passed on: to this model, with answers of so many tokens, and a word about what was used. `most` is
    /// what the server calls that, where the agent did not say.
    pub(super) fn body(&self, model: &str, most: &str, tokens: u64) -> Vec<u8> {
        let names = self.protocol.most_tokens();
        let said = self.fields.iter().any(|(name, value)| names.contains(&name.as_str()) && value.get() != "null");
        let mut written = Vec::new();
        let mut put = |name: &str, value: &str| {
            written.push(if written.is_empty() { b'{' } else { b',' });
            written.extend(Value::from(name).to_string().bytes());
            written.push(b':');
            written.extend(value.bytes());
        };
        let usage = self.stream && self.protocol == Protocol::Chat && !self.tells_usage;
        let mut told = false;
        for (name, value) in &self.fields {
            match name.as_str() {
                "model" => put(name, &Value::from(model).to_string()),
                most if names.contains(&most) && value.get() != "null" => put(name, &tokens.to_string()),
                most if names.contains(&most) => {}
                "stream_options" if usage => {
                    let mut options: Value = serde_json::from_str(value.get()).unwrap_or_default();
                    options["include_usage"] = Value::Bool(true);
                    (told, _) = (true, put(name, &options.to_string()));
                }
                _ => put(name, value.get()),
            }
        }
        if !said && !names.is_empty() {
            let name = if self.protocol == Protocol::Chat { most } else { names[0] };
            put(name, &tokens.to_string());
        }
        if usage && !told {
            put("stream_options", r#"{"include_usage":true}"#);
        }
        written.push(b'}');
        written
    }

    /// A word about what was used was asked for here and not by the agent, who is not to hear it.
    pub(super) fn hides_usage(&self) -> bool {
        self.stream && self.protocol == Protocol::Chat && !self.tells_usage
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chat(body: &Value) -> Result<Asked, String> {
        read(body.to_string().as_bytes(), Protocol::Chat)
    }

    #[test]
    fn what_is_not_about_cost_is_passed_on_byte_for_byte() {
        let body = br#"{"messages": [ {"role":"user" , "content":"\u00e9 1.10e5"}],"model":"m","temperature":0.10, "tools":[{"type":"function","function":{"name":"f","parameters":{ "a":1.0 }}}]}"#;
        let asked = read(body, Protocol::Chat).unwrap();
        let sent = String::from_utf8(asked.body("real", "max_tokens", 77)).unwrap();
        assert_eq!(
            sent,
            r#"{"messages":[ {"role":"user" , "content":"\u00e9 1.10e5"}],"model":"real","temperature":0.10,"tools":[{"type":"function","function":{"name":"f","parameters":{ "a":1.0 }}}],"max_tokens":77}"#
        );
        assert!(asked.input > body.len() as u64 && asked.output == USUAL);
    }

    #[test]
    fn an_answer_is_as_long_as_both_sides_agree() {
        let asked =
            chat(&json!({ "model": "m", "max_tokens": 50, "max_completion_tokens": 30, "stream": true })).unwrap();
        assert_eq!(asked.output, 30);
        let sent: Value = serde_json::from_slice(&asked.body("m", "max_tokens", 20)).unwrap();
        assert_eq!((&sent["max_tokens"], &sent["max_completion_tokens"]), (&json!(20), &json!(20)));
        assert_eq!(sent["stream_options"], json!({ "include_usage": true }));
        assert!(asked.hides_usage());
        let told = chat(&json!({ "model": "m", "stream": true, "stream_options": { "include_usage": true } })).unwrap();
        assert!(!told.hides_usage());
        let nothing = chat(&json!({ "model": "m", "max_tokens": null })).unwrap();
        let sent: Value = serde_json::from_slice(&nothing.body("m", "max_completion_tokens", 9)).unwrap();
        assert_eq!(sent, json!({ "model": "m", "max_completion_tokens": 9 }));
    }

    #[test]
    fn what_could_cost_more_than_can_be_seen_is_refused() {
        for wrong in [
            json!({ "model": "m", "n": 17 }),
            json!({ "model": "m", "n": 0 }),
            json!({ "model": "m", "n": 1.5 }),
            json!({ "model": "m", "max_tokens": -1 }),
            json!({ "model": "m", "max_tokens": "9" }),
            json!({ "model": "m", "stream": 1 }),
            json!({ "model": "" }),
            json!({ "model": 7 }),
            json!({}),
            json!({ "model": "m", "web_search_options": {} }),
            json!({ "model": "m", "modalities": ["text", "audio"] }),
            json!({ "model": "m", "service_tier": "priority" }),
            json!({ "model": "m", "tools": [{ "type": "web_search" }] }),
            json!({ "model": "m", "messages": [{ "content": [{ "type": "input_audio" }] }] }),
            json!({ "model": "m", "messages": [{ "content": [{ "type": "file", "file": { "file_id": "f" } }] }] }),
        ] {
            assert!(chat(&wrong).is_err(), "{wrong}");
        }
        let responses = |body: &Value| read(body.to_string().as_bytes(), Protocol::Responses);
        assert!(responses(&json!({ "model": "m", "previous_response_id": "r" })).is_err());
        assert!(responses(&json!({ "model": "m", "previous_response_id": null, "background": false })).is_ok());
        assert!(responses(&json!({ "model": "m", "input": [{ "type": "item_reference", "id": "x" }] })).is_err());
        let messages = |body: &Value| read(body.to_string().as_bytes(), Protocol::Messages);
        assert!(messages(&json!({ "model": "m", "mcp_servers": [{}] })).is_err());
        assert!(messages(&json!({ "model": "m", "tools": [{ "type": "web_search_20250305" }] })).is_err());
        assert!(
            messages(&json!({ "model": "m", "tools": [{ "name": "own", "input_schema": { "type": "file" } }] }))
                .is_ok()
        );
        assert!(read(br#"{"model":"a","model":"b"}"#, Protocol::Chat).unwrap_err().contains("twice"));
        assert!(read(br#"{"model":"a","mod\u0065l":"b"}"#, Protocol::Chat).unwrap_err().contains("twice"));
        assert!(read(b"[1]", Protocol::Chat).is_err() && read(b"", Protocol::Chat).is_err());
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        assert!(read(format!(r#"{{"model":"m","messages":{deep}}}"#).as_bytes(), Protocol::Chat).is_err());
    }

    #[test]
    fn a_picture_counts_as_a_picture_and_what_is_cached_as_written_twice() {
        let data = "A".repeat(400_000);
        let body = json!({ "model": "m", "messages": [{ "content": [
            { "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{data}") } }] }] });
        let asked = chat(&body).unwrap();
        assert!((PICTURE..PICTURE + 1_000).contains(&asked.input), "{}", asked.input);
        let plain = json!({ "model": "m", "messages": [{ "content": [{ "type": "text", "text": "hello there" }] }] });
        let cached = json!({ "model": "m", "messages": [{ "content": [
            { "type": "text", "text": "hello there", "cache_control": { "type": "ephemeral" } }] }] });
        let bound = |body: &Value| read(body.to_string().as_bytes(), Protocol::Messages).unwrap().input;
        assert!(bound(&cached) > 2 * bound(&plain) - AROUND);
    }
}
