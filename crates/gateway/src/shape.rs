//! Reading a call with distrust: what it can cost at most, and that nothing in it could make it cost more. Whatever
//! does not bear on cost is the agent's own and is passed on byte for byte.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::duplicates::Once;
use super::fields;
use super::origin;
use super::parts::{self, Parts};
use super::prefix::{Chain, PrefixKey};
use super::protocol::AgentProtocol;
use super::session;

/// The most answers to one question.
const ANSWERS: u64 = 16;
/// An answer that is shorter is of little use, unless the agent wants one so short.
const USEFUL: u64 = 4_096;
/// Tokens that are wanted beside those a model may think in.
const BESIDE_THINKING: u64 = 1_024;

/// Tokens by which an answer may be shorter than `USEFUL`, where the input was bounded and not counted.
const SPARED: u64 = 512;

/// The part of a call that stands in its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct InPath<'a> {
    pub(super) model: &'a str,
    pub(super) stream: bool,
}

/// A call as it came, in the order it came in.
#[derive(Debug)]
pub(super) struct AgentCall {
    fields: Vec<(String, Box<RawValue>)>,
    pub(super) protocol: AgentProtocol,
    pub(super) model: String,
    pub(super) stream: bool,
    /// Tokens of the input, never too few.
    pub(super) parts: Parts,
    /// Hashes by which its beginnings are recognised if they come again.
    pub(super) chain: Chain,
    /// Tokens of one answer at most, if the agent says.
    pub(super) most: Option<u64>,
    /// Tokens that the model may think in first, if the agent says.
    thinking: u64,
    pub(super) answers: u64,
    /// Whether its cache entries are to stay for longer than is usual, which costs more.
    pub(super) kept: bool,
    /// The fingerprint by which a repeated call is recognised.
    pub(super) alike: u64,
    /// Unknown fields.
    pub(super) unknown: Vec<String>,
    /// Whether the provider may count less input than was sent.
    pub(super) shortened: bool,
    /// Whether the agent wants to be told what was used.
    pub(super) tells_usage: bool,
    /// The agent's name for the session that this call is part of.
    pub(super) session: Option<String>,
    /// The tool whose result it brings in.
    pub(super) tool: Option<String>,
    /// The whole call as a value, until its bound is known.
    pub(super) whole: Value,
}

/// The fields of an object in their order.
pub(super) struct Fields(pub(super) Vec<(String, Box<RawValue>)>);

impl<'de> serde::Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Reads a call; or says what is wrong with it.
pub(super) fn read(body: &[u8], protocol: AgentProtocol, key: &PrefixKey) -> Result<AgentCall, String> {
    read_with(body, protocol, key, None)
}

/// Reads a call whose path may say which model it is for and how the answer is to come.
pub(super) fn read_with(
    body: &[u8],
    protocol: AgentProtocol,
    key: &PrefixKey,
    path: Option<InPath<'_>>,
) -> Result<AgentCall, String> {
    let wrong = |why: serde_json::Error| format!("this is not a call: {why}");
    serde_json::from_slice::<Once>(body).map_err(wrong)?;
    let Fields(fields) = serde_json::from_slice(body).map_err(wrong)?;
    let whole: Value = serde_json::from_slice(body).map_err(wrong)?;
    let model = path.map_or(whole["model"].as_str(), |path| Some(path.model));
    let model = model.filter(|name| (1..=200).contains(&name.len())).ok_or("a call must name its model")?.to_owned();
    let stream = path.map_or_else(|| switch(&whole, "stream"), |path| Ok(path.stream))?;
    if stream && protocol == AgentProtocol::Embeddings {
        return Err("embeddings are not streamed".to_owned());
    }
    let unknown = fields::look(&whole, protocol)?;
    let parts = parts::read(&whole, protocol, &model)?;
    let config = &whole["generationConfig"];
    let answers = match protocol {
        AgentProtocol::Generate => number(config, "candidateCount")?,
        _ => number(&whole, "n")?,
    };
    let answers = answers.unwrap_or(1);
    if !(1..=ANSWERS).contains(&answers) {
        return Err(format!("n must be from 1 to {ANSWERS}"));
    }
    let mut most = (protocol == AgentProtocol::Embeddings).then_some(0);
    for name in protocol.most_tokens() {
        if let Some(said) = number(&whole, name)? {
            most = Some(most.map_or(said, |most| most.min(said)));
        }
    }
    if protocol == AgentProtocol::Generate {
        most = number(config, "maxOutputTokens")?;
    }
    let budgets = ["/thinking/budget_tokens", "/generationConfig/thinkingConfig/thinkingBudget"];
    let thinking = budgets.iter().filter_map(|place| whole.pointer(place)?.as_u64()).sum();
    let tells_usage = whole.pointer("/stream_options/include_usage").and_then(Value::as_bool).unwrap_or(false);
    let alike = super::fingerprint::alike(&whole, protocol.path());
    let kept = kept(&whole);
    let chain = key.chain(&whole, protocol);
    let shortened = parts.twice || !matches!(whole["truncation"].as_str(), None | Some("disabled"));
    let (session, tool) = (session::in_body(&whole), origin::tool(&whole, protocol));
    Ok(AgentCall {
        fields,
        protocol,
        model,
        stream,
        parts,
        chain,
        most,
        thinking,
        kept,
        answers,
        alike,
        unknown,
        shortened,
        tells_usage,
        session,
        tool,
        whole,
    })
}

