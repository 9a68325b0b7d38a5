//! A line of the runtime's in a call, where its owner allows that: the last block of the newest message, behind everything that a
//! provider may have cached, so that no beginning it knows is changed. The call is then read and bounded as it goes out.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::protocol::AgentProtocol;
use super::shape::Fields;

/// The call with this line behind its newest message; none where the line has no place there, and the call goes on as it came.
pub(super) fn with_line(body: &[u8], protocol: AgentProtocol, line: &str) -> Option<Vec<u8>> {
    let name = match protocol {
        AgentProtocol::Chat | AgentProtocol::Messages => "messages",
        AgentProtocol::Responses => "input",
        AgentProtocol::Embeddings | AgentProtocol::Generate => return None,
    };
    let Fields(mut fields) = serde_json::from_slice(body).ok()?;
    // A mark for the whole call is a mark on its last block.
    if fields.iter().any(|(field, value)| field == "cache_control" && value.get() != "null") {
        return None;
    }
    let (_, said) = fields.iter_mut().find(|(field, _)| field == name)?;
    *said = said_with(said, protocol, line)?;
    let fields = fields.iter().map(|(field, value)| format!("{}:{}", Value::from(field.as_str()), value.get()));
    Some(format!("{{{}}}", fields.collect::<Vec<_>>().join(",")).into_bytes())
}

/// All messages, those before the newest byte for byte.
fn said_with(said: &RawValue, protocol: AgentProtocol, line: &str) -> Option<Box<RawValue>> {
    if let (AgentProtocol::Responses, Ok(text)) = (protocol, serde_json::from_str::<String>(said.get())) {
        return raw(&Value::from(behind(&text, line)));
    }
    let mut all: Vec<Box<RawValue>> = serde_json::from_str(said.get()).ok()?;
    let newest = all.last_mut()?;
    let mut message: Value = serde_json::from_str(newest.get()).ok()?;
    let (role, kind) = (message["role"].as_str(), message["type"].as_str());
    let is_followed = match protocol {
        AgentProtocol::Chat => matches!(role, Some("tool" | "function")),
        AgentProtocol::Responses => role == Some("developer") || kind.is_some_and(|kind| kind.ends_with("_output")),
        _ => false,
    };
    // Claude Code may end a call with a message of the system's, behind which Anthropic allows no other; one without content only
    // directs, and its place is not known to be behind a user's.
    let reminds = protocol == AgentProtocol::Messages
        && role == Some("system")
        && message["content"].as_array().is_none_or(|blocks| !blocks.is_empty());
    if is_followed {
        all.push(raw(&json!({ "role": "user", "content": line }))?);
    } else if role == Some("user") || reminds {
        let content = message.get_mut("content")?;
        *content = content_with(content.take(), protocol, line)?;
        *newest = raw(&message)?;
    } else {
        return None;
    }
    raw(&all)
}

fn content_with(content: Value, protocol: AgentProtocol, line: &str) -> Option<Value> {
    let kind = if protocol == AgentProtocol::Responses { "input_text" } else { "text" };
    let block = json!({ "type": kind, "text": line });
    match (content, protocol) {
        (Value::Array(mut blocks), _) => {
            blocks.push(block);
            Some(Value::Array(blocks))
        }
        // A block of its own may stand behind a text, and a block without text may not.
        (Value::String(text), AgentProtocol::Messages) if !text.is_empty() => {
            Some(json!([{ "type": "text", "text": text }, block]))
        }
        (Value::String(text), _) => Some(Value::from(behind(&text, line))),
        _ => None,
    }
}

fn behind(text: &str, line: &str) -> String {
    if text.is_empty() { line.to_owned() } else { format!("{text}\n\n{line}") }
}

fn raw(value: &impl serde::Serialize) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(value).ok()
}

#[cfg(test)]
mod tests {
    use super::super::prefix::PrefixKey;
    use super::super::shape;
    use super::*;

    const LINE: &str = "the \"end\"\nis near";

    fn body_with_line(body: &Value, protocol: AgentProtocol) -> Option<Value> {
        let bytes = with_line(body.to_string().as_bytes(), protocol, LINE)?;
        assert!(shape::read(&bytes, protocol, &PrefixKey::new([1; 32])).is_ok(), "it is a call as any other");
        Some(serde_json::from_slice(&bytes).unwrap())
    }

