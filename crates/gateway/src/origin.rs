//! Origin of a call: its session, its sub-agent and the tool whose result it brings in, as far as its agent says so in
//! headers and in the call itself. It is recorded for the owner, and decides nothing.
//!
//! Numbers are kept as they are, so that an owner finds them again in the agent's own files; any other name of a session
//! or a sub-agent is kept as a hash. Kinds of sub-agents and names of tools are kept only if they are plain.

use axum::http::HeaderMap;
use golem::call::CallOrigin;
use golem::{GolemId, hex};
use serde_json::Value;

use super::protocol::AgentProtocol;

/// Headers in which agents name a sub-agent, the one that started it, and its kind; the plainest first.
const AGENTS: [&str; 2] = ["x-agent-id", "x-claude-code-agent-id"];
const PARENTS: [&str; 2] = ["x-parent-agent-id", "x-claude-code-parent-agent-id"];
const KINDS: [&str; 3] = ["x-agent-type", "x-claude-code-agent-type", "x-openai-subagent"];
/// The longest number, a UUID.
const NUMBER: usize = 36;
/// Bytes of a hash that are kept.
const HASHED: usize = 8;

/// A session, a sub-agent of it, and the one that started that.
type NamedParts = (Option<String>, Option<String>, Option<String>);

/// The origin of a call with this session and this tool; none if nothing is said.
pub(super) fn origin(
    headers: &HeaderMap,
    session: Option<&str>,
    tool: Option<&str>,
    golem: Option<GolemId>,
) -> Option<CallOrigin> {
    let (session, agent, under) = names_in(headers, session.map(str::to_owned));
    let mark = |said: Option<String>| said.map_or_else(String::new, |said| mark(golem, &said));
    let origin = CallOrigin {
        session: mark(session),
        agent: mark(agent),
        under: mark(under),
        kind: label(first(headers, &KINDS).as_deref()),
        tool: label(tool),
    };
    (!origin.is_empty()).then_some(origin)
}

fn names_in(headers: &HeaderMap, session: Option<String>) -> NamedParts {
    // Codex runs a sub-agent as a thread below another thread, in the session of the first.
    if let Some(parent) = first(headers, &["x-codex-parent-thread-id"]) {
        let thread = first(headers, &["thread-id"]).or_else(|| session.clone());
        let session = session.filter(|session| Some(session) != thread.as_ref()).unwrap_or_else(|| parent.clone());
        let under = Some(parent).filter(|parent| *parent != session);
        return (Some(session), thread, under);
    }
    // opencode runs one as a session below another.
    if let Some(parent) = first(headers, &["x-parent-session-id"]) {
        return (Some(parent), session, None);
    }
    (session, first(headers, &AGENTS), first(headers, &PARENTS))
}

fn first(headers: &HeaderMap, names: &[&str]) -> Option<String> {
    let said = |name: &&str| headers.get(*name)?.to_str().ok().map(str::trim).map(str::to_owned);
    names.iter().filter_map(said).find(|said| !said.is_empty())
}

