//! The content of a call, part by part and each at its place: messages, what the model is told beforehand, and its
//! tools. A picture counts as one only where a picture may stand. All else is text, and no tokeniser makes more tokens
//! of it than it has bytes. A part that brings in tokens from elsewhere is refused by name.

use serde_json::{Map, Value};

use super::fields::{points, refused};
use super::picture;
use super::protocol::AgentProtocol;

/// How deep a call may be nested.
const DEEPEST: usize = 64;
/// The largest value of an unknown field beside the content of a message.
const SMALL: usize = 256;
/// Tokens that a server adds where tools are given.
const TOOLS: u64 = 1_000;

/// How long a call asks the provider to cache some of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cache {
    #[default]
    None,
    Short,
    Long,
}

/// The size of a call, in tokens and never too few.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// Tokens of all that is not a message.
    pub(super) before: u64,
    /// Tokens of each message.
    pub(super) messages: Vec<u64>,
    pub(super) cache: Cache,
    /// The provider may go over it twice, as where it shortens a long talk.
    pub(super) twice: bool,
}

/// Reads a call part by part.
pub(super) fn read(whole: &Value, protocol: AgentProtocol, model: &str) -> Result<Parts, String> {
    shallow(whole, 0)?;
    let mut reader =
        PartReader { protocol, model, cache: Cache::None, spared: 0, pictures: 0, tools: !whole["tools"].is_null() };
    let mut parts = Parts::default();
    let list = messages(whole, protocol);
    for message in list {
        reader.message(message)?;
        parts.messages.push(reader.weight(message));
    }
    let said: u64 = list.iter().map(length).sum();
    reader.beforehand(whole)?;
    reader.marked(whole);
    let tools = if reader.tools { TOOLS } else { 0 };
    let rest = length(whole).saturating_sub(said).saturating_sub(reader.spared);
    parts.before = rest + reader.pictures + tools;
    parts.twice = compacts(whole)?;
    parts.cache = reader.cache;
    Ok(parts)
}

/// The messages of a call, or what stands for them.
pub(super) fn messages(whole: &Value, protocol: AgentProtocol) -> &[Value] {
    let name = match protocol {
        AgentProtocol::Chat | AgentProtocol::Messages => "messages",
        AgentProtocol::Responses => "input",
        AgentProtocol::Generate => "contents",
        AgentProtocol::Embeddings => return &[],
    };
    whole[name].as_array().map_or(&[], Vec::as_slice)
}

/// Bytes as JSON, without spaces.
fn length(value: &Value) -> u64 {
    value.to_string().len() as u64
}

fn shallow(value: &Value, depth: usize) -> Result<(), String> {
    if depth > DEEPEST {
        return Err("the call is nested too deeply".to_owned());
    }
    match value {
        Value::Array(all) => all.iter().try_for_each(|one| shallow(one, depth + 1)),
        Value::Object(fields) => fields.values().try_for_each(|one| shallow(one, depth + 1)),
        _ => Ok(()),
    }
}

struct PartReader<'a> {
    protocol: AgentProtocol,
    model: &'a str,
    cache: Cache,
    /// Bytes of pictures since the last weight, and what those are billed as.
    spared: u64,
    pictures: u64,
    /// Whether the call lists tools anywhere.
    tools: bool,
}