    #[test]
    fn the_line_is_the_last_block_behind_the_last_mark_for_a_cache() {
        let mark = json!({ "type": "ephemeral" });
        let before = json!({ "role": "user", "content": [{ "type": "text", "text": "long", "cache_control": mark }] });
        let answer =
            json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "n", "input": {} }] });
        let result = json!({ "type": "tool_result", "tool_use_id": "t", "content": "done", "cache_control": mark });
        let body = json!({ "model": "m", "max_tokens": 9, "messages": [before, answer, { "role": "user", "content": [result] }] });
        let with = body_with_line(&body, AgentProtocol::Messages).unwrap();
        let block = json!({ "type": "text", "text": LINE });
        assert_eq!(with["messages"][2]["content"], json!([result, block]));
        assert_eq!((&with["messages"][0], &with["messages"][1]), (&before, &answer));
        let plain = json!({ "model": "m", "messages": [{ "role": "user", "content": "hello" }] });
        let with = body_with_line(&plain, AgentProtocol::Messages).unwrap();
        assert_eq!(with["messages"][0]["content"], json!([{ "type": "text", "text": "hello" }, block]));
        // An answer that was begun for the model is not gone on with by a line of ours, nor a mark moved onto it.
        let begun = json!({ "model": "m", "messages": [{ "role": "assistant", "content": "{" }] });
        assert_eq!(body_with_line(&begun, AgentProtocol::Messages), None);
        let marked =
            json!({ "model": "m", "cache_control": mark, "messages": [{ "role": "user", "content": "hello" }] });
        assert_eq!(body_with_line(&marked, AgentProtocol::Messages), None);
    }

    /// Claude Code 2.1.328 ends its first call and many later ones so, and was not told in them.
    #[test]
    fn a_call_that_ends_with_a_reminder_of_the_system_is_told_in_that() {
        let asked = json!({ "role": "user", "content": "hello" });
        let call = |content: Value| {
            let reminder = json!({ "role": "system", "content": content, "output_config": { "effort": "medium" } });
            body_with_line(
                &json!({ "model": "m", "max_tokens": 9, "messages": [asked, reminder] }),
                AgentProtocol::Messages,
            )
        };
        let block = json!({ "type": "text", "text": LINE });
        let marked = json!({ "type": "text", "text": "be brief", "cache_control": { "type": "ephemeral" } });
        let with = call(json!([marked])).unwrap();
        assert_eq!((&with["messages"][0], &with["messages"][1]["content"]), (&asked, &json!([marked, block])));
        assert_eq!(with["messages"][1]["output_config"], json!({ "effort": "medium" }));
        let with = call(json!("be brief")).unwrap();
        assert_eq!(with["messages"][1]["content"], json!([{ "type": "text", "text": "be brief" }, block]));
        assert_eq!(call(json!([])), None);
    }

    #[test]
    fn the_line_stands_behind_a_question_or_the_answer_of_a_tool_in_either_protocol_of_openais() {
        let chat = |last: Value| {
            let first = json!({ "role": "system", "content": "s" });
            body_with_line(&json!({ "model": "m", "messages": [first, last] }), AgentProtocol::Chat)
                .map(|with| with["messages"].clone())
        };
        let text = format!("hello\n\n{LINE}");
        assert_eq!(chat(json!({ "role": "user", "content": "hello" })).unwrap()[1]["content"], text);
        let parts = chat(json!({ "role": "user", "content": [{ "type": "text", "text": "hello" }] })).unwrap();
        assert_eq!(parts[1]["content"][1], json!({ "type": "text", "text": LINE }));
        let tool = json!({ "role": "tool", "tool_call_id": "c", "content": "done" });
        let with = chat(tool.clone()).unwrap();
        assert_eq!((&with[1], &with[2]), (&tool, &json!({ "role": "user", "content": LINE })));
        assert_eq!(chat(json!({ "role": "assistant", "content": "so" })), None);
        let responses = |input: Value| {
            body_with_line(&json!({ "model": "m", "input": input }), AgentProtocol::Responses)
                .map(|with| with["input"].clone())
        };
        assert_eq!(responses(json!("hello")).unwrap(), text);
        let user = json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "hello" }] });
        assert_eq!(responses(json!([user])).unwrap()[0]["content"][1], json!({ "type": "input_text", "text": LINE }));
        let output = json!({ "type": "function_call_output", "call_id": "c", "output": "done" });
        let with = responses(json!([user, output])).unwrap();
        assert_eq!((&with[0], &with[1], &with[2]["content"]), (&user, &output, &json!(LINE)));
        let hint =
            json!({ "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": "brief" }] });
        let with = responses(json!([user, hint])).unwrap();
        assert_eq!((&with[1], &with[2]), (&hint, &json!({ "role": "user", "content": LINE })));
    }

    #[test]
    fn all_before_the_newest_message_is_passed_on_byte_for_byte_and_what_is_no_call_stays_as_it_came() {
        let body = br#"{"temperature":0.10,"messages":[ {"content":"\u00e9 1.10e5","role":"user"}, {"role":"user","content":"x"}],"model":"m"}"#;
        let with = String::from_utf8(with_line(body, AgentProtocol::Chat, "L").unwrap()).unwrap();
        assert_eq!(
            with,
            r#"{"temperature":0.10,"messages":[{"content":"\u00e9 1.10e5","role":"user"},{"content":"x\n\nL","role":"user"}],"model":"m"}"#
        );
        for odd in [
            "",
            "[]",
            "{}",
            r#"{"messages":7}"#,
            r#"{"messages":[]}"#,
            r#"{"messages":[{"role":"user"}]}"#,
            r#"{"messages":["x"]}"#,
        ] {
            assert_eq!(with_line(odd.as_bytes(), AgentProtocol::Chat, "L"), None, "{odd}");
        }
    }
}
