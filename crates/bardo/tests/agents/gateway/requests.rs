//! Requests of every shape that a gateway reads, and of some that it does not: five protocols, talks with pictures, tools and marks
//! for the cache, edits, fields that nobody knows, and calls in which one thing has become another.

use serde_json::{Value, json};
use testing::billing::encode;

use crate::common::Dice;

/// Written out, because what is wrong with some of them no value could hold.
pub(super) struct Request {
    pub(super) path: String,
    pub(super) body: String,
    pub(super) streams: bool,
}

/// One of whatever shape, for this golem and model. Where a cache bills what is written to it, Google's protocol has no way to say so.
pub(super) fn request(dice: &mut Dice, golem: &str, model: &str, with_google: bool) -> Request {
    let streams = dice.roll(2) == 0;
    let (path, mut body) = match dice.roll(if with_google { 9 } else { 7 }) {
        0 | 1 => ("v1/chat/completions".to_owned(), chat(dice, model, streams)),
        2 | 3 => ("v1/messages".to_owned(), messages(dice, model, streams)),
        4 | 5 => ("v1/responses".to_owned(), responses(dice, model, streams)),
        6 => ("v1/embeddings".to_owned(), json!({ "model": model, "input": [text(dice, 80), "short"] })),
        _ => {
            let how = if streams { "streamGenerateContent?alt=sse" } else { "generateContent" };
            (format!("v1beta/models/{model}:{how}"), google(dice))
        }
    };
    if dice.roll(8) == 0 {
        let name = ["sparkle", "effort_hint", "nuance"][dice.roll(3) as usize];
        body[name] = [json!("high"), json!(7), json!({ "kind": "new" })][dice.roll(3) as usize].clone();
    }
    let body = if dice.roll(5) == 0 { odd(dice, body) } else { body.to_string() };
    Request { path: format!("/g/{golem}/{path}"), body, streams }
}

fn text(dice: &mut Dice, most: u64) -> String {
    "word and more ".repeat(dice.roll(most) as usize + 1)
}

fn most(dice: &mut Dice) -> u64 {
    [16, 200, 900][dice.roll(3) as usize]
}

/// A real one by how it begins, small or large, square or long.
fn picture(dice: &mut Dice) -> String {
    let (wide, high) = [(64_u32, 64_u32), (1_000, 750), (4_000, 300), (2_048, 2_048)][dice.roll(4) as usize];
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(wide.to_be_bytes().iter().chain(&high.to_be_bytes()));
    bytes.resize(bytes.len() + dice.roll(6_000) as usize, 7);
    encode(&bytes)
}

fn chat(dice: &mut Dice, model: &str, streams: bool) -> Value {
    let mut talk = vec![json!({ "role": "system", "content": text(dice, 80) })];
    for turn in 0..=dice.roll(4) {
        let role = if turn % 2 == 0 { "user" } else { "assistant" };
        let content = if turn % 2 == 0 && dice.roll(5) == 0 {
            let url = format!("data:image/png;base64,{}", picture(dice));
            json!([{ "type": "text", "text": text(dice, 20) }, { "type": "image_url", "image_url": { "url": url } }])
        } else {
            json!(text(dice, 150))
        };
        talk.push(json!({ "role": role, "content": content }));
    }
    let parameters = json!({ "type": "object", "properties": { "where": { "type": "string" } } });
    let tools = json!([{ "type": "function", "function": { "name": "look", "parameters": parameters } }]);
    if dice.roll(3) == 0 {
        let asks = json!({ "name": "look", "arguments": json!({ "where": text(dice, 30) }).to_string() });
        let call = json!({ "id": "c1", "type": "function", "function": asks });
        talk.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
        talk.push(json!({ "role": "tool", "tool_call_id": "c1", "content": text(dice, 200) }));
    }
    let mut body = json!({ "model": model, "stream": streams, "messages": talk });
    // The older name of it, the newer, or both.
    for name in [&["max_tokens"][..], &["max_completion_tokens"], &["max_tokens", "max_completion_tokens"]]
        [dice.roll(3) as usize]
    {
        body[*name] = json!(most(dice));
    }
    if dice.roll(2) == 0 {
        body["tools"] = tools;
    }
    match dice.roll(8) {
        0 => body["n"] = json!(2 + dice.roll(3)),
        1 => body["reasoning_effort"] = json!("high"),
        2 if streams => body["stream_options"] = json!({ "include_usage": true }),
        3 => body["prompt_cache_key"] = json!("k"),
        _ => {}
    }
    body
}