fn kept(whole: &Value) -> bool {
    let usual = |value: &Value| value.is_null() || matches!(value.as_str(), Some("in_memory" | "in-memory" | "30m"));
    !(usual(&whole["prompt_cache_retention"]) && usual(&whole["prompt_cache_options"]["ttl"]))
}

fn switch(whole: &Value, name: &str) -> Result<bool, String> {
    match &whole[name] {
        Value::Null => Ok(false),
        Value::Bool(on) => Ok(*on),
        _ => Err(format!("{name} must be true or false")),
    }
}

fn number(whole: &Value, name: &str) -> Result<Option<u64>, String> {
    match &whole[name] {
        Value::Null => Ok(None),
        value => value.as_u64().map(Some).ok_or_else(|| format!("{name} must be a whole number")),
    }
}

/// Reads an object; anything else counts as empty, since a server finds no field in it.
fn object(value: &RawValue) -> Map<String, Value> {
    serde_json::from_str(value.get()).unwrap_or_default()
}

impl AgentCall {
    /// Tokens that an answer must have to be worth its question.
    pub(super) fn fewest(&self) -> u64 {
        let useful = USEFUL.max(self.thinking.saturating_add(BESIDE_THINKING));
        self.most.map_or(useful, |most| most.min(useful))
    }

    /// Returns `fewest` less the tokens by which the bound of the input may be too high: a call that only lacks those
    /// is not refused for them. An eighth at most, and never what the model may think in.
    pub(super) fn fewest_less(&self, spare: u64) -> u64 {
        let fewest = self.fewest();
        fewest - spare.min(fewest / 8).min(SPARED).min(fewest.saturating_sub(self.thinking) / 2)
    }

    /// The fields that decide how many tokens go in, in the form in which a provider counts them.
    pub(super) fn to_count(&self, model: &str) -> Vec<u8> {
        let names: &[&str] = match self.protocol {
            AgentProtocol::Messages => {
                &["messages", "system", "tools", "tool_choice", "thinking", "output_config", "output_format"]
            }
            AgentProtocol::Responses => {
                &["input", "instructions", "tools", "tool_choice", "text", "reasoning", "parallel_tool_calls"]
            }
            AgentProtocol::Generate => &["contents", "systemInstruction", "tools", "toolConfig", "generationConfig"],
            AgentProtocol::Chat | AgentProtocol::Embeddings => &[],
        };
        let google = self.protocol == AgentProtocol::Generate;
        let name = Value::from(if google { format!("models/{model}") } else { model.to_owned() });
        let kept = self.fields.iter().filter(|(field, _)| names.contains(&field.as_str()));
        let kept = kept.map(|(field, value)| format!(",{}:{}", Value::from(field.as_str()), value.get()));
        let inner = format!("{{\"model\":{name}{}}}", kept.collect::<String>());
        if google { format!("{{\"generateContentRequest\":{inner}}}").into_bytes() } else { inner.into_bytes() }
    }

    /// The call as a server only counts it: to this model, and otherwise as it came.
    pub(super) fn counting(&self, model: &str) -> Vec<u8> {
        let name = Value::from(model).to_string();
        let field = |(field, value): &(String, Box<RawValue>)| {
            let is_model = field == "model" && self.protocol != AgentProtocol::Generate;
            let value = if is_model { &name } else { value.get() };
            format!("{}:{value}", Value::from(field.as_str()))
        };
        format!("{{{}}}", self.fields.iter().map(field).collect::<Vec<_>>().join(",")).into_bytes()
    }

