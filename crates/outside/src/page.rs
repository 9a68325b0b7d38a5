//! The messages as tables for people, from the same definitions as the schema.

use std::fmt::Write as _;

use serde_json::Value;

use crate::wire;

/// All messages, in the order in which a program meets them.
const ORDER: [&str; 27] = [
    "Hello",
    "Welcome",
    "Manifest",
    "Domain",
    "DomainKind",
    "Action",
    "Effect",
    "Timing",
    "Question",
    "Answer",
    "Bar",
    "Order",
    "Quote",
    "Outcome",
    "Fate",
    "Shown",
    "Look",
    "Resolved",
    "Stands",
    "Pressure",
    "Refused",
    "Standing",
    "Word",
    "Proposed",
    "Assessment",
    "Named",
    "Passed",
];

/// A heading and a table for each message.
pub fn page() -> String {
    let schema = wire::schema();
    let mut page = String::new();
    for name in ORDER {
        let message = &schema["$defs"][name];
        let _ = writeln!(page, "### {name}\n\n{}\n", said(message));
        if let Some(fields) = message["properties"].as_object().filter(|fields| !fields.is_empty()) {
            rows(&mut page, fields, &message["required"]);
        }
        for variant in message["oneOf"].as_array().into_iter().flatten() {
            variants(&mut page, variant);
        }
        page.push('\n');
    }
    page.trim_end().to_owned() + "\n"
}

fn variants(page: &mut String, variant: &Value) {
    let constant = |value: &Value| value["const"].as_str().or(value["enum"][0].as_str()).map(str::to_owned);
    let named = constant(variant).or_else(|| constant(&variant["properties"]["ask"]));
    let keys = variant["properties"].as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let fields: Vec<String> = keys.clone().filter(|key| *key != "ask").map(|key| format!("`{key}`")).collect();
    match named {
        Some(name) if fields.is_empty() => drop(writeln!(page, "- `{name}`: {}", said(variant))),
        Some(name) => drop(writeln!(page, "- `{name}` with {}: {}", fields.join(", "), said(variant))),
        None => drop(writeln!(page, "- {}: {}", fields.join(", "), said(variant))),
    }
}

fn rows(page: &mut String, fields: &serde_json::Map<String, Value>, required: &Value) {
    page.push_str("| field | type | what it is |\n| --- | --- | --- |\n");
    let needed = |name: &str| required.as_array().is_some_and(|all| all.iter().any(|one| one == name));
    for (name, field) in fields {
        let perhaps = if needed(name) { "" } else { ", may be left out" };
        let _ = writeln!(page, "| `{name}` | {}{perhaps} | {} |", kind(field), said(field));
    }
}

fn said(of: &Value) -> String {
    of["description"].as_str().unwrap_or_default().replace('\n', " ")
}

fn kind(field: &Value) -> String {
    if let Some(name) = field["$ref"].as_str().and_then(|at| at.rsplit('/').next()) {
        return name.to_owned();
    }
    let some = |all: &Value| all.as_array().and_then(|all| all.iter().find(|one| one["type"] != "null").map(kind));
    if let Some(one) = some(&field["anyOf"]).or_else(|| some(&field["allOf"])) {
        return one;
    }
    let plain = field["type"].as_str().or(field["type"][0].as_str()).unwrap_or("anything");
    match plain {
        "array" => format!("list of {}", kind(&field["items"])),
        "string" => "text".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" => "whole number".to_owned(),
        other => other.to_owned(),
    }
}