/// A number as it is, and the hash of anything else: within one golem the same name has the same hash.
fn mark(golem: Option<GolemId>, said: &str) -> String {
    let is_digit = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    if said.len() <= NUMBER && said.bytes().all(is_digit) {
        return said.to_ascii_lowercase();
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(&golem.map_or([0; 16], |golem| golem.0)).update(b"\0origin\0").update(said.as_bytes());
    format!("h{}", hex::encode(&hasher.finalize().as_bytes()[..HASHED]))
}

fn label(said: Option<&str>) -> String {
    said.filter(|said| CallOrigin::is_plain_part(said)).unwrap_or_default().to_owned()
}

/// Reads the name of the tool whose result this call brings in; of several, the last.
pub(super) fn tool(whole: &Value, protocol: AgentProtocol) -> Option<String> {
    let name = match protocol {
        AgentProtocol::Chat => of_chat(whole["messages"].as_array()?),
        AgentProtocol::Responses => of_responses(whole["input"].as_array()?),
        AgentProtocol::Messages => of_messages(whole["messages"].as_array()?),
        AgentProtocol::Generate => of_generate(whole["contents"].as_array()?),
        AgentProtocol::Embeddings => None,
    };
    name.map(str::to_owned)
}

/// The newest parts of a conversation, newest first: those after the model's last word.
fn newest(all: &[Value], is_models: fn(&Value) -> bool) -> impl Iterator<Item = &Value> {
    all.iter().rev().take_while(move |one| !is_models(one))
}

fn speaks(one: &Value) -> bool {
    matches!(one["role"].as_str(), Some("assistant" | "model"))
}

fn of_chat(messages: &[Value]) -> Option<&str> {
    let result = newest(messages, speaks).find(|one| one["role"].as_str() == Some("tool"))?;
    let id = result["tool_call_id"].as_str()?;
    let mut calls = messages.iter().rev().filter_map(|one| one["tool_calls"].as_array()).flatten();
    let call = calls.find(|call| call["id"].as_str() == Some(id))?;
    call.pointer("/function/name").or_else(|| call.pointer("/custom/name"))?.as_str()
}

fn of_responses(items: &[Value]) -> Option<&str> {
    let is_models = |item: &Value| speaks(item) || kind(item) == "reasoning" || kind(item).ends_with("_call");
    let result = newest(items, is_models).find(|item| kind(item).ends_with("_call_output"))?;
    let id = result["call_id"].as_str()?;
    let is_call = |item: &&Value| item["call_id"].as_str() == Some(id) && kind(item).ends_with("_call");
    let call = items.iter().rev().find(is_call)?;
    // A tool of the provider's own has no name but its kind.
    call["name"].as_str().or_else(|| kind(call).strip_suffix("_call"))
}

fn kind(item: &Value) -> &str {
    item["type"].as_str().unwrap_or_default()
}

fn of_messages(messages: &[Value]) -> Option<&str> {
    let mut results = newest(messages, speaks).flat_map(|message| parts(message, "content"));
    let id = results.find(|part| kind(part) == "tool_result")?["tool_use_id"].as_str()?;
    let mut uses = messages.iter().rev().flat_map(|message| parts(message, "content"));
    uses.find(|part| kind(part) == "tool_use" && part["id"].as_str() == Some(id))?["name"].as_str()
}

fn of_generate(contents: &[Value]) -> Option<&str> {
    let mut results = newest(contents, speaks).flat_map(|content| parts(content, "parts"));
    results.find_map(|part| part.pointer("/functionResponse/name")?.as_str())
}

/// Parts of a message, the last first.
fn parts<'a>(message: &'a Value, list: &'static str) -> impl Iterator<Item = &'a Value> {
    message[list].as_array().into_iter().flatten().rev()
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    const ROOT: &str = "0199f2a4-1c7d-7e10-9d4b-3a1f0c9e8b77";
    const CHILD: &str = "0199f2a4-2b00-7c01-8f00-000000000001";
    const GRANDCHILD: &str = "0199f2a4-2b00-7c01-8f00-000000000002";

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let header = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        all.iter().map(header).collect()
    }

    fn of(session: Option<&str>, all: &[(&'static str, &str)]) -> CallOrigin {
        origin(&headers(all), session, None, None).unwrap_or_default()
    }

    #[test]
    fn a_sub_agent_is_found_where_each_agent_says_it() {
        let parts = |origin: CallOrigin| [origin.session, origin.agent, origin.under, origin.kind];
        let said = [
            ("x-claude-code-agent-id", "a1b2c3"),
            ("x-claude-code-parent-agent-id", "d4e5"),
            ("x-claude-code-agent-type", "general-purpose"),
        ];
        assert_eq!(parts(of(Some(ROOT), &said)), [ROOT, "a1b2c3", "d4e5", "general-purpose"]);
        assert_eq!(parts(of(Some(ROOT), &[("x-agent-id", " 7 ")])), [ROOT, "7", "", ""]);
        // Codex: a thread below another, whether or not it has a session of its own.
        for session in [ROOT, CHILD] {
            let said =
                [("thread-id", CHILD), ("x-codex-parent-thread-id", ROOT), ("x-openai-subagent", "collab_spawn")];
            assert_eq!(parts(of(Some(session), &said)), [ROOT, CHILD, "", "collab_spawn"]);
        }
        let said = [("thread-id", GRANDCHILD), ("x-codex-parent-thread-id", CHILD)];
        assert_eq!(parts(of(Some(ROOT), &said)), [ROOT, GRANDCHILD, CHILD, ""]);
        assert_eq!(parts(of(Some(ROOT), &[("thread-id", ROOT)])), [ROOT, "", "", ""]);
        // opencode: a session below another.
        assert_eq!(parts(of(Some(CHILD), &[("x-parent-session-id", ROOT)])), [ROOT, CHILD, "", ""]);
        assert_eq!(origin(&HeaderMap::new(), None, None, None), None);
        assert_eq!(of(None, &[("x-agent-id", "")]), CallOrigin::default());
    }

    #[test]
    fn a_name_is_kept_as_a_number_or_as_a_hash_and_never_as_text() {
        let (ada, bea) = (Some(GolemId([1; 16])), Some(GolemId([2; 16])));
        let name = "customer@example.com asked about \u{1b}[2J";
        let hash = mark(ada, name);
        assert!(hash.len() == 17 && hash.starts_with('h') && CallOrigin::is_plain_part(&hash), "{hash}");
        assert_eq!(hash, mark(ada, name));
        assert!(hash != mark(bea, name) && hash != mark(ada, "customer"));
        assert_eq!(mark(ada, "8D1C-77"), "8d1c-77");
        assert_eq!(mark(ada, &"1".repeat(NUMBER + 1)).len(), 17);
        for (said, kept) in [("mcp__github__search", "mcp__github__search"), ("a b", ""), ("\u{1b}[2J", ""), ("é", "")]
        {
            assert_eq!(label(Some(said)), kept, "{said:?}");
        }
        assert_eq!(label(Some(&"x".repeat(golem::limits::ORIGIN + 1))), "");
        let hostile = headers(&[("x-agent-type", "rm -rf / ; $(reboot)"), ("x-agent-id", "../../etc/passwd")]);
        let origin = origin(&hostile, Some("<script>"), Some("`id`"), ada).unwrap();
        assert!(origin.is_plain() && origin.kind.is_empty() && origin.tool.is_empty(), "{origin:?}");
    }

    #[test]
    fn the_tool_is_the_one_whose_result_came_in_last() {
        let chat = json!({ "messages": [
            { "role": "user", "content": "go" },
            { "role": "assistant", "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": "read" } },
                { "id": "c2", "type": "custom", "custom": { "name": "patch" } }] },
            { "role": "tool", "tool_call_id": "c1", "content": "a" },
            { "role": "tool", "tool_call_id": "c2", "content": "b" }] });
        assert_eq!(tool(&chat, AgentProtocol::Chat).as_deref(), Some("patch"));
        let messages = |after: &Value| {
            json!({ "messages": [
                { "role": "user", "content": "go" },
                { "role": "assistant", "content": [
                    { "type": "text", "text": "I look" },
                    { "type": "tool_use", "id": "t1", "name": "Read", "input": {} }] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "t1", "content": "a" },
                    { "type": "text", "text": "a reminder" }] },
                after] })
        };
        let (reminder, word) =
            (json!({ "role": "user", "content": "and?" }), json!({ "role": "assistant", "content": "so" }));
        assert_eq!(tool(&messages(&reminder), AgentProtocol::Messages).as_deref(), Some("Read"));
        assert_eq!(tool(&messages(&word), AgentProtocol::Messages), None, "the model has had it");
        let responses = json!({ "input": [
            { "type": "message", "role": "user", "content": "go" },
            { "type": "custom_tool_call", "call_id": "k1", "name": "exec", "input": "ls" },
            { "type": "custom_tool_call_output", "call_id": "k1", "output": "a" },
            { "type": "message", "role": "developer", "content": "the time is" }] });
        assert_eq!(tool(&responses, AgentProtocol::Responses).as_deref(), Some("exec"));
        let own = json!({ "input": [
            { "type": "local_shell_call", "call_id": "k1" }, { "type": "local_shell_call_output", "call_id": "k1" }] });
        assert_eq!(tool(&own, AgentProtocol::Responses).as_deref(), Some("local_shell"));
        let google = json!({ "contents": [
            { "role": "model", "parts": [{ "functionCall": { "name": "look" } }] },
            { "role": "user", "parts": [{ "functionResponse": { "name": "look", "response": {} } }] }] });
        assert_eq!(tool(&google, AgentProtocol::Generate).as_deref(), Some("look"));
        for wrong in
            [json!({}), json!({ "messages": 7 }), json!({ "messages": [7, null, [[]]] }), json!({ "input": "go" })]
        {
            for protocol in AgentProtocol::ALL {
                assert_eq!(tool(&wrong, protocol), None, "{wrong}");
            }
        }
    }
}
