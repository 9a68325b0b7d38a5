//! What makes a request dearer than its tokens: tools that run at the provider, faster service, other models.

use serde_json::Value;

use crate::billing::asked::{BilledRequest, Ground, Protocol, list};

/// Uses of a tool at the provider, where a request sets no bound.
const USES: u64 = 1;
/// Micro-dollars for one source of a live search.
const SOURCE: u64 = 25_000;
/// Sources, where a request sets no bound.
const SOURCES: u64 = 20;

pub(super) fn read(asked: &mut BilledRequest, body: &Value, ground: &Ground<'_>) {
    let tools = list(&body["tools"]).iter();
    let tools = tools.filter(|tool| at_the_provider(asked.protocol, tool));
    asked.searches = tools.map(|tool| tool["max_uses"].as_u64().unwrap_or(USES)).collect();
    if body["web_search_options"].is_object() {
        asked.searches.push(USES);
    }
    asked.searches.extend(list(&body["plugins"]).iter().map(|_| USES));
    if body["search_parameters"].is_object() && body["search_parameters"]["mode"] != "off" {
        let sources = body["search_parameters"]["max_search_results"].as_u64().unwrap_or(SOURCES);
        asked.extras.fees += sources * SOURCE;
        asked.pieces.push(ground.counted("sources", sources * ground.elsewhere.search / SOURCES));
    }
    // Whatever a server for tools has, and whatever lies in a container, is read.
    let servers = list(&body["mcp_servers"]).iter().map(|server| server["url"].as_str().unwrap_or("server"));
    let container = body["container"].as_str().or_else(|| body["container"]["id"].as_str());
    asked.pieces.extend(servers.chain(container).map(|name| ground.named(name)));
    let mut times = |permille: u64| asked.extras.permille = asked.extras.permille * permille / 1_000;
    match body["service_tier"].as_str() {
        Some("priority") => times(2_000),
        Some("flex") => times(500),
        _ => {}
    }
    if body["speed"] == "fast" {
        times(6_000);
    }
    if body["inference_geo"] == "us" {
        times(1_100);
    }
    let predicted = &body["prediction"]["content"];
    let predicted =
        predicted.as_str().into_iter().chain(list(predicted).iter().filter_map(|part| part["text"].as_str()));
    asked.lost = predicted.map(|text| ground.tokeniser.count(text)).sum();
}

/// Whether a tool runs at the provider and not at the client.
fn at_the_provider(protocol: Protocol, tool: &Value) -> bool {
    match protocol {
        Protocol::Gemini | Protocol::CountGemini => tool.as_object().is_some_and(|fields| {
            fields.keys().any(|name| !matches!(name.as_str(), "functionDeclarations" | "function_declarations"))
        }),
        _ => {
            let ours = ["computer", "text_editor_", "bash_", "str_replace_", "memory_", "local_shell", "apply_patch"];
            let kind = tool["type"].as_str().unwrap_or("function");
            !matches!(kind, "function" | "custom" | "namespace") && !ours.iter().any(|with| kind.starts_with(with))
        }
    }
}
