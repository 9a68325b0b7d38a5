//! Pictures by their pixels and documents by their pages, and what only looks like one.

use serde_json::{Value, json};
use testing::billing::{Turn, encode};

use super::{hello, honest, post};

fn png(wide: u32, high: u32) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend([wide.to_be_bytes(), high.to_be_bytes()].concat());
    encode(&[bytes, vec![8, 6, 0, 0, 0]].concat())
}

fn jpeg(wide: u16, high: u16) -> String {
    // An application's segment stands before the one that begins the frame.
    let mut bytes = vec![0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc2, 0, 17, 8];
    bytes.extend([high.to_be_bytes(), wide.to_be_bytes()].concat());
    encode(&bytes)
}

fn pdf(pages: usize) -> String {
    encode(format!("%PDF-1.7\n/Type /Pages\n/PageMode /x\n{}", "<< /Type /Page >>\n".repeat(pages)).as_bytes())
}

/// Tokens in of a message with this part alone, less those around it.
fn tokens(protocol: &str, model: &str, part: Value) -> Option<u64> {
    let double = honest(Turn::words(1));
    let (path, mut body) = hello(protocol);
    match protocol {
        "gemini" => body["contents"][0]["parts"] = json!([part]),
        "responses" => body["input"] = json!([{ "role": "user", "content": [part] }]),
        _ => body["messages"][0]["content"] = json!([part]),
    }
    if protocol != "gemini" {
        body["model"] = json!(model);
    }
    let answer = post(&double, &path, &body);
    let around = if protocol == "gemini" { 3 } else { 6 };
    (answer.status == 200).then(|| double.ledger.last().unwrap().used.input - around)
}

#[test]
fn a_picture_costs_by_its_pixels_as_each_provider_counts_them() {
    let image = |data: String| json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } });
    assert_eq!(tokens("messages", "m", image(png(1_000, 1_000))), Some(1_334), "a million pixels by 750");
    assert_eq!(tokens("messages", "m", image(jpeg(200, 100))), Some(27));
    let url = |data: String, detail: &str| json!({ "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{data}"), "detail": detail } });
    assert_eq!(tokens("chat", "gpt-4o", url(png(1_024, 1_024), "high")), Some(765), "four tiles");
    assert_eq!(tokens("chat", "gpt-4o", url(png(2_048, 4_096), "high")), Some(1_105), "six tiles");
    assert_eq!(tokens("chat", "gpt-4o", url(png(4_096, 8_192), "low")), Some(85));
    assert_eq!(tokens("chat", "gpt-4o-mini", url(png(512, 512), "auto")), Some(2_833 + 5_667));
    assert_eq!(tokens("chat", "gpt-4.1-mini", url(png(1_024, 1_024), "auto")), Some(1_659), "1,024 patches by 1.62");
    let input = json!({ "type": "input_image", "image_url": format!("data:image/jpeg;base64,{}", jpeg(1_024, 1_024)) });
    assert_eq!(tokens("responses", "gpt-4o", input), Some(765));
    let inline = |data: String| json!({ "inlineData": { "mimeType": "image/png", "data": data } });
    assert_eq!(tokens("gemini", "m", inline(png(200, 384))), Some(258));
    assert_eq!(tokens("gemini", "m", inline(png(960, 540))), Some(6 * 258), "three by two, as published");
}

#[test]
fn a_document_costs_by_its_pages() {
    let document =
        json!({ "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": pdf(3) } });
    assert_eq!(tokens("messages", "m", document), Some(9_000));
    let file = json!({ "type": "file", "file": { "file_data": format!("data:application/pdf;base64,{}", pdf(2)) } });
    assert_eq!(tokens("chat", "m", file), Some(6_000));
    assert_eq!(
        tokens("gemini", "m", json!({ "inlineData": { "mimeType": "application/pdf", "data": pdf(3) } })),
        Some(774)
    );
    let text = json!({ "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": "hello" } });
    assert_eq!(tokens("messages", "m", text), Some(5));
}

#[test]
fn a_document_behind_an_address_is_as_long_as_it_is() {
    let far = |part: Value, protocol: &str| tokens(protocol, "m", part);
    let address = "https://e.example/a.pdf";
    assert_eq!(far(json!({ "type": "document_url", "document_url": address }), "chat"), Some(400_000));
    assert_eq!(
        far(json!({ "type": "document", "source": { "type": "url", "url": address } }), "messages"),
        Some(400_000)
    );
    assert_eq!(far(json!({ "type": "input_file", "file_url": address }), "responses"), Some(400_000));
    assert_eq!(far(json!({ "fileData": { "fileUri": address } }), "gemini"), Some(400_000));
    assert_eq!(far(json!({ "type": "file", "file": { "file_id": "f" } }), "chat"), Some(20_000));
    assert_eq!(
        far(json!({ "type": "image_url", "image_url": { "url": "https://e.example/a.png" } }), "chat"),
        Some(765)
    );
}

#[test]
fn text_dressed_as_a_picture_is_text_in_arguments_and_refused_as_a_picture() {
    let big = "word ".repeat(2_000);
    let dressed = json!({ "type": "image", "source": { "data": big } });
    let (path, mut body) = hello("messages");
    body["messages"] = json!([{ "role": "user", "content": "x" },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "f", "input": dressed }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "content": "y" }] }]);
    let double = honest(Turn::words(1));
    assert_eq!(post(&double, &path, &body).status, 200);
    let letters = dressed.to_string().len() as u64;
    assert_eq!(double.ledger.last().unwrap().used.input, 3 + 1 + 3 + 1 + letters + 3 + 3 + 1 + 3);
    let data = json!({ "type": "image", "source": { "type": "base64", "data": big } });
    assert_eq!(tokens("messages", "m", data), None, "what does not decode as a picture is none");
    assert_eq!(
        tokens("messages", "m", json!({ "type": "image", "source": { "type": "base64", "data": encode(b"word") } })),
        None
    );
    let call = json!({ "functionCall": { "name": "f", "args": { "inlineData": { "data": big } } } });
    assert!(tokens("gemini", "m", call).is_some_and(|tokens| tokens > 10_000));
}
