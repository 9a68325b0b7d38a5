//! The log line of a request: its method and route, how it was answered and how long that took. Never an address as it
//! was typed, a header or a body, so that no token and nothing an owner wrote gets into a log.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use gateway::door::Peer;
use tracing::field::Empty;
use tracing::{Instrument, debug, debug_span, info, warn};

use super::guard::{Holder, OPEN};

pub(super) async fn watch(request: Request, next: Next) -> Response {
    let began = Instant::now();
    let (reads, method) = (request.method().is_safe(), request.method().to_string());
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route = matched.as_ref().map_or("none", MatchedPath::as_str);
    // An order is logged with its token's name, the client's address and the golem. What is not a golem's name is left
    // out.
    let from = request.extensions().get::<Peer>().map(|peer| peer.0.ip().to_string()).unwrap_or_default();
    let golem = named(request.uri().path()).unwrap_or_default();
    let span = debug_span!("request", method, route, status = Empty);
    let answer = next.run(request).instrument(span.clone()).await;
    let by = answer.extensions().get::<Holder>().map_or("nobody", |holder| holder.0.as_str()).to_owned();
    let (code, ms) = (answer.status(), began.elapsed().as_millis() as u64);
    let status = code.as_u16();
    span.record("status", status);
    // Probes and screens ask all day long; orders, refusals and sign-ins are news.
    let usual = OPEN.contains(&route) && route != "/v1/session";
    if usual || (reads && code.is_success()) {
        debug!(method, route, status, ms, "asked");
    } else if code.is_server_error() {
        warn!(method, route, golem, by, from, status, ms, "could not be answered");
    } else {
        info!(method, route, golem, by, from, status, ms, "asked");
    }
    answer
}

/// The golem a path is about, if it can be one.
fn named(path: &str) -> Option<String> {
    let name: golem::Name = path.strip_prefix("/v1/golems/")?.split('/').next()?.parse().ok()?;
    Some(name.to_string())
}