impl PartReader<'_> {
    fn weight(&mut self, value: &Value) -> u64 {
        let (spared, pictures) = (std::mem::take(&mut self.spared), std::mem::take(&mut self.pictures));
        length(value).saturating_sub(spared) + pictures
    }

    fn message(&mut self, message: &Value) -> Result<(), String> {
        let Some(fields) = message.as_object() else {
            // A list of texts may stand in for messages in Responses, and so may numbers of tokens.
            return if message.is_string() { Ok(()) } else { Err("a message must be an object".to_owned()) };
        };
        self.marked(message);
        match self.protocol {
            AgentProtocol::Responses => self.item(fields),
            AgentProtocol::Generate => self.generated(fields),
            _ => {
                self.known(fields, &MESSAGE)?;
                self.content(&message["content"])
            }
        }
    }

    /// Refuses a field beside the known ones, unless it is small and points nowhere.
    fn known(&self, fields: &Map<String, Value>, names: &[&str]) -> Result<(), String> {
        let odd = |(name, value): &(&String, &Value)| {
            !names.contains(&name.as_str()) && !value.is_null() && (length(value) > SMALL as u64 || points(name, value))
        };
        match fields.iter().find(odd) {
            Some((name, _)) => Err(refused(&format!("{name:?} beside the content of a message"))),
            None => Ok(()),
        }
    }

    fn content(&mut self, content: &Value) -> Result<(), String> {
        match content {
            Value::Null | Value::String(_) => Ok(()),
            Value::Array(all) => all.iter().try_for_each(|part| self.part(part)),
            // Some clients send a single part without a list.
            Value::Object(_) => self.part(content),
            _ => Err("content must be text or a list of parts".to_owned()),
        }
    }

    fn part(&mut self, part: &Value) -> Result<(), String> {
        self.marked(part);
        let messages = self.protocol == AgentProtocol::Messages;
        match part["type"].as_str() {
            _ if part.is_string() => Ok(()),
            Some(
                "text" | "input_text" | "output_text" | "summary_text" | "reasoning_text" | "refusal" | "thinking",
            ) => Ok(()),
            Some("image") if messages => self.picture(part, &part["source"]["data"], &part["source"]["url"]),
            Some("image_url") if self.protocol == AgentProtocol::Chat => {
                let url = if part["image_url"].is_string() { &part["image_url"] } else { &part["image_url"]["url"] };
                self.picture(part, url, url)
            }
            Some("input_image" | "computer_screenshot") if self.protocol == AgentProtocol::Responses => {
                self.picture(part, &part["image_url"], &part["image_url"])
            }
            // Sealed is at least as long as what was sealed.
            Some("encrypted_content") if self.protocol == AgentProtocol::Responses => Ok(()),
            // Calls of an agent's own tools and their answers are its own, and text.
            Some("tool_use" | "redacted_thinking" | "tool_reference" | "compaction") if messages => Ok(()),
            Some("tool_result") if messages => self.content(&part["content"]),
            Some("search_result") if messages => self.content(&part["content"]),
            Some("document") if messages => self.document(part),
            Some(kind) => Err(refused(&format!("a part of the kind {kind:?}"))),
            None => Err(refused("a part that does not say of what kind it is")),
        }
    }

    fn document(&mut self, part: &Value) -> Result<(), String> {
        match part["source"]["type"].as_str() {
            Some("text") => Ok(()),
            Some("content") => self.content(&part["source"]["content"]),
            _ => Err(refused("a document that is not sent as text")),
        }
    }

    /// Weighs a picture, by its data as it is sent or by the address at which the provider gets it.
    fn picture(&mut self, part: &Value, data: &Value, address: &Value) -> Result<(), String> {
        let is_address = |text: &str| text.starts_with("https://") || text.starts_with("http://");
        let messages = self.protocol == AgentProtocol::Messages;
        if part["source"]["type"] == "file" || !part["file_id"].is_null() {
            return Err(refused("a picture that lies at the provider"));
        }
        if address.as_str().is_some_and(is_address) {
            self.pictures += picture::somewhere_else(messages);
            return Ok(());
        }
        let data = data.as_str().unwrap_or_default();
        let tokens = picture::tokens(data, self.model, messages);
        self.pictures += tokens.ok_or_else(|| refused("a picture whose data does not begin like one"))?;
        self.spared += data.len() as u64;
        Ok(())
    }

    /// Reads one input item of Responses: a message, a call of a tool, its output or a thought.
    fn item(&mut self, item: &Map<String, Value>) -> Result<(), String> {
        let of = |name: &str| item.get(name).unwrap_or(&Value::Null);
        let has = |name: &str| {
            of(name).as_str().is_some_and(|text| !text.is_empty()) || of(name).is_array() || of(name).is_object()
        };
        let kind = of("type").as_str();
        let whole = match kind {
            Some("message") | None => has("content") && has("role"),
            Some("agent_message") => has("content"),
            Some("tool_search_call") => has("arguments"),
            Some("function_call" | "custom_tool_call") => has("name"),
            Some(
                "function_call_output"
                | "custom_tool_call_output"
                | "local_shell_call_output"
                | "shell_call_output"
                | "apply_patch_call_output"
                | "computer_call_output",
            ) => has("output"),
            Some("local_shell_call" | "shell_call" | "computer_call") => has("action") || has("actions"),
            Some("apply_patch_call") => has("operation"),
            // Thoughts that do not stand here lie at the provider.
            Some("reasoning" | "compaction" | "compaction_summary") => {
                of("encrypted_content").as_str().is_some_and(|text| !text.is_empty())
            }
            Some("additional_tools" | "tool_search_output") => has("tools"),
            Some(kind) => return Err(refused(&format!("an item of the kind {kind:?}"))),
        };
        if !whole {
            return Err(refused("an item that is only named, and lies at the provider,"));
        }
        self.known(item, &ITEM)?;
        match kind {
            Some("message" | "agent_message") | None => self.content(of("content")),
            Some("computer_call_output") => self.part(of("output")),
            Some("additional_tools" | "tool_search_output") => {
                self.tools = true;
                self.tools(of("tools"))
            }
            Some(kind) if kind.ends_with("_output") => self.content(of("output")),
            _ => Ok(()),
        }
    }

    /// Reads what the model is told before all messages, and its tools.
    fn beforehand(&mut self, whole: &Value) -> Result<(), String> {
        match &whole["systemInstruction"] {
            Value::Object(fields) => self.generated(fields)?,
            other => self.content(other)?,
        }
        self.content(&whole["system"])?;
        self.content(&whole["instructions"])?;
        if self.protocol == AgentProtocol::Responses && whole["input"].is_object() {
            return Err("input must be text or a list of items".to_owned());
        }
        self.tools(&whole["tools"])
    }

    fn tools(&mut self, tools: &Value) -> Result<(), String> {
        let tools = match tools {
            Value::Null => &[][..],
            Value::Array(all) => all.as_slice(),
            _ => return Err("tools must be a list".to_owned()),
        };
        for tool in tools {
            self.marked(tool);
            self.marked(&tool["function"]);
            self.tool(tool)?;
        }
        Ok(())
    }

    /// Reads Google's `content`: a role, and parts that say by a field's name of what kind they are.
    fn generated(&mut self, content: &Map<String, Value>) -> Result<(), String> {
        self.known(content, &["role", "parts"])?;
        let parts = match content.get("parts") {
            None | Some(Value::Null) => &[][..],
            Some(Value::Array(all)) => all.as_slice(),
            Some(_) => return Err("parts must be a list".to_owned()),
        };
        for part in parts {
            let Some(fields) = part.as_object() else { return Err("a part must be an object".to_owned()) };
            let texts = ["text", "thought", "thoughtSignature", "functionCall", "functionResponse", "inlineData"];
            if let Some(odd) = fields.keys().find(|name| !texts.contains(&name.as_str())) {
                return Err(refused(&format!("a part with {odd:?}")));
            }
            if !part["functionResponse"]["parts"].is_null() {
                return Err(refused("an answer of a tool with parts of its own"));
            }
            if let Some(inline) = fields.get("inlineData") {
                let data = inline["data"].as_str().unwrap_or_default();
                let tokens = picture::generated(data);
                self.pictures += tokens.ok_or_else(|| refused("data that does not begin like a picture"))?;
                self.spared += data.len() as u64;
            }
        }
        Ok(())
    }

    /// Accepts a tool of the agent's own, or one that a provider describes and the agent carries out.
    fn tool(&self, tool: &Value) -> Result<(), String> {
        if self.protocol == AgentProtocol::Generate {
            let own = |name: &String| name == "functionDeclarations";
            return match tool.as_object().map(|fields| fields.keys().find(|name| !own(name))) {
                Some(None) => Ok(()),
                Some(Some(kind)) => Err(refused(&format!("the tool {kind:?}, which runs at the provider,"))),
                None => Err("a tool must be an object".to_owned()),
            };
        }
        let own = ["computer_", "text_editor_", "bash_", "str_replace_", "memory_"];
        match tool["type"].as_str() {
            None if tool["type"].is_null() && tool["name"].is_string() => Ok(()),
            Some("function" | "custom" | "local_shell" | "apply_patch" | "computer" | "computer_use_preview") => Ok(()),
            // Tools in a room of their own are read one by one.
            Some("namespace") => {
                tool["tools"].as_array().map_or(&[][..], Vec::as_slice).iter().try_for_each(|tool| self.tool(tool))
            }
            Some("tool_search") if tool["execution"] == "client" => Ok(()),
            Some("shell") if tool["environment"]["type"] == "local" => Ok(()),
            Some(kind) if own.iter().any(|with| kind.starts_with(with)) => Ok(()),
            Some(kind) => Err(refused(&format!("the tool {kind:?}, which runs at the provider,"))),
            None => Err("a tool must say of what kind it is".to_owned()),
        }
    }

    /// Notes whether a part is marked for the cache, and for how long.
    fn marked(&mut self, part: &Value) {
        let mark = &part["cache_control"];
        if !mark.is_null() {
            let known = if mark["ttl"] == "5m" || mark["ttl"].is_null() { Cache::Short } else { Cache::Long };
            self.cache = self.cache.max(known);
        }
    }
}