/// A mark for the cache, of one kind or the other, or none.
fn marked(dice: &mut Dice, mut part: Value) -> Value {
    match dice.roll(6) {
        0 => part["cache_control"] = json!({ "type": "ephemeral" }),
        1 => part["cache_control"] = json!({ "type": "ephemeral", "ttl": "1h" }),
        _ => {}
    }
    part
}

fn messages(dice: &mut Dice, model: &str, streams: bool) -> Value {
    let image = |data: String| json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } });
    let system = json!({ "type": "text", "text": text(dice, 80).repeat(8) });
    let system = marked(dice, system);
    let mut talk = Vec::new();
    for turn in 0..=dice.roll(4) {
        let role = if turn % 2 == 0 { "user" } else { "assistant" };
        let said = json!({ "type": "text", "text": text(dice, 150) });
        let mut content = vec![marked(dice, said)];
        if turn % 2 == 0 && dice.roll(5) == 0 {
            content.push(image(picture(dice)));
        }
        talk.push(json!({ "role": role, "content": content }));
    }
    if dice.roll(3) == 0 {
        let asks = json!({ "type": "tool_use", "id": "t1", "name": "look", "input": { "where": text(dice, 30) } });
        talk.push(json!({ "role": "assistant", "content": [asks] }));
        let came = if dice.roll(3) == 0 { json!([image(picture(dice))]) } else { json!(text(dice, 200)) };
        let came = json!({ "type": "tool_result", "tool_use_id": "t1", "content": came });
        talk.push(json!({ "role": "user", "content": [marked(dice, came)] }));
    }
    let mut body =
        json!({ "model": model, "stream": streams, "max_tokens": most(dice), "system": [system], "messages": talk });
    if dice.roll(2) == 0 {
        let tool = json!({ "name": "look", "description": text(dice, 20), "input_schema": { "type": "object" } });
        body["tools"] = json!([marked(dice, tool)]);
    }
    match dice.roll(8) {
        0 => {
            let budget = 1_024 + dice.roll(500);
            body["max_tokens"] = json!(budget + 100);
            body["thinking"] = json!({ "type": "enabled", "budget_tokens": budget });
        }
        1 => body["context_management"] = json!({ "edits": [{ "type": "clear_tool_uses_20250919" }] }),
        2 => body["context_management"] = json!({ "edits": [{ "type": "compact_20260112" }] }),
        3 => body["cache_control"] = json!({ "type": "ephemeral" }),
        _ => {}
    }
    body
}

fn responses(dice: &mut Dice, model: &str, streams: bool) -> Value {
    let mut items = Vec::new();
    for turn in 0..=dice.roll(4) {
        let role = if turn % 2 == 0 { "user" } else { "assistant" };
        let content = if turn % 2 == 0 && dice.roll(5) == 0 {
            let url = format!("data:image/png;base64,{}", picture(dice));
            json!([{ "type": "input_text", "text": text(dice, 20) }, { "type": "input_image", "image_url": url }])
        } else {
            json!(text(dice, 150))
        };
        items.push(json!({ "role": role, "content": content }));
    }
    if dice.roll(3) == 0 {
        let asks = json!({ "where": text(dice, 30) }).to_string();
        items.push(json!({ "type": "function_call", "call_id": "c1", "name": "look", "arguments": asks }));
        items.push(json!({ "type": "function_call_output", "call_id": "c1", "output": text(dice, 200) }));
    }
    let most = most(dice);
    let mut body =
        json!({ "model": model, "stream": streams, "max_output_tokens": most, "instructions": text(dice, 80) });
    body["input"] = if dice.roll(6) == 0 { json!(text(dice, 200)) } else { json!(items) };
    match dice.roll(6) {
        0 => body["tools"] = json!([{ "type": "function", "name": "look", "parameters": { "type": "object" } }]),
        1 => body["tools"] = json!([{ "type": "custom", "name": "exec" }]),
        2 => body["reasoning"] = json!({ "effort": "high" }),
        3 => body["prompt_cache_retention"] = json!("24h"),
        _ => {}
    }
    body
}

