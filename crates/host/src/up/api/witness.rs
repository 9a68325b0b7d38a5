//! What the log says of a request: how it was asked, of which route, how it was answered and how long that took. Never
//! an address as it was typed, a header or a body, so that no token and nothing an owner wrote gets into a log.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use tracing::field::Empty;
use tracing::{Instrument, debug, debug_span, info, warn};

use super::guard::OPEN;

pub(super) async fn watch(request: Request, next: Next) -> Response {
    let began = Instant::now();
    let (reads, method) = (request.method().is_safe(), request.method().to_string());
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route = matched.as_ref().map_or("none", MatchedPath::as_str);
    let span = debug_span!("request", method, route, status = Empty);
    let answer = next.run(request).instrument(span.clone()).await;
    let (code, ms) = (answer.status(), began.elapsed().as_millis() as u64);
    let status = code.as_u16();
    span.record("status", status);
    // Probes and screens ask all day long; orders and refusals are news.
    if OPEN.contains(&route) || (reads && code.is_success()) {
        debug!(method, route, status, ms, "asked");
    } else if code.is_server_error() {
        warn!(method, route, status, ms, "could not be answered");
    } else {
        info!(method, route, status, ms, "asked");
    }
    answer
}