const MESSAGE: [&str; 16] = [
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "function_call",
    "refusal",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "annotations",
    "cache_control",
    "id",
    "type",
    "status",
    "prefix",
];
const ITEM: [&str; 27] = [
    "type",
    "role",
    "author",
    "recipient",
    "execution",
    "content",
    "id",
    "status",
    "name",
    "arguments",
    "input",
    "output",
    "call_id",
    "action",
    "actions",
    "operation",
    "summary",
    "tools",
    "encrypted_content",
    "phase",
    "annotations",
    "namespace",
    "pending_safety_checks",
    "acknowledged_safety_checks",
    "max_output_length",
    "created_by",
    "internal_chat_message_metadata_passthrough",
];

/// Whether an edit of a long conversation has the model go over it once more; most edits only take away from it.
fn compacts(whole: &Value) -> Result<bool, String> {
    let management = &whole["context_management"];
    let edits = match (management, &management["edits"]) {
        (Value::Null, _) => return Ok(false),
        (Value::Array(all), _) | (_, Value::Array(all)) => all,
        (Value::Object(fields), Value::Null) if fields.is_empty() => return Ok(false),
        _ => return Err(refused("context_management of this kind")),
    };
    let mut twice = false;
    for edit in edits {
        match edit["type"].as_str() {
            Some(kind) if kind.starts_with("clear_") => {}
            Some(kind) if kind.starts_with("compact") => twice = true,
            _ => return Err(refused("context_management of this kind")),
        }
    }
    Ok(twice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::picture::tests::png;
    use super::*;

    fn chat(message: Value) -> Result<u64, String> {
        read(&json!({ "messages": [message] }), AgentProtocol::Chat, "m").map(|parts| parts.messages[0])
    }

    fn messages(message: Value) -> Result<u64, String> {
        read(&json!({ "messages": [message] }), AgentProtocol::Messages, "m").map(|parts| parts.messages[0])
    }

    fn item(item: Value) -> Result<u64, String> {
        read(&json!({ "input": [item] }), AgentProtocol::Responses, "m").map(|parts| parts.messages[0])
    }

    #[test]
    fn a_picture_is_one_only_where_one_may_stand_and_only_if_it_is_one() {
        let data = png(100, 100, 90_000);
        let source = json!({ "type": "base64", "media_type": "image/png", "data": data });
        let picture = json!({ "type": "image", "source": source });
        assert!(messages(json!({ "role": "user", "content": [picture] })).unwrap() < 1_000);
        let inside = json!({ "type": "tool_result", "tool_use_id": "t", "content": [picture] });
        assert!(messages(json!({ "role": "user", "content": [inside] })).unwrap() < 1_000);
        // The same in what an agent asks a tool is text.
        let tool = json!({ "type": "tool_use", "id": "t", "name": "n", "input": picture });
        assert!(messages(json!({ "role": "assistant", "content": [tool] })).unwrap() > 90_000);
        let text = json!({ "type": "image", "source": { "type": "base64", "data": "x".repeat(90_000) } });
        assert!(messages(json!({ "role": "user", "content": [text] })).is_err());
        let url = format!("data:image/png;base64,{data}");
        let part = json!({ "type": "image_url", "image_url": { "url": url } });
        assert!(chat(json!({ "role": "user", "content": [part] })).unwrap() < 4_000);
        assert!(chat(json!({ "role": "user", "content": [], "tool_calls": [part] })).unwrap() > 90_000);
        assert!(
            item(json!({ "role": "user", "content": [{ "type": "input_image", "image_url": url }] })).unwrap() < 4_000
        );
    }

    #[test]
    fn what_lies_elsewhere_is_refused_by_name() {
        let part = |part: Value| json!({ "role": "user", "content": [part] });
        for wrong in [
            part(json!({ "type": "document_url", "document_url": "https://example.com/a.pdf" })),
            part(json!({ "type": "file", "file": { "file_id": "f" } })),
            part(json!({ "type": "input_audio" })),
            part(json!({ "type": ["image_url"] })),
            part(json!({ "text": "no kind" })),
            json!({ "role": "assistant", "audio": { "id": "a-1" } }),
            json!({ "role": "user", "content": "", "file_id": "f" }),
            json!({ "role": "user", "content": "", "odd": "x".repeat(400) }),
            json!({ "role": "user", "content": 7 }),
        ] {
            assert!(chat(wrong.clone()).is_err(), "{wrong}");
        }
        for wrong in [
            json!({ "id": "rs_1" }),
            json!({ "type": "item_reference", "id": "rs_1" }),
            json!({ "type": "reasoning", "id": "rs_1" }),
            json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "" }),
            json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": {} }),
            json!({ "type": "message", "id": "msg_1", "role": "assistant" }),
            json!({ "type": "file_search_call", "id": "fs_1" }),
            json!({ "type": "web_search_call", "id": "ws_1" }),
            json!({ "type": "additional_tools", "role": "developer", "id": "at_1" }),
            json!({ "type": "additional_tools", "role": "developer", "tools": [{ "type": "web_search" }] }),
            json!({ "type": "additional_tools", "tools": [{ "type": "namespace", "name": "n", "tools": [{ "type": "mcp" }] }] }),
            json!({ "type": "function_call_output", "call_id": "c", "output": [{ "type": "input_file", "file_id": "f" }] }),
        ] {
            assert!(item(wrong.clone()).is_err(), "{wrong}");
        }
        for fine in [
            json!({ "role": "user", "content": "hello" }),
            json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA" }),
            json!({ "type": "function_call", "call_id": "c", "name": "n", "arguments": "{}", "id": "fc_1" }),
            json!({ "type": "function_call_output", "call_id": "c", "output": "done" }),
            json!({ "type": "agent_message", "id": "a", "author": "/root", "recipient": "/root/look", "content": [
                { "type": "input_text", "text": "look" }, { "type": "encrypted_content", "encrypted_content": "gAAA" },
            ] }),
            json!({ "type": "additional_tools", "role": "developer", "id": "at_1", "tools": [{ "type": "custom", "name": "exec" }] }),
        ] {
            assert!(item(fine.clone()).is_ok(), "{fine}");
        }
    }

    #[test]
    fn marks_for_the_cache_edits_and_tools_are_read() {
        let read = |whole: Value| read(&whole, AgentProtocol::Messages, "m");
        let marked = |mark: Value| json!({ "system": [{ "type": "text", "text": "s", "cache_control": mark }] });
        assert_eq!(read(marked(json!({ "type": "ephemeral" }))).unwrap().cache, Cache::Short);
        assert_eq!(read(marked(json!({ "type": "ephemeral", "ttl": "1h" }))).unwrap().cache, Cache::Long);
        assert_eq!(read(json!({ "cache_control": { "type": "ephemeral" } })).unwrap().cache, Cache::Short);
        let edits = |kind: &str| json!({ "context_management": { "edits": [{ "type": kind }] } });
        assert!(
            !read(edits("clear_thinking_20251015")).unwrap().twice && read(edits("compact_20260112")).unwrap().twice
        );
        assert!(read(edits("summon_20300101")).is_err());
        let tools = |tool: Value| read(json!({ "tools": [tool] }));
        assert!(tools(json!({ "name": "own", "input_schema": { "type": "file" } })).is_ok());
        assert!(tools(json!({ "type": "bash_20250124", "name": "bash" })).is_ok());
        assert!(tools(json!({ "type": "web_search_20250305", "name": "web_search" })).is_err());
        assert!(read(json!({ "tools": { "web": {} } })).is_err());
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
        assert!(read(json!({ "messages": [{ "role": "user", "content": "", "tool_calls": deep }] })).is_err());
    }
}
