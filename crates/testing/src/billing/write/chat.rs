//! Chat completions as they are answered, and embeddings.

use serde_json::{Value, json};

use crate::billing::answer::{Event, ModelAnswer};
use crate::billing::made::{Block, Stop};
use crate::billing::media::encode;
use crate::billing::script::Shown;

/// Numbers of a vector, where a client does not say.
const DIMENSIONS: u64 = 64;

fn finish(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "stop",
        Stop::Tools => "tool_calls",
        Stop::Length => "length",
    }
}

fn id(answer: &ModelAnswer<'_>) -> String {
    format!("chatcmpl-{}", answer.made.number)
}

/// A call of a tool, with these arguments.
fn call(answer: &ModelAnswer<'_>, at: usize, block: &Block, arguments: &str) -> Option<Value> {
    let Block::Tool { name, custom, .. } = block else { return None };
    let id = format!("call_{}", answer.made.number + at as u64);
    Some(if *custom {
        json!({ "id": id, "type": "custom", "custom": { "name": name, "input": arguments } })
    } else {
        json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
    })
}

pub(super) fn whole(answer: &ModelAnswer<'_>) -> Value {
    let (mut text, mut thought, mut calls) = (String::new(), String::new(), Vec::new());
    for (at, block) in answer.made.blocks.iter().enumerate() {
        match block {
            Block::Text(_) => text += &block.text(),
            Block::Think { .. } => thought += &block.text(),
            Block::Tool { .. } => calls.extend(call(answer, at, block, &block.text())),
        }
    }
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { json!(text) };
    let mut message = json!({ "role": "assistant", "content": content, "refusal": null, "annotations": [] });
    if !thought.is_empty() {
        message["reasoning_content"] = json!(thought);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let reason = finish(answer.made.stop);
    let choice = |index| json!({ "index": index, "message": message, "logprobs": null, "finish_reason": reason });
    let choices: Vec<Value> = (0..answer.asked.answers).map(choice).collect();
    let mut whole = json!({ "id": id(answer), "object": "chat.completion", "created": answer.now,
        "model": answer.asked.model, "choices": choices, "service_tier": "default", "system_fingerprint": "fp_double" });
    if let Some(usage) = answer.usage() {
        whole["usage"] = usage;
    }
    whole
}

pub(super) fn events(answer: &ModelAnswer<'_>) -> Vec<Event> {
    let (mut events, mut made) = (Vec::new(), 0);
    let asks = answer.asked.body["stream_options"]["include_usage"] == true;
    let chunk = |choices: Value, usage: Option<Value>| {
        let mut chunk = json!({ "id": id(answer), "object": "chat.completion.chunk", "created": answer.now,
            "model": answer.asked.model, "service_tier": "default", "system_fingerprint": "fp_double", "choices": choices });
        if asks || usage.is_some() {
            chunk["usage"] = usage.unwrap_or_default();
        }
        format!("data: {chunk}\n\n")
    };
    for index in 0..answer.asked.answers {
        let mut put = |delta: Value, reason: Option<&str>, tokens: u64| {
            made += tokens;
            // Where only tokens pass, nothing is sent.
            if delta.is_null() {
                return events.push(Event { text: String::new(), made });
            }
            let choice = json!([{ "index": index, "delta": delta, "logprobs": null, "finish_reason": reason }]);
            events.push(Event { text: chunk(choice, answer.running(made)), made });
        };
        put(json!({ "role": "assistant", "content": "", "refusal": null }), None, 0);
        let mut calls = 0;
        for (at, block) in answer.made.blocks.iter().enumerate() {
            match block {
                Block::Think { shown: Shown::Not, tokens, .. } => put(Value::Null, None, *tokens),
                Block::Think { tokens, .. } => put(json!({ "reasoning_content": block.text() }), None, *tokens),
                Block::Text(pieces) => {
                    for (text, tokens) in pieces {
                        put(json!({ "content": text }), None, *tokens);
                    }
                }
                Block::Tool { custom, tokens, .. } => {
                    let mut begun = call(answer, at, block, "").unwrap_or_default();
                    begun["index"] = json!(calls);
                    put(json!({ "tool_calls": [begun] }), None, 0);
                    let kind = if *custom { "custom" } else { "function" };
                    let field = if *custom { "input" } else { "arguments" };
                    let rest = json!({ "index": calls, kind: { field: block.text() } });
                    put(json!({ "tool_calls": [rest] }), None, *tokens);
                    calls += 1;
                }
            }
        }
        // Of a call that was cut off there is nothing to show.
        let shown: u64 = answer.made.blocks.iter().map(Block::tokens).sum();
        put(json!({}), Some(finish(answer.made.stop)), answer.made.said + answer.made.reasoned - shown);
    }
    if let Some(usage) = answer.usage().filter(|_| asks) {
        events.push(Event { text: chunk(json!([]), Some(usage)), made });
    }
    events.push(Event { text: "data: [DONE]\n\n".to_owned(), made });
    events
}

pub(super) fn embeddings(answer: &ModelAnswer<'_>) -> Value {
    let dimensions = answer.asked.body["dimensions"].as_u64().unwrap_or(DIMENSIONS);
    let vector = |piece: u64| (0..dimensions).map(move |at| ((piece * 31 + at * 7) % 97) as f32 / 97.0);
    let packed = answer.asked.body["encoding_format"] == "base64";
    let data = (0..answer.asked.pieces.len() as u64).map(|index| {
        let embedding = if packed {
            json!(encode(&vector(index).flat_map(f32::to_le_bytes).collect::<Vec<u8>>()))
        } else {
            json!(vector(index).collect::<Vec<f32>>())
        };
        json!({ "object": "embedding", "index": index, "embedding": embedding })
    });
    let mut whole = json!({ "object": "list", "model": answer.asked.model, "data": data.collect::<Vec<Value>>() });
    if let Some(usage) = answer.usage() {
        whole["usage"] = usage;
    }
    whole
}
