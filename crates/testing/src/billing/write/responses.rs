//! Responses as they are answered: items, and the long train of events by which they come.

use serde_json::{Value, json};

use crate::billing::answer::{Event, ModelAnswer};
use crate::billing::made::{Block, Stop};

/// The id of an item.
pub(crate) fn item_id(number: u64, block: &Block) -> String {
    match block {
        Block::Think { .. } => format!("rs_{number}"),
        Block::Text(_) => format!("msg_{number}"),
        Block::Tool { custom: false, .. } => format!("fc_{number}"),
        Block::Tool { .. } => format!("ctc_{number}"),
    }
}

pub(crate) fn id(number: u64) -> String {
    format!("resp_{number}")
}

/// An item, with what is in it or without.
fn item(answer: &ModelAnswer<'_>, at: usize, block: &Block, full: bool) -> Value {
    let number = answer.made.number + at as u64;
    let (id, status) = (item_id(number, block), if full { "completed" } else { "in_progress" });
    let text = if full { block.text() } else { String::new() };
    match block {
        Block::Think { seal, .. } => {
            let summary = if text.is_empty() { json!([]) } else { json!([{ "type": "summary_text", "text": text }]) };
            let sealed = answer.asked.body["include"]
                .as_array()
                .is_some_and(|all| all.iter().any(|one| one == "reasoning.encrypted_content"));
            let seal = if sealed && full { json!(seal) } else { Value::Null };
            json!({ "id": id, "type": "reasoning", "summary": summary, "encrypted_content": seal })
        }
        Block::Text(_) => {
            let content = json!([{ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }]);
            let content = if full { content } else { json!([]) };
            json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": content })
        }
        Block::Tool { name, custom, .. } => {
            let (kind, field) = if *custom { ("custom_tool_call", "input") } else { ("function_call", "arguments") };
            let mut call = json!({ "id": id, "type": kind, "status": status, "call_id": format!("call_{number}"),
                "name": name, field: text });
            if let Some(room) = answer.asked.offers(name).and_then(|tool| tool.room.as_deref()) {
                call["namespace"] = json!(room);
            }
            call
        }
    }
}

/// The response as it stands, with these items.
fn response(answer: &ModelAnswer<'_>, status: &str, output: Vec<Value>, usage: Option<Value>) -> Value {
    let body = &answer.asked.body;
    let cut = status == "incomplete";
    json!({
        "id": id(answer.made.number), "object": "response", "created_at": answer.now, "status": status,
        "background": false, "error": null, "model": answer.asked.model, "output": output, "usage": usage,
        "incomplete_details": if cut { json!({ "reason": "max_output_tokens" }) } else { Value::Null },
        "instructions": body["instructions"], "max_output_tokens": body["max_output_tokens"],
        "parallel_tool_calls": true, "previous_response_id": body["previous_response_id"],
        "reasoning": { "effort": body["reasoning"]["effort"], "summary": null }, "store": body["store"] != false,
        "temperature": 1.0, "top_p": 1.0, "text": { "format": { "type": "text" } }, "tool_choice": "auto",
        "tools": [], "truncation": "disabled", "user": null, "metadata": {}, "service_tier": "default",
    })
}

fn ends(answer: &ModelAnswer<'_>) -> &'static str {
    if answer.made.stop == Stop::Length { "incomplete" } else { "completed" }
}

pub(super) fn whole(answer: &ModelAnswer<'_>) -> Value {
    let items = answer.made.blocks.iter().enumerate().map(|(at, block)| item(answer, at, block, true)).collect();
    response(answer, ends(answer), items, answer.usage())
}

/// The events of a stream, numbered as they come.
#[derive(Default)]
struct Train {
    events: Vec<Event>,
    made: u64,
}

impl Train {
    fn put(&mut self, kind: &str, mut data: Value, tokens: u64) {
        self.made += tokens;
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.events.len());
        self.events.push(Event { text: format!("event: {kind}\ndata: {data}\n\n"), made: self.made });
    }
}

pub(super) fn events(answer: &ModelAnswer<'_>) -> Vec<Event> {
    let mut train = Train::default();
    let begun = response(answer, "in_progress", Vec::new(), answer.running(0));
    train.put("response.created", json!({ "response": begun }), 0);
    train.put("response.in_progress", json!({ "response": begun }), 0);
    for (at, block) in answer.made.blocks.iter().enumerate() {
        let begun = item(answer, at, block, false);
        train.put("response.output_item.added", json!({ "output_index": at, "item": begun }), 0);
        let id = begun["id"].clone();
        match block {
            Block::Think { tokens, .. } => thought(&mut train, at, &id, &block.text(), *tokens),
            Block::Text(pieces) => text(&mut train, at, &id, pieces),
            Block::Tool { custom, tokens, .. } => {
                let (kind, field) = if *custom {
                    ("response.custom_tool_call_input", "input")
                } else {
                    ("response.function_call_arguments", "arguments")
                };
                let text = block.text();
                let delta = json!({ "item_id": id, "output_index": at, "delta": text });
                train.put(&format!("{kind}.delta"), delta, *tokens);
                train.put(&format!("{kind}.done"), json!({ "item_id": id, "output_index": at, field: text }), 0);
            }
        }
        let done = item(answer, at, block, true);
        train.put("response.output_item.done", json!({ "output_index": at, "item": done }), 0);
    }
    let shown: u64 = answer.made.blocks.iter().map(Block::tokens).sum();
    let end = format!("response.{}", ends(answer));
    train.put(&end, json!({ "response": whole(answer) }), answer.made.said + answer.made.reasoned - shown);
    train.events
}

fn thought(train: &mut Train, at: usize, id: &Value, text: &str, tokens: u64) {
    if text.is_empty() {
        // Only the time it takes can be seen.
        train.made += tokens;
        train.events.push(Event { text: String::new(), made: train.made });
        return;
    }
    let place = json!({ "item_id": id, "output_index": at, "summary_index": 0 });
    let with = |field: &str, value: Value| {
        let mut data = place.clone();
        data[field] = value;
        data
    };
    let part = |text: &str| json!({ "type": "summary_text", "text": text });
    train.put("response.reasoning_summary_part.added", with("part", part("")), 0);
    train.put("response.reasoning_summary_text.delta", with("delta", json!(text)), tokens);
    train.put("response.reasoning_summary_text.done", with("text", json!(text)), 0);
    train.put("response.reasoning_summary_part.done", with("part", part(text)), 0);
}

fn text(train: &mut Train, at: usize, id: &Value, pieces: &[(String, u64)]) {
    let place = json!({ "item_id": id, "output_index": at, "content_index": 0 });
    let with = |fields: Value| {
        let mut data = place.clone();
        for (name, value) in fields.as_object().into_iter().flatten() {
            data[name] = value.clone();
        }
        data
    };
    let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] });
    train.put("response.content_part.added", with(json!({ "part": part("") })), 0);
    for (text, tokens) in pieces {
        train.put("response.output_text.delta", with(json!({ "delta": text, "logprobs": [] })), *tokens);
    }
    let whole: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
    train.put("response.output_text.done", with(json!({ "text": whole, "logprobs": [] })), 0);
    train.put("response.content_part.done", with(json!({ "part": part(&whole) })), 0);
}
