//! OpenTelemetry spans with `gen_ai` names, as a collector writes them to a file: a line for each batch. A life is a talk
//! (`gen_ai.conversation.id`), or a trace without such a name. Spans come in any order, so they wait for the end.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use serde::Deserialize;
use tariff::Tokens;

use crate::growing::Growing;
use crate::lines::{Lines, Taken, each_line};
use crate::record::Harness;
use crate::shelf::{Shelf, named};
use crate::tool::ToolUse;

/// Spans that wait at most; with more than that it is several files.
const MOST: usize = 2_000_000;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Batch {
    resource_spans: Vec<Resource>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Resource {
    scope_spans: Vec<Scope>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Scope {
    spans: Vec<Raw>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Raw {
    trace_id: String,
    span_id: String,
    start_time_unix_nano: Number,
    attributes: Vec<Attribute>,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    code: u8,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Attribute {
    key: String,
    value: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Value {
    string_value: Option<String>,
    int_value: Option<Number>,
    double_value: Option<f64>,
}

/// A whole number, which JSON of spans writes as a text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Number {
    Text(String),
    Plain(u64),
}

impl Default for Number {
    fn default() -> Number {
        Number::Plain(0)
    }
}

impl Number {
    fn get(&self) -> u64 {
        match self {
            Number::Text(text) => text.parse().unwrap_or(0),
            Number::Plain(number) => *number,
        }
    }
}

/// The part of a span that is kept until all are there.
#[derive(Debug)]
enum SpanPart {
    Asked { model: String, tokens: Option<Tokens> },
    Used { tool: ToolUse },
}

#[derive(Debug)]
struct Waits {
    at: i64,
    name: u64,
    failed: bool,
    kept: SpanPart,
}

/// Reads a file of spans.
pub fn read_spans(shelf: &mut Shelf<'_>, from: impl BufRead) -> io::Result<()> {
    let mut lines = Lines { files: 1, ..Lines::default() };
    let (mut talks, mut many) = (BTreeMap::<String, Vec<Waits>>::new(), 0);
    let read = each_line(from, &mut lines, |line| {
        let Ok(batch) = serde_json::from_slice::<Batch>(line) else { return Taken::Unreadable };
        let scopes = batch.resource_spans.iter().flat_map(|resource| &resource.scope_spans);
        let mut taken = Taken::Unknown;
        for span in scopes.flat_map(|scope| &scope.spans) {
            if let Some((talk, waits)) = keep(span).filter(|_| many < MOST) {
                many += 1;
                taken = Taken::Known;
                talks.entry(talk).or_default().push(waits);
            }
        }
        taken
    });
    talks.into_iter().for_each(|(talk, spans)| live(shelf, &talk, spans));
    shelf.count(Harness::Spans, lines);
    read
}

fn keep(span: &Raw) -> Option<(String, Waits)> {
    let text =
        |name: &str| span.attributes.iter().find(|of| of.key == name).and_then(|of| of.value.string_value.as_deref());
    let number = |name: &str| {
        let value = &span.attributes.iter().find(|of| of.key == name)?.value;
        value.int_value.as_ref().map(Number::get).or(value.double_value.map(|number| number.max(0.0) as u64))
    };
    let first = |names: &[&str]| names.iter().find_map(|name| number(name));
    let kept = match text("gen_ai.operation.name")? {
        "chat" | "text_completion" | "generate_content" => {
            let all = first(&["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"]);
            let output = first(&["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"]);
            let cached = first(&["gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"]);
            let written =
                first(&["gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens"]);
            // By the convention what has to do with a cache is part of what goes in.
            let tokens = all.zip(output).map(|(all, output)| {
                let write_5m = written.unwrap_or(0).min(all);
                let cached = cached.unwrap_or(0).min(all - write_5m);
                Tokens { input: all - write_5m - cached, output, cached, write_5m, write_1h: 0, thought: 0 }
            });
            let model = text("gen_ai.response.model").or(text("gen_ai.request.model")).unwrap_or_default();
            let maker = text("gen_ai.provider.name").or(text("gen_ai.system"));
            let model = maker.map_or_else(|| model.to_owned(), |maker| format!("{}/{model}", provider(maker)));
            SpanPart::Asked { model, tokens }
        }
        "execute_tool" => {
            let told = text("gen_ai.tool.call.arguments").unwrap_or(&span.span_id);
            SpanPart::Used { tool: ToolUse::new(text("gen_ai.tool.name").unwrap_or_default(), told.as_bytes()) }
        }
        _ => return None,
    };
    let talk = text("gen_ai.conversation.id").map_or_else(|| span.trace_id.clone(), str::to_owned);
    let at = i64::try_from(span.start_time_unix_nano.get() / 1_000_000).unwrap_or(0);
    let failed = span.status.code == 2 || text("error.type").is_some();
    Some((talk, Waits { at, name: named(&[&span.trace_id, &span.span_id]), failed, kept }))
}

/// As the convention calls it, and the price book.
fn provider(maker: &str) -> &str {
    match maker {
        "gcp.gemini" | "gcp.gen_ai" | "google" | "gcp.vertex_ai" => "gemini",
        "mistral_ai" => "mistral",
        "x_ai" => "xai",
        other => other,
    }
}

fn live(shelf: &mut Shelf<'_>, talk: &str, mut spans: Vec<Waits>) {
    spans.sort_by_key(|span| (span.at, span.name));
    let mut growing = Growing::new(Harness::Spans, talk, None);
    for span in spans.into_iter().filter(|span| shelf.is_new(span.name)) {
        growing.at(span.at);
        match span.kept {
            SpanPart::Asked { model, tokens } => {
                let call = growing.call(Some(span.name), span.at);
                if let Some(tokens) = tokens {
                    growing.used(call, &model, &tokens);
                }
                if span.failed {
                    growing.broke();
                }
            }
            SpanPart::Used { tool } => {
                let Some(call) = growing.calls().checked_sub(1) else { continue };
                growing.tool(call, span.name, &tool);
                growing.result(span.name, Some(span.failed));
            }
        }
    }
    shelf.put(growing);
}
