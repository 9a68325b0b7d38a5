//! Gemini's own protocol, in both spellings of its fields.

use serde_json::Value;

use crate::billing::asked::{BilledRequest, Ground, Piece, ProviderProblem, Tool, list, number, runs};

/// A field that may be written like `inlineData` or like `inline_data`.
fn either<'a>(value: &'a Value, camel: &str, snake: &str) -> &'a Value {
    if value[camel].is_null() { &value[snake] } else { &value[camel] }
}

pub(super) fn read(asked: BilledRequest, body: &Value, ground: &Ground<'_>) -> Result<BilledRequest, ProviderProblem> {
    // Counting may be asked of a whole request inside another.
    let inner = either(body, "generateContentRequest", "generate_content_request");
    let body = if inner.is_null() { body } else { inner };
    let mut asked = asked;
    let contents = list(&body["contents"]);
    let config = either(body, "generationConfig", "generation_config");
    asked.most = number(config, "maxOutputTokens")?.or(number(config, "max_output_tokens")?);
    asked.answers = number(config, "candidateCount")?.or(number(config, "candidate_count")?).unwrap_or(1).max(1);
    for tool in list(&body["tools"]) {
        for one in list(either(tool, "functionDeclarations", "function_declarations")) {
            let name = one["name"].as_str().unwrap_or_default().to_owned();
            asked.tools.push(Tool { name, custom: false, room: None });
        }
        asked.pieces.push(ground.json(tool));
    }
    for schema in ["responseSchema", "responseJsonSchema", "response_schema"] {
        asked.pieces.extend(Some(&config[schema]).filter(|schema| schema.is_object()).map(|one| ground.json(one)));
    }
    let cached = either(body, "cachedContent", "cached_content").as_str();
    asked.pieces.extend(cached.map(|name| ground.named(name)));
    let system = either(body, "systemInstruction", "system_instruction");
    for content in [system].into_iter().filter(|system| !system.is_null()).chain(contents) {
        asked.pieces.push(ground.around(content["role"].as_str().unwrap_or("user")));
        for one in list(&content["parts"]) {
            part(&mut asked.pieces, one, ground)?;
        }
    }
    asked.rounds = runs(contents.iter().map(|content| content["role"] == "model"));
    Ok(asked)
}

fn part(pieces: &mut Vec<Piece>, part: &Value, ground: &Ground<'_>) -> Result<(), ProviderProblem> {
    pieces.extend(part["text"].as_str().map(|text| ground.text(text)));
    let data = either(part, "inlineData", "inline_data");
    if let Some(text) = data["data"].as_str() {
        let kind = either(data, "mimeType", "mime_type").as_str().unwrap_or_default();
        pieces.push(match kind.split('/').next().unwrap_or_default() {
            "image" => ground.picture(text, false)?,
            "application" => ground.document(text)?,
            "text" => ground.text(text),
            _ => return Err(ProviderProblem::wrong("this provider has neither audio nor video")),
        });
    }
    let file = either(either(part, "fileData", "file_data"), "fileUri", "file_uri");
    pieces.extend(file.as_str().map(|url| ground.document_at(url)));
    // What goes to tools and comes from them is text, whatever it looks like.
    let spoken = [
        ("functionCall", "function_call"),
        ("functionResponse", "function_response"),
        ("executableCode", "executable_code"),
        ("codeExecutionResult", "code_execution_result"),
    ];
    let spoken = spoken.into_iter().map(|(camel, snake)| either(part, camel, snake));
    pieces.extend(spoken.filter(|value| !value.is_null()).map(|value| ground.json(value)));
    let thought = either(part, "thoughtSignature", "thought_signature").as_str();
    pieces.extend(thought.map(|blob| ground.sealed(blob)));
    Ok(())
}