    /// Drops the fields, which need not be kept once they are passed on.
    pub(super) fn is_sent(&mut self) {
        self.fields = Vec::new();
    }

    /// The call as it is passed on: to this model, with answers of so many tokens or with no limit, and asking for what
    /// was used. `most` is the server's name for the limit, whatever the agent calls it: a name the server does not
    /// know limits nothing.
    pub(super) fn body(&self, model: &str, most: &str, tokens: Option<u64>) -> Vec<u8> {
        let names = if tokens.is_some() { self.protocol.most_tokens() } else { &[] };
        let tokens = tokens.unwrap_or_default();
        let mut written = Vec::new();
        let mut put = |name: &str, value: &str| {
            written.push(if written.is_empty() { b'{' } else { b',' });
            written.extend(Value::from(name).to_string().bytes());
            written.push(b':');
            written.extend(value.bytes());
        };
        let usage = self.stream && self.protocol == AgentProtocol::Chat && !self.tells_usage;
        let mut told = false;
        for (name, value) in &self.fields {
            match name.as_str() {
                "model" if self.protocol != AgentProtocol::Generate => put(name, &Value::from(model).to_string()),
                most if names.contains(&most) => {}
                "stream_options" if usage => {
                    let mut options = object(value);
                    options.insert("include_usage".to_owned(), Value::Bool(true));
                    (told, _) = (true, put(name, &Value::Object(options).to_string()));
                }
                "generationConfig" if self.protocol == AgentProtocol::Generate => {
                    let mut config = object(value);
                    config.insert("maxOutputTokens".to_owned(), Value::from(tokens));
                    (told, _) = (true, put(name, &Value::Object(config).to_string()));
                }
                _ => put(name, value.get()),
            }
        }
        if self.protocol == AgentProtocol::Generate && !told {
            put("generationConfig", &format!(r#"{{"maxOutputTokens":{tokens}}}"#));
        }
        if !names.is_empty() {
            let name = if self.protocol == AgentProtocol::Chat { most } else { names[0] };
            put(name, &tokens.to_string());
        }
        if usage && !told {
            put("stream_options", r#"{"include_usage":true}"#);
        }
        written.push(b'}');
        written
    }

    /// Whether counts of what was used were asked for here and not by the agent, so that they are kept from it.
    pub(super) fn hides_usage(&self) -> bool {
        self.stream && self.protocol == AgentProtocol::Chat && !self.tells_usage
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chat(body: &Value) -> Result<AgentCall, String> {
        read(body.to_string().as_bytes(), AgentProtocol::Chat, &PrefixKey::new([1; 32]))
    }

    #[test]
    fn what_is_not_about_cost_is_passed_on_byte_for_byte() {
        let body = br#"{"messages": [ {"role":"user" , "content":"\u00e9 1.10e5"}],"model":"m","temperature":0.10, "tools":[{"type":"function","function":{"name":"f","parameters":{ "a":1.0 }}}]}"#;
        let asked = read(body, AgentProtocol::Chat, &PrefixKey::new([1; 32])).unwrap();
        let sent = String::from_utf8(asked.body("real", "max_tokens", Some(77))).unwrap();
        assert_eq!(
            sent,
            r#"{"messages":[ {"role":"user" , "content":"\u00e9 1.10e5"}],"model":"real","temperature":0.10,"tools":[{"type":"function","function":{"name":"f","parameters":{ "a":1.0 }}}],"max_tokens":77}"#
        );
        assert_eq!((asked.most, asked.fewest()), (None, USEFUL));
    }

    #[test]
    fn an_answer_is_as_long_as_both_sides_agree() {
        let asked =
            chat(&json!({ "model": "m", "max_tokens": 50, "max_completion_tokens": 30, "stream": true })).unwrap();
        assert_eq!((asked.most, asked.fewest(), asked.fewest_less(900), asked.fewest_less(2)), (Some(30), 30, 27, 28));
        let sent: Value = serde_json::from_slice(&asked.body("m", "max_tokens", Some(20))).unwrap();
        assert_eq!((&sent["max_tokens"], &sent["max_completion_tokens"]), (&json!(20), &Value::Null));
        assert_eq!(sent["stream_options"], json!({ "include_usage": true }));
        assert!(asked.hides_usage());
        let told = chat(&json!({ "model": "m", "stream": true, "stream_options": { "include_usage": true } })).unwrap();
        assert!(!told.hides_usage());
        let odd = chat(&json!({ "model": "m", "stream": true, "stream_options": true })).unwrap();
        let sent: Value = serde_json::from_slice(&odd.body("m", "max_tokens", Some(20))).unwrap();
        assert_eq!(sent["stream_options"], json!({ "include_usage": true }));
        let path = InPath { model: "m", stream: false };
        let google = |body: Value| {
            read_with(body.to_string().as_bytes(), AgentProtocol::Generate, &PrefixKey::new([1; 32]), Some(path))
        };
        let odd = google(json!({ "contents": [], "generationConfig": "x" })).unwrap();
        let sent: Value = serde_json::from_slice(&odd.body("m", "max_tokens", Some(20))).unwrap();
        assert_eq!(sent["generationConfig"], json!({ "maxOutputTokens": 20 }));
        for twice in ["candidate_count", "max_output_tokens"] {
            assert!(google(json!({ "contents": [], "generationConfig": { twice: 8 } })).is_err(), "{twice}");
        }
        let nothing = chat(&json!({ "model": "m", "max_tokens": null })).unwrap();
        let sent: Value = serde_json::from_slice(&nothing.body("m", "max_completion_tokens", Some(9))).unwrap();
        assert_eq!(sent, json!({ "model": "m", "max_completion_tokens": 9 }));
        // A server that accepts no limit is sent none.
        let sent: Value = serde_json::from_slice(&nothing.body("m", "max_completion_tokens", None)).unwrap();
        assert!(sent.get("max_completion_tokens").is_none());
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
        let key = PrefixKey::new([1; 32]);
        let responses = |body: &Value| read(body.to_string().as_bytes(), AgentProtocol::Responses, &key);
        assert!(responses(&json!({ "model": "m", "previous_response_id": "r" })).is_err());
        assert!(responses(&json!({ "model": "m", "previous_response_id": null, "background": false })).is_ok());
        let messages = |body: &Value| read(body.to_string().as_bytes(), AgentProtocol::Messages, &key);
        assert!(messages(&json!({ "model": "m", "mcp_servers": [{}] })).is_err());
        assert!(messages(&json!({ "model": "m", "speed": "fast" })).is_err());
        assert!(messages(&json!({ "model": "m", "speed": "standard", "inference_geo": "global" })).is_ok());
        assert!(messages(&json!({ "model": "m", "inference_geo": "us" })).is_err());
        let thinks =
            json!({ "model": "m", "max_tokens": 9_000, "thinking": { "type": "enabled", "budget_tokens": 7_000 } });
        let thinks = messages(&thinks).unwrap();
        assert_eq!((thinks.fewest(), thinks.fewest_less(100), thinks.fewest_less(9_000)), (8_024, 7_924, 7_512));
        let counted: Value = serde_json::from_slice(&thinks.to_count("real")).unwrap();
        assert_eq!(counted, json!({ "model": "real", "thinking": { "type": "enabled", "budget_tokens": 7_000 } }));
        assert!(read(br#"{"model":"a","model":"b"}"#, AgentProtocol::Chat, &key).unwrap_err().contains("twice"));
        assert!(read(br#"{"model":"a","mod\u0065l":"b"}"#, AgentProtocol::Chat, &key).unwrap_err().contains("twice"));
        assert!(read(b"[1]", AgentProtocol::Chat, &key).is_err() && read(b"", AgentProtocol::Chat, &key).is_err());
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        assert!(read(format!(r#"{{"model":"m","messages":{deep}}}"#).as_bytes(), AgentProtocol::Chat, &key).is_err());
        for (body, kept) in [
            (json!({ "model": "m", "prompt_cache_retention": "24h" }), true),
            (json!({ "model": "m", "prompt_cache_options": { "ttl": "12h" } }), true),
            (json!({ "model": "m", "prompt_cache_options": { "ttl": "30m" } }), false),
            (json!({ "model": "m", "prompt_cache_retention": "in_memory" }), false),
        ] {
            assert_eq!(chat(&body).unwrap().kept, kept, "{body}");
        }
    }
}
