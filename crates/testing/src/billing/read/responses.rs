//! Responses: items of many kinds, some of which only name what they mean.

use serde_json::Value;

use crate::billing::asked::{BilledRequest, Ground, Piece, ProviderProblem, Tool, list, number, runs};

pub(super) fn read(
    mut asked: BilledRequest,
    body: &Value,
    ground: &Ground<'_>,
) -> Result<BilledRequest, ProviderProblem> {
    asked.most = number(body, "max_output_tokens")?;
    let among = list(&body["input"]).iter().filter(|item| item["type"] == "additional_tools");
    for tool in list(&body["tools"]).iter().chain(among.flat_map(|item| list(&item["tools"]))) {
        offered(&mut asked.tools, tool, None);
    }
    asked.pieces.extend(list(&body["tools"]).iter().map(|tool| ground.json(tool)));
    let texts = [&body["instructions"]].into_iter().filter_map(Value::as_str);
    asked.pieces.extend(texts.map(|text| ground.text(text)));
    if body["text"]["format"]["schema"].is_object() {
        asked.pieces.push(ground.json(&body["text"]["format"]));
    }
    // What was said before, and what is kept at the provider, comes in by name.
    let names =
        [&body["prompt"]["id"], &body["conversation"]["id"], &body["conversation"], &body["previous_response_id"]];
    asked.pieces.extend(names.into_iter().filter_map(Value::as_str).map(|name| ground.named(name)));
    let items = list(&body["input"]);
    match &body["input"] {
        Value::String(text) => asked.pieces.extend([ground.around("user"), ground.text(text)]),
        Value::Array(_) => {
            for one in items {
                item(&mut asked.pieces, one, ground)?;
            }
        }
        _ => {}
    }
    asked.pieces.push(ground.around("assistant"));
    asked.rounds = runs(items.iter().map(|item| {
        let kind = item["type"].as_str().unwrap_or_default();
        item["role"] == "assistant" || matches!(kind, "reasoning" | "function_call" | "custom_tool_call")
    }));
    Ok(asked)
}

/// One tool, or those in a room of their own.
fn offered(tools: &mut Vec<Tool>, tool: &Value, room: Option<&str>) {
    match (tool["type"].as_str().unwrap_or_default(), tool["name"].as_str()) {
        (kind @ ("function" | "custom"), Some(name)) => {
            let room = room.map(str::to_owned);
            tools.push(Tool { name: name.to_owned(), custom: kind == "custom", room });
        }
        ("namespace", room) => list(&tool["tools"]).iter().for_each(|tool| offered(tools, tool, room)),
        _ => {}
    }
}

fn item(pieces: &mut Vec<Piece>, item: &Value, ground: &Ground<'_>) -> Result<(), ProviderProblem> {
    let id = item["id"].as_str().unwrap_or_default();
    let text = |name: &str| item[name].as_str().map(|text| ground.text(text));
    match item["type"].as_str().unwrap_or_default() {
        "additional_tools" => {
            pieces.extend(list(&item["tools"]).iter().map(|tool| ground.json(tool)));
            Ok(())
        }
        "" | "message" if !item["role"].is_null() => {
            pieces.push(ground.around(item["role"].as_str().unwrap_or_default()));
            content(pieces, &item["content"], ground)
        }
        // A reference need not say that it is one.
        "" | "item_reference" if !id.is_empty() => {
            pieces.push(ground.named(id));
            Ok(())
        }
        "reasoning" | "compaction" | "compaction_summary" => {
            match item["encrypted_content"].as_str() {
                Some(blob) => pieces.push(ground.sealed(blob)),
                None if !id.is_empty() => pieces.push(ground.named(id)),
                None => {}
            }
            content(pieces, &item["summary"], ground)
        }
        "function_call" | "custom_tool_call" => {
            pieces.push(ground.around("call"));
            pieces.extend(["name", "arguments", "input"].into_iter().filter_map(text));
            Ok(())
        }
        "function_call_output" | "custom_tool_call_output" => {
            pieces.push(ground.around("tool"));
            content(pieces, &item["output"], ground)
        }
        "computer_call_output" => {
            pieces.push(part(&item["output"], ground)?);
            Ok(())
        }
        kind if kind.ends_with("_call") && ground.hidden.behind(id).is_some() => {
            pieces.push(ground.named(id));
            Ok(())
        }
        _ => {
            pieces.push(ground.json(item));
            Ok(())
        }
    }
}

fn content(pieces: &mut Vec<Piece>, content: &Value, ground: &Ground<'_>) -> Result<(), ProviderProblem> {
    match content {
        Value::String(text) => pieces.push(ground.text(text)),
        parts => {
            for one in list(parts) {
                pieces.push(part(one, ground)?);
            }
        }
    }
    Ok(())
}

fn part(part: &Value, ground: &Ground<'_>) -> Result<Piece, ProviderProblem> {
    let text = |name: &str| part[name].as_str();
    match part["type"].as_str().unwrap_or_default() {
        "input_text" | "output_text" | "text" | "summary_text" | "reasoning_text" => {
            Ok(ground.text(text("text").unwrap_or_default()))
        }
        "refusal" => Ok(ground.text(text("refusal").unwrap_or_default())),
        "input_image" | "computer_screenshot" => match (text("image_url"), text("file_id")) {
            (Some(url), _) => ground.picture_at(url, part["detail"] == "low"),
            (None, name) => {
                let size = ground.elsewhere.picture;
                Ok(ground.counted(name.unwrap_or_default(), ground.way.picture(ground.model, size, false)))
            }
        },
        "input_file" => match (text("file_data"), text("file_url")) {
            (Some(data), _) => ground.document(data),
            (None, Some(url)) => Ok(ground.document_at(url)),
            (None, None) => Ok(ground.named(text("file_id").unwrap_or_default())),
        },
        "document_url" => Ok(ground.document_at(text("document_url").unwrap_or_default())),
        "input_audio" => Err(ProviderProblem::wrong("this provider has no audio")),
        _ => Ok(ground.json(part)),
    }
}
