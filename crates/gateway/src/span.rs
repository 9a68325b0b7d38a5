//! A call as a span, with the names that OpenTelemetry has for models. Nothing of what was asked or answered is in it.

use golem::Usdc;
use golem::call::How;
use tracing::{Span, debug_span, field};

use super::protocol::AgentProtocol;
use super::shape::AgentCall;
use super::usage::Usage;

/// Opens the span of a call, which ends when the call is dropped.
pub(super) fn begin(golem: &str, upstream: &mind::Upstream, asked: &AgentCall, tokens: u64) -> Span {
    let operation = operation(asked.protocol);
    debug_span!(
        "call",
        otel.name = format!("{operation} {}", upstream.model()),
        otel.kind = "client",
        otel.status_code = field::Empty,
        golem,
        gen_ai.operation.name = operation,
        gen_ai.provider.name = provider(upstream.name()),
        gen_ai.request.model = asked.model,
        gen_ai.response.model = upstream.model(),
        gen_ai.request.max_tokens = tokens,
        gen_ai.usage.input_tokens = field::Empty,
        gen_ai.usage.output_tokens = field::Empty,
        bardo.cost_micros = field::Empty,
        error.r#type = field::Empty,
    )
}

pub(super) fn settled(span: &Span, cost: Usdc, how: How, usage: Usage) {
    span.record("gen_ai.usage.input_tokens", usage.all_input());
    span.record("gen_ai.usage.output_tokens", usage.output);
    span.record("bardo.cost_micros", cost.as_micros());
    let wrong = match how {
        How::Told => return,
        How::Nothing => "not_reached",
        How::Cut => "cut",
        How::Lost => "lost",
    };
    span.record("error.type", wrong);
    span.record("otel.status_code", "ERROR");
}

/// Writes the span of a call that was refused.
pub(super) fn refused(golem: &str, asked: &AgentCall, code: &'static str) {
    let operation = operation(asked.protocol);
    let span = debug_span!(
        "refused",
        otel.name = format!("{operation} {}", asked.model),
        otel.status_code = "ERROR",
        golem,
        gen_ai.operation.name = operation,
        gen_ai.request.model = asked.model,
        error.r#type = code,
    );
    drop(span.entered());
}

fn operation(protocol: AgentProtocol) -> &'static str {
    if protocol == AgentProtocol::Embeddings { "embeddings" } else { "chat" }
}

/// The provider's name as it stands before the model's, or `other` where there is only an address.
fn provider(name: &str) -> &str {
    match name.split_once('/') {
        Some((provider, _)) if !provider.contains(':') => provider,
        _ => "other",
    }
}
