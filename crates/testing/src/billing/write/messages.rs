//! Messages as they are answered: blocks, begun, filled and ended.

use serde_json::{Value, json};

use crate::billing::answer::{Event, ModelAnswer};
use crate::billing::made::{Block, Stop};
use crate::billing::script::Shown;

fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "end_turn",
        Stop::Tools => "tool_use",
        Stop::Length => "max_tokens",
    }
}

/// A block, with what is in it or without; none of a thought that is not shown.
fn block(answer: &ModelAnswer<'_>, at: usize, block: &Block, full: bool) -> Option<Value> {
    let text = if full { block.text() } else { String::new() };
    match block {
        Block::Think { shown: Shown::Not, .. } => None,
        Block::Think { seal, .. } => {
            let seal = if full { seal.as_str() } else { "" };
            Some(json!({ "type": "thinking", "thinking": text, "signature": seal }))
        }
        Block::Text(_) => Some(json!({ "type": "text", "text": text })),
        Block::Tool { name, input, .. } => {
            let id = format!("toolu_{}", answer.made.number + at as u64);
            let input = if full { input.clone() } else { json!({}) };
            Some(json!({ "type": "tool_use", "id": id, "name": name, "input": input }))
        }
    }
}

fn message(answer: &ModelAnswer<'_>, content: Vec<Value>, reason: Option<&str>, usage: Option<Value>) -> Value {
    let mut message = json!({ "id": format!("msg_{}", answer.made.number), "type": "message", "role": "assistant",
        "model": answer.asked.model, "content": content, "stop_reason": reason, "stop_sequence": null });
    if let Some(usage) = usage {
        message["usage"] = usage;
    }
    message
}

pub(super) fn whole(answer: &ModelAnswer<'_>) -> Value {
    let blocks = answer.made.blocks.iter().enumerate().filter_map(|(at, one)| block(answer, at, one, true)).collect();
    message(answer, blocks, Some(stop(answer.made.stop)), answer.usage())
}

pub(super) fn events(answer: &ModelAnswer<'_>) -> Vec<Event> {
    let (mut events, mut made) = (Vec::new(), 0);
    let mut put = |data: Value, tokens: u64| {
        made += tokens;
        let kind = data["type"].as_str().unwrap_or_default();
        events.push(Event { text: format!("event: {kind}\ndata: {data}\n\n"), made });
    };
    let begun = message(answer, Vec::new(), None, answer.first_usage());
    put(json!({ "type": "message_start", "message": begun }), 0);
    let mut index = 0;
    for (at, one) in answer.made.blocks.iter().enumerate() {
        let Some(begun) = block(answer, at, one, false) else {
            put(json!({ "type": "ping" }), one.tokens());
            continue;
        };
        put(json!({ "type": "content_block_start", "index": index, "content_block": begun }), 0);
        let mut delta = |delta: Value, tokens: u64| {
            put(json!({ "type": "content_block_delta", "index": index, "delta": delta }), tokens)
        };
        match one {
            Block::Think { tokens, seal, .. } => {
                delta(json!({ "type": "thinking_delta", "thinking": one.text() }), *tokens);
                delta(json!({ "type": "signature_delta", "signature": seal }), 0);
            }
            Block::Text(pieces) => {
                for (text, tokens) in pieces {
                    delta(json!({ "type": "text_delta", "text": text }), *tokens);
                }
            }
            Block::Tool { input, tokens, .. } => {
                delta(json!({ "type": "input_json_delta", "partial_json": input.to_string() }), *tokens);
            }
        }
        put(json!({ "type": "content_block_stop", "index": index }), 0);
        index += 1;
    }
    let shown: u64 = answer.made.blocks.iter().map(Block::tokens).sum();
    let delta = json!({ "stop_reason": stop(answer.made.stop), "stop_sequence": null });
    let mut last = json!({ "type": "message_delta", "delta": delta });
    if let Some(usage) = answer.usage() {
        last["usage"] = usage;
    }
    put(last, answer.made.said + answer.made.reasoned - shown);
    put(json!({ "type": "message_stop" }), 0);
    events
}
