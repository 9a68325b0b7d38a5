//! Gemini's own answers: candidates with parts, at once or one event after the other.

use serde_json::{Value, json};

use crate::billing::answer::{Event, ModelAnswer};
use crate::billing::made::{Block, Stop};
use crate::billing::script::Shown;

/// A block as JSON; none for a thought that is not shown.
fn part(at: u64, block: &Block) -> Option<Value> {
    match block {
        Block::Think { shown: Shown::Not, .. } => None,
        Block::Think { .. } => Some(json!({ "text": block.text(), "thought": true })),
        Block::Text(_) => Some(json!({ "text": block.text() })),
        Block::Tool { name, input, .. } => {
            Some(json!({ "functionCall": { "id": format!("call_{at}"), "name": name, "args": input } }))
        }
    }
}

/// Parts of an answer; what was thought before a part is sealed into it.
fn parts(answer: &ModelAnswer<'_>) -> Vec<(Vec<Value>, u64)> {
    let (mut parts, mut seal) = (Vec::new(), None);
    for (at, block) in answer.made.blocks.iter().enumerate() {
        if let Block::Think { seal: sealed, .. } = block {
            seal = Some(sealed.clone());
        }
        let mut put = |part: Option<Value>, tokens: u64| {
            let mut part = part;
            if let (Some(part), false) = (part.as_mut(), matches!(block, Block::Think { .. })) {
                part.as_object_mut()
                    .expect("it was written as one")
                    .extend(seal.take().map(|seal| ("thoughtSignature".to_owned(), json!(seal))));
            }
            parts.push((part.into_iter().collect(), tokens));
        };
        match block {
            Block::Text(pieces) => pieces.iter().for_each(|(text, tokens)| put(Some(json!({ "text": text })), *tokens)),
            _ => put(part(answer.made.number + at as u64, block), block.tokens()),
        }
    }
    parts
}

fn response(answer: &ModelAnswer<'_>, candidates: Vec<Value>, usage: Option<Value>) -> Value {
    let mut response = json!({ "candidates": candidates, "modelVersion": answer.asked.model,
        "responseId": format!("double-{}", answer.made.number) });
    if let Some(usage) = usage {
        response["usageMetadata"] = usage;
    }
    response
}

fn candidate(index: u64, parts: Vec<Value>, reason: Option<&str>) -> Value {
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": index });
    if let Some(reason) = reason {
        candidate["finishReason"] = json!(reason);
    }
    candidate
}

fn reason(answer: &ModelAnswer<'_>) -> &'static str {
    if answer.made.stop == Stop::Length { "MAX_TOKENS" } else { "STOP" }
}

pub(super) fn whole(answer: &ModelAnswer<'_>) -> Value {
    // Text that came in pieces is one part of a whole answer.
    let mut all: Vec<Value> = Vec::new();
    for part in parts(answer).into_iter().flat_map(|(parts, _)| parts) {
        let plain = |part: &Value| part["text"].is_string() && part["thought"].is_null();
        match all.last_mut() {
            Some(last) if plain(last) && plain(&part) => {
                let text = [&last["text"], &part["text"]].into_iter().filter_map(Value::as_str).collect::<String>();
                last["text"] = json!(text);
            }
            _ => all.push(part),
        }
    }
    let candidates = (0..answer.asked.answers).map(|index| candidate(index, all.clone(), Some(reason(answer))));
    response(answer, candidates.collect(), answer.usage())
}

pub(super) fn events(answer: &ModelAnswer<'_>) -> Vec<Event> {
    let (mut events, mut made) = (Vec::new(), 0);
    for index in 0..answer.asked.answers {
        for (parts, tokens) in parts(answer) {
            made += tokens;
            let usage = answer.running(made);
            let text = if parts.is_empty() {
                String::new()
            } else {
                format!("data: {}\r\n\r\n", response(answer, vec![candidate(index, parts, None)], usage))
            };
            events.push(Event { text, made });
        }
        let shown: u64 = answer.made.blocks.iter().map(Block::tokens).sum();
        made += answer.made.said + answer.made.reasoned - shown;
        let last = index + 1 == answer.asked.answers;
        let usage = if last { answer.usage() } else { answer.running(made) };
        let end = candidate(index, vec![json!({ "text": "" })], Some(reason(answer)));
        events.push(Event { text: format!("data: {}\r\n\r\n", response(answer, vec![end], usage)), made });
    }
    events
}
