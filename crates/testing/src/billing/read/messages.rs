//! Messages, as Anthropic reads them: tools, system, messages, and marks for the cache between them.

use serde_json::Value;

use crate::billing::asked::{BilledRequest, Ground, Piece, Protocol, ProviderProblem, Tool, Ttl, list, number, runs};

/// Tokens of the instructions for tools, where the model may use them and where it must.
const MAY: u64 = 346;
const MUST: u64 = 313;
/// Marks in one request.
const MARKS: usize = 4;

pub(super) fn read(
    mut asked: BilledRequest,
    body: &Value,
    ground: &Ground<'_>,
) -> Result<BilledRequest, ProviderProblem> {
    let messages = body["messages"].as_array().ok_or_else(|| ProviderProblem::wrong("messages: Field required"))?;
    asked.most = number(body, "max_tokens")?;
    if asked.protocol == Protocol::Messages {
        let most = asked.most.ok_or_else(|| ProviderProblem::wrong("max_tokens: Field required"))?;
        if body["thinking"]["budget_tokens"].as_u64().is_some_and(|budget| budget >= most) {
            return Err(ProviderProblem::wrong("`max_tokens` must be greater than `thinking.budget_tokens`"));
        }
    }
    let tools = list(&body["tools"]);
    if !tools.is_empty() {
        let must = matches!(body["tool_choice"]["type"].as_str(), Some("any" | "tool"));
        asked.pieces.push(ground.counted("how to use tools", if must { MUST } else { MAY }));
    }
    for tool in tools {
        let mut shown = tool.clone();
        shown.as_object_mut().and_then(|fields| fields.remove("cache_control"));
        asked.pieces.push(Piece { mark: mark(tool)?, ..ground.json(&shown) });
        if let Some(name) = tool["name"].as_str() {
            asked.tools.push(Tool { name: name.to_owned(), custom: false, room: None });
        }
    }
    blocks(&mut asked.pieces, &body["system"], ground)?;
    for message in messages {
        asked.pieces.push(ground.around(message["role"].as_str().unwrap_or_default()));
        blocks(&mut asked.pieces, &message["content"], ground)?;
    }
    let by_itself = mark(body)?;
    if let Some(last) = asked.pieces.last_mut() {
        last.mark = last.mark.or(by_itself);
    }
    check(&asked.pieces)?;
    asked.pieces.push(ground.around("assistant"));
    asked.rounds = runs(messages.iter().map(|message| message["role"] == "assistant"));
    Ok(asked)
}

fn check(pieces: &[Piece]) -> Result<(), ProviderProblem> {
    let marks: Vec<Ttl> = pieces.iter().filter_map(|piece| piece.mark).collect();
    if marks.len() > MARKS {
        return Err(ProviderProblem::wrong(format!("a maximum of {MARKS} blocks with cache_control may be provided")));
    }
    if marks.windows(2).any(|two| two == [Ttl::FiveMinutes, Ttl::Hour]) {
        return Err(ProviderProblem::wrong("a ttl of 1h must not come after one of 5m"));
    }
    Ok(())
}

fn mark(of: &Value) -> Result<Option<Ttl>, ProviderProblem> {
    match of["cache_control"]["ttl"].as_str() {
        _ if of["cache_control"].is_null() => Ok(None),
        None | Some("5m") => Ok(Some(Ttl::FiveMinutes)),
        Some("1h") => Ok(Some(Ttl::Hour)),
        Some(_) => Err(ProviderProblem::wrong("cache_control.ttl: 5m or 1h")),
    }
}

fn blocks(pieces: &mut Vec<Piece>, content: &Value, ground: &Ground<'_>) -> Result<(), ProviderProblem> {
    if let Value::String(text) = content {
        pieces.push(ground.text(text));
        return Ok(());
    }
    for one in list(content) {
        let start = pieces.len();
        block(pieces, one, ground)?;
        let mark = mark(one)?;
        if let Some(last) = pieces[start..].last_mut() {
            last.mark = last.mark.or(mark);
        }
    }
    Ok(())
}

fn block(pieces: &mut Vec<Piece>, block: &Value, ground: &Ground<'_>) -> Result<(), ProviderProblem> {
    let text = |name: &str| block[name].as_str().unwrap_or_default();
    match text("type") {
        "text" => pieces.push(ground.text(text("text"))),
        "image" => pieces.push(picture(&block["source"], ground)?),
        "document" => document(pieces, block, ground)?,
        // The arguments of a tool are text to the model, whatever they look like.
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            pieces.extend([ground.text(text("name")), ground.json(&block["input"])]);
        }
        "tool_result" => {
            pieces.push(ground.around("tool"));
            blocks(pieces, &block["content"], ground)?;
        }
        "thinking" => {
            let seen = ground.text(text("thinking"));
            let sealed = ground.sealed(text("signature"));
            pieces.push(if seen.tokens > sealed.tokens { seen } else { sealed });
        }
        "redacted_thinking" => pieces.push(ground.sealed(text("data"))),
        "container_upload" => pieces.push(ground.named(text("file_id"))),
        "document_url" => pieces.push(ground.document_at(text("document_url"))),
        _ => pieces.push(ground.json(block)),
    }
    Ok(())
}

fn picture(source: &Value, ground: &Ground<'_>) -> Result<Piece, ProviderProblem> {
    let named = |name: &str| source[name].as_str().unwrap_or_default();
    match named("type") {
        "base64" => ground.picture(named("data"), false),
        _ => Ok(ground.counted(&source.to_string(), ground.way.picture(ground.model, ground.elsewhere.picture, false))),
    }
}

fn document(pieces: &mut Vec<Piece>, block: &Value, ground: &Ground<'_>) -> Result<(), ProviderProblem> {
    let source = &block["source"];
    let named = |name: &str| source[name].as_str().unwrap_or_default();
    for name in ["title", "context"] {
        pieces.extend(block[name].as_str().map(|text| ground.text(text)));
    }
    match named("type") {
        "base64" => pieces.push(ground.document(named("data"))?),
        "text" => pieces.push(ground.text(named("data"))),
        "content" => blocks(pieces, &source["content"], ground)?,
        "url" => pieces.push(ground.document_at(named("url"))),
        _ => pieces.push(ground.named(named("file_id"))),
    }
    Ok(())
}
