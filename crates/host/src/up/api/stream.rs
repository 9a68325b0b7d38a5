//! Streams of server-sent events, under the documents' names. Whoever comes back with the last id it saw goes on
//! from there: of one golem from its journal, of all from what the host remembers, and is told if that is not enough.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use utoipa::IntoParams;

use super::Reach;
use super::routes::{Problem, aside};
use crate::herald::Herald;
use crate::up::board::{Board, Frame};
use vault::Reader;

/// How often a listener is served: whatever came meanwhile goes out together.
const EVERY: Duration = Duration::from_millis(100);
/// Silence after which a comment is sent, so that dead connections are noticed.
const QUIET: u32 = 150;
const AT_ONCE: usize = 2_000;
/// Listeners at a time.
const LISTENERS: u64 = 256;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// Also what happens every tick.
    #[serde(default)]
    all: bool,
}

/// What happens to all golems, as it becomes durable.
#[utoipa::path(get, path = "/v1/events", params(Which, ("Last-Event-ID" = Option<String>, Header, description = "go on after this one")),
    responses((status = 200, description = "a stream of events", content_type = "text/event-stream", body = String)))]
pub(super) async fn events(State(reach): State<Reach>, Query(which): Query<Which>, headers: HeaderMap) -> Response {
    let board = Arc::clone(&reach.desk.board);
    // Numbers begin anew with each host; one that no host of this run has given is not gone on from.
    let from = last_id(&headers).and_then(|id| id.parse::<u64>().ok()).map_or(board.next(), |id| id.saturating_add(1));
    let from = if from > board.next() { 0 } else { from };
    serve(board, Listener { from, all: which.all, golem: None, begin: String::new() })
}

/// What happens to one golem, from any record of its journal on.
#[utoipa::path(get, path = "/v1/golems/{name}/events", params(("name" = String, Path), Which, ("Last-Event-ID" = Option<String>, Header, description = "go on after this record")),
    responses((status = 200, description = "a stream of events", content_type = "text/event-stream", body = String), (status = 404, description = "no such golem", body = Problem)))]
pub(super) async fn golem_events(
    State(reach): State<Reach>,
    Path(name): Path<String>,
    Query(which): Query<Which>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let board = Arc::clone(&reach.desk.board);
    let after = last_id(&headers).and_then(|id| {
        let (seq, index) = id.split_once('.')?;
        Some((seq.parse::<u64>().ok()?, index.parse::<u32>().ok()?))
    });
    // Taken before the journal is read: what comes meanwhile is in both, and goes out once.
    let from = board.next();
    let (home, golem) = (reach.home.clone(), name.clone());
    let begin = aside(move || {
        let Some(after) = after else { return home.golem(&golem).map(|_| (String::new(), (0, 0))) };
        let place = home.read_golem(&golem)?;
        let reader = Reader::open(&place.database())?;
        let (mut herald, mut text, mut last) = (Herald::before(&reader)?, String::new(), after);
        reader.replay(|record| {
            let mut index = 0;
            let told = herald.tell(&record, |told| {
                let here = (told.seq, index);
                index += 1;
                if here > after && (which.all || !told.message.is_routine()) {
                    let json = serde_json::to_string(&told).expect("a message is plain data");
                    push(&mut text, &format!("{}.{}", here.0, here.1), &json);
                }
                last = last.max(here);
            });
            told.map_err(|e| vault::Error::Damaged { what: e.to_string(), advice: "see `bardo doctor`" })
        })?;
        Ok((text, last))
    })
    .await?;
    let golem = Some((Arc::from(name.as_str()), begin.1));
    Ok(serve(board, Listener { from, all: which.all, golem, begin: begin.0 }))
}

fn last_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id").and_then(|value| value.to_str().ok())
}

struct Listener {
    from: u64,
    all: bool,
    /// Only of this golem, and only after this message of this record.
    golem: Option<(Arc<str>, (u64, u32))>,
    begin: String,
}

/// Counts a listener as long as it listens.
struct Seat(Arc<Board>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve(board: Arc<Board>, listener: Listener) -> Response {
    if board.listeners.fetch_add(1, Ordering::Relaxed) >= LISTENERS {
        board.listeners.fetch_sub(1, Ordering::Relaxed);
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too many listen already").into_response();
    }
    let seat = Seat(Arc::clone(&board));
    let chunks = stream::unfold((listener, seat, true), |(mut listener, seat, first)| async move {
        let mut text = std::mem::take(&mut listener.begin);
        if first {
            text.insert_str(0, "retry: 1000\n\n");
        }
        let mut quiet = 0;
        loop {
            listener.take(&seat.0, &mut text);
            if !text.is_empty() {
                return Some((Ok::<_, std::convert::Infallible>(Bytes::from(text)), (listener, seat, false)));
            }
            if !seat.0.wait(u64::MAX, Duration::ZERO) {
                return None;
            }
            quiet += 1;
            if quiet >= QUIET {
                return Some((Ok(Bytes::from_static(b": still here\n\n")), (listener, seat, false)));
            }
            tokio::time::sleep(EVERY).await;
        }
    });
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(chunks)).into_response()
}

impl Listener {
    /// Whatever there is for this listener by now.
    fn take(&mut self, board: &Board, text: &mut String) {
        let (frames, missed) = board.since(self.from, AT_ONCE);
        if missed {
            // The listener must look for itself what it has missed.
            text.push_str("event: gap\ndata: {\"reload\":true}\n\n");
        }
        for frame in &frames {
            if self.is_for(frame) {
                match self.golem {
                    Some(_) => push(text, &format!("{}.{}", frame.seq, frame.index), &frame.text),
                    None => push(text, &frame.number.to_string(), &frame.text_with_name()),
                }
            }
        }
        self.from = frames.last().map_or(self.from, |frame| frame.number + 1);
    }

    fn is_for(&self, frame: &Frame) -> bool {
        let theirs =
            self.golem.as_ref().is_none_or(|(name, after)| *name == frame.golem && (frame.seq, frame.index) > *after);
        theirs && (self.all || !frame.routine)
    }
}

/// One event as it goes over the wire; its name stands in its data.
fn push(text: &mut String, id: &str, json: &str) {
    let name = json.split_once("\"event\":\"").and_then(|(_, rest)| rest.split('"').next()).unwrap_or("message");
    text.push_str("id: ");
    text.push_str(id);
    text.push_str("\nevent: ");
    text.push_str(name);
    text.push_str("\ndata: ");
    text.push_str(json);
    text.push_str("\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_goes_out_under_its_name() {
        let mut text = String::new();
        push(&mut text, "7", r#"{"seq":7,"event":"mortality.dead","cause":"x"}"#);
        assert_eq!(
            text,
            "id: 7\nevent: mortality.dead\ndata: {\"seq\":7,\"event\":\"mortality.dead\",\"cause\":\"x\"}\n\n"
        );
    }
}
