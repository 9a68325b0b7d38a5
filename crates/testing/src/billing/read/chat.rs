//! Chat completions, as OpenAI and those who speak like it read them; and embeddings.

use serde_json::Value;

use crate::billing::asked::{BilledRequest, Ground, Piece, ProviderProblem, Tool, list, number, runs};

pub(super) fn read(
    mut asked: BilledRequest,
    body: &Value,
    ground: &Ground<'_>,
) -> Result<BilledRequest, ProviderProblem> {
    let messages = body["messages"].as_array().ok_or_else(|| ProviderProblem::wrong("messages: a list is wanted"))?;
    let says = [number(body, "max_completion_tokens")?, number(body, "max_tokens")?];
    asked.most = says.into_iter().flatten().min();
    asked.answers = number(body, "n")?.unwrap_or(1);
    if !(1..=128).contains(&asked.answers) {
        return Err(ProviderProblem::wrong("n: from 1 to 128"));
    }
    let audio = list(&body["modalities"]).iter().any(|one| one == "audio") || !body["audio"].is_null();
    if audio {
        return Err(ProviderProblem::wrong("this provider has no audio"));
    }
    for tool in list(&body["tools"]).iter().chain(list(&body["functions"])) {
        let inner = [&tool["function"], &tool["custom"], tool].into_iter().find(|inner| inner["name"].is_string());
        if let Some(name) = inner.and_then(|inner| inner["name"].as_str()) {
            asked.tools.push(Tool { name: name.to_owned(), custom: tool["type"] == "custom", room: None });
        }
        asked.pieces.push(ground.json(tool));
    }
    if body["response_format"]["json_schema"].is_object() {
        asked.pieces.push(ground.json(&body["response_format"]["json_schema"]));
    }
    for message in messages {
        asked.pieces.push(ground.around(message["role"].as_str().unwrap_or_default()));
        said(&mut asked.pieces, message, ground)?;
    }
    asked.pieces.push(ground.around("assistant"));
    asked.rounds = runs(messages.iter().map(|message| message["role"] == "assistant"));
    Ok(asked)
}

fn said(pieces: &mut Vec<Piece>, message: &Value, ground: &Ground<'_>) -> Result<(), ProviderProblem> {
    match &message["content"] {
        Value::String(text) => pieces.push(ground.text(text)),
        Value::Array(parts) => {
            for one in parts {
                pieces.push(part(one, ground)?);
            }
        }
        _ => {}
    }
    // What it says beside its content is text to the model, whatever it looks like.
    for name in ["name", "refusal", "reasoning_content", "reasoning"] {
        pieces.extend(message[name].as_str().map(|text| ground.text(text)));
    }
    for call in list(&message["tool_calls"]).iter().chain([&message["function_call"]]) {
        let inner = [&call["function"], &call["custom"], call].into_iter().find(|inner| inner["name"].is_string());
        for name in ["name", "arguments", "input"] {
            pieces.extend(inner.and_then(|inner| inner[name].as_str()).map(|text| ground.text(text)));
        }
    }
    Ok(())
}

fn part(part: &Value, ground: &Ground<'_>) -> Result<Piece, ProviderProblem> {
    let low = part["image_url"]["detail"] == "low" || part["detail"] == "low";
    let at = |name: &str| part[name].as_str().or_else(|| part[name]["url"].as_str()).unwrap_or_default();
    match part["type"].as_str().unwrap_or_default() {
        "text" => Ok(ground.text(part["text"].as_str().unwrap_or_default())),
        "image_url" => ground.picture_at(at("image_url"), low),
        "document_url" => Ok(ground.document_at(at("document_url"))),
        "file" => match (part["file"]["file_data"].as_str(), part["file"]["file_id"].as_str()) {
            (Some(data), _) => ground.document(data),
            (None, name) => Ok(ground.named(name.unwrap_or_default())),
        },
        "input_audio" => Err(ProviderProblem::wrong("this provider has no audio")),
        _ => Ok(ground.json(part)),
    }
}

/// Text, a list of texts, tokens, or lists of tokens.
pub(super) fn embeddings(
    mut asked: BilledRequest,
    body: &Value,
    ground: &Ground<'_>,
) -> Result<BilledRequest, ProviderProblem> {
    let input = match &body["input"] {
        Value::Array(all) if all.iter().all(Value::is_number) => vec![&body["input"]],
        Value::Array(all) => all.iter().collect(),
        one => vec![one],
    };
    for one in input {
        asked.pieces.push(match one {
            Value::String(text) => ground.text(text),
            Value::Array(tokens) => ground.counted(&one.to_string(), tokens.len() as u64),
            _ => return Err(ProviderProblem::wrong("input: text is wanted")),
        });
    }
    asked.stream = false;
    Ok(asked)
}