fn google(dice: &mut Dice) -> Value {
    let mut talk = Vec::new();
    for turn in 0..=dice.roll(4) {
        let role = if turn % 2 == 0 { "user" } else { "model" };
        let mut parts = vec![json!({ "text": text(dice, 150) })];
        if turn % 2 == 0 && dice.roll(5) == 0 {
            parts.push(json!({ "inlineData": { "mimeType": "image/png", "data": picture(dice) } }));
        }
        talk.push(json!({ "role": role, "parts": parts }));
    }
    if dice.roll(3) == 0 {
        let asks = json!({ "functionCall": { "name": "look", "args": { "where": text(dice, 30) } } });
        talk.push(json!({ "role": "model", "parts": [asks] }));
        let came = json!({ "functionResponse": { "name": "look", "response": { "seen": text(dice, 200) } } });
        talk.push(json!({ "role": "user", "parts": [came] }));
    }
    let mut config = json!({ "maxOutputTokens": most(dice) });
    match dice.roll(6) {
        0 => config["candidateCount"] = json!(2),
        1 => config["thinkingConfig"] = json!({ "thinkingBudget": 128 }),
        2 => config["candidate_count"] = json!(8),
        3 => config = json!({}),
        _ => {}
    }
    let mut body = json!({ "contents": talk, "generationConfig": config });
    if dice.roll(2) == 0 {
        body["systemInstruction"] = json!({ "parts": [{ "text": text(dice, 80) }] });
    }
    if dice.roll(2) == 0 {
        body["tools"] = json!([{ "functionDeclarations": [{ "name": "look", "parameters": { "type": "object" } }] }]);
    }
    body
}

/// The same with one thing in it that should not be: a field with a value of another kind, a part of another protocol, or a
/// field that is there twice.
fn odd(dice: &mut Dice, mut body: Value) -> String {
    match dice.roll(3) {
        0 => {
            let names: Vec<String> = body.as_object().unwrap().keys().cloned().collect();
            let others = [
                json!(null),
                json!(true),
                json!(7),
                json!("text"),
                json!([]),
                json!({}),
                json!([1, 2]),
                json!({ "type": "image", "id": "x" }),
            ];
            body[&names[dice.roll(names.len() as u64) as usize]] = others[dice.roll(8) as usize].clone();
            body.to_string()
        }
        1 => {
            let part = [
                json!({ "type": "input_image", "image_url": "https://example.com/a.png" }),
                json!({ "type": "image_url", "image_url": { "url": "https://example.com/a.png" } }),
                json!({ "type": "document", "source": { "type": "url", "url": "https://example.com/a.pdf" } }),
                json!({ "type": "input_file", "file_url": "https://example.com/a.pdf" }),
                json!({ "type": "item_reference", "id": "rs_1" }),
                json!({ "inlineData": { "mimeType": "image/png", "data": picture(dice) } }),
                json!({ "fileData": { "fileUri": "https://example.com/a.pdf" } }),
                json!({ "functionCall": { "name": "look", "args": {} } }),
            ];
            let part = part[dice.roll(8) as usize].clone();
            let message = json!({ "role": "user", "content": [part], "parts": [part] });
            for list in ["messages", "input", "contents"] {
                if let Some(all) = body[list].as_array_mut() {
                    all.push(message.clone());
                }
            }
            body.to_string()
        }
        _ => {
            let twice = ["max_tokens", "max_output_tokens", "model", "n", "generationConfig"][dice.roll(5) as usize];
            let value = if twice == "model" { json!("dear") } else { json!(100_000) };
            format!("{{\"{twice}\":{value},{}", &body.to_string()[1..])
        }
    }
}
