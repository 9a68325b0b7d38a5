//! Streams of server-sent events, under the documents' names. A client that comes back with the last id it saw goes on
//! from there: of one golem from its journal, of all from what the host remembers, and is told if that is not enough.
//!
//! Nothing is made before it can be sent: a journal is read piece by piece, each when the one before has been taken, so
//! a life of any length costs a listener no more than a page.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use serde::Deserialize;
use shell::view::board::{Board, Frame, named};
use shell::view::narrator::Narrator;
use shell::{Error, Home};
use utoipa::IntoParams;
use vault::{Bookmark, Reader};

use super::pools::Pools;
use super::problem::Problem;
use super::state::AppState;

/// How often a listener is served: messages that came meanwhile go out together.
const EVERY: Duration = Duration::from_millis(100);
/// Rounds without a message after which a comment is sent, so that dead connections are noticed.
const QUIET: u32 = 150;
/// Rounds without a message after which a golem that is listened to may have another name.
const RENAMED: u32 = 10;
/// Messages of the board that go out together.
const AT_ONCE: usize = 200;
/// About how many bytes of a journal are told at a time.
const PAGE: usize = 64 << 10;
/// The most records that are gone through for one piece.
const RECORDS: u64 = 4_096;
/// Records that are read at once.
const READ: u64 = 64;
/// Listeners at a time.
const LISTENERS: u64 = 256;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// Also the events of every tick.
    #[serde(default)]
    all: bool,
    /// Leave the name of each event to its data: what a browser calls EventSource hears everything only then.
    #[serde(default)]
    unnamed: bool,
    /// The last id that was seen, for clients that cannot send Last-Event-ID.
    after: Option<String>,
}

/// Stream the events of all golems, as they become durable.
#[utoipa::path(get, path = "/v1/events", params(Which, ("Last-Event-ID" = Option<String>, Header, description = "go on after this one")),
    responses((status = 200, description = "a stream of events; the JSON of each has its `topic`, whether it is `routine`, and its `gravity`: routine, notable, serious or grave", content_type = "text/event-stream", body = String)))]
pub(super) async fn events(State(app): State<AppState>, Query(which): Query<Which>, headers: HeaderMap) -> Response {
    let board = Arc::clone(&app.desk.board);
    // Numbers begin again with each host; a stream does not go on from one that this host has not given.
    let from =
        last_id(&headers, &which).and_then(|id| id.parse::<u64>().ok()).map_or(board.next(), |id| id.saturating_add(1));
    let from = if from > board.next() { 0 } else { from };
    let (all, unnamed) = (which.all, which.unnamed);
    serve(&app, StreamListener { from, began: from, all, unnamed, golem: None, after: None, past: None, full: false })
}

/// Stream the events of one golem, from any record of its journal on.
#[utoipa::path(get, path = "/v1/golems/{name}/events", params(("name" = String, Path), Which, ("Last-Event-ID" = Option<String>, Header, description = "go on after this record")),
    responses((status = 200, description = "a stream of events; the JSON of each has its `topic`, whether it is `routine`, and its `gravity`: routine, notable, serious or grave", content_type = "text/event-stream", body = String), (status = 404, description = "no such golem", body = Problem)))]
pub(super) async fn golem_events(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Query(which): Query<Which>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = last_id(&headers, &which).and_then(|id| {
        let (seq, index) = id.split_once('.')?;
        Some((seq.parse::<u64>().ok()?, index.parse::<u32>().ok()?))
    });
    let (home, golem) = (app.home.clone(), name.clone());
    app.pools.read(move || home.golem(&golem).map(|_| ())).await?;
    let golem: Arc<str> = Arc::from(name.as_str());
    let (from, all, unnamed) = (app.desk.board.next(), which.all, which.unnamed);
    let mut listener =
        StreamListener { from, began: from, all, unnamed, golem: Some(golem), after, past: None, full: false };
    listener.look_back(&app.home);
    Ok(serve(&app, listener))
}

/// The last id that the client saw: its header, which is newer, or else the id in the address.
fn last_id<'a>(headers: &'a HeaderMap, which: &'a Which) -> Option<&'a str> {
    headers.get("last-event-id").and_then(|value| value.to_str().ok()).or(which.after.as_deref())
}

struct StreamListener {
    /// The next message of the board.
    from: u64,
    /// The first one, for a golem of which nothing was sent yet.
    began: u64,
    all: bool,
    unnamed: bool,
    /// The only golem to tell of, if one is named.
    golem: Option<Arc<str>>,
    /// The last message of one golem that is known, by record and place in it.
    after: Option<(u64, u32)>,
    /// The part of its journal that is told first.
    past: Option<Box<Past>>,
    /// Whether the board has more messages ready.
    full: bool,
}

/// A journal that is being told, and how far.
struct Past {
    home: Home,
    name: Arc<str>,
    all: bool,
    unnamed: bool,
    after: (u64, u32),
    at: Option<(Narrator, Bookmark)>,
}

/// A piece of a journal.
struct Page {
    past: Box<Past>,
    text: String,
    /// Whether the journal has no more.
    ended: bool,
}

impl Past {
    /// Tells the next piece. At the beginning, and after an end that was not the end, it first makes sure that the file
    /// has everything.
    fn page(mut self: Box<Past>) -> Result<Page, Error> {
        let (mut text, after, all, unnamed) = (String::new(), self.after, self.all, self.unnamed);
        let place = self.home.golem(&self.name)?;
        let (mut narrator, mut bookmark) = match self.at.take() {
            Some(at) => at,
            None => {
                place.catch_up()?;
                // The rest of the record that was broken off in needs the life before it.
                let (golem, bookmark) = Reader::open(&place.database())?.before(after.0.saturating_sub(1))?;
                (golem.map_or_else(Narrator::new, Narrator::after), bookmark)
            }
        };
        let reader = Reader::open(&place.database())?;
        let (mut ended, mut read) = (false, 0);
        while !ended && text.len() < PAGE && read < RECORDS {
            ended = reader.read_on(&mut bookmark, READ, |record| {
                let mut index = 0;
                narrator.tell(&record, |told| {
                    let here = (told.seq, index);
                    index += 1;
                    if here > after && (all || !told.message.is_routine()) {
                        let json = serde_json::to_string(&told).expect("a message is plain data");
                        push(&mut text, &format!("{}.{}", here.0, here.1), &named(&self.name, &json), unnamed);
                    }
                    self.after = self.after.max(here);
                })
            })?;
            read += READ;
        }
        self.at = Some((narrator, bookmark));
        Ok(Page { past: self, text, ended })
    }
}

/// Keeps a listener counted as long as it listens.
struct ListenerGuard(Arc<Board>);

impl Drop for ListenerGuard {
    fn drop(&mut self) {
        self.0.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve(app: &AppState, listener: StreamListener) -> Response {
    let board = Arc::clone(&app.desk.board);
    if board.listeners.fetch_add(1, Ordering::Relaxed) >= LISTENERS {
        board.listeners.fetch_sub(1, Ordering::Relaxed);
        return Problem::busy("too many event streams are open already").into_response();
    }
    let (guard, pools) = (ListenerGuard(board), app.pools.clone());
    let home = app.home.clone();
    let begin = stream::once(async { Ok::<_, Infallible>(Bytes::from_static(b"retry: 1000\n\n")) });
    let chunks = stream::unfold((listener, guard), move |(mut listener, guard)| {
        let (home, pools) = (home.clone(), pools.clone());
        async move {
            let text = listener.next(&home, &pools, &guard.0).await?;
            Some((Ok(Bytes::from(text)), (listener, guard)))
        }
    });
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(begin.chain(chunks))).into_response()
}

impl StreamListener {
    /// Waits for the next text to send; `None` once nothing more will come.
    async fn next(&mut self, home: &Home, pools: &Pools, board: &Board) -> Option<String> {
        let mut quiet = 0;
        loop {
            let mut text = String::new();
            if let Some(past) = self.past.take() {
                // Where a journal cannot be read now the stream ends, and the client asks again.
                let page = pools.page(move || past.page()).await.ok()?;
                self.after = Some(page.past.after);
                text = page.text;
                if !page.ended {
                    self.past = Some(page.past);
                } else if board.since(self.from, 0).1 {
                    // Reading took longer than the board remembers: on from where it ended.
                    self.from = board.next();
                    self.past = Some(page.past);
                    let (home, name) = (home.clone(), self.golem.clone()?);
                    pools.page(move || home.read_golem(&name)).await.ok()?;
                }
            } else {
                if !std::mem::take(&mut self.full) {
                    tokio::time::sleep(EVERY).await;
                    quiet += 1;
                    if quiet % RENAMED == 0 && self.follow(home) {
                        // What its journal has comes before what the board has.
                        continue;
                    }
                }
                self.take(home, board, &mut text);
            }
            if !text.is_empty() {
                return Some(text);
            }
            if !board.wait(u64::MAX, Duration::ZERO) {
                return None;
            }
            if quiet >= QUIET {
                return Some(": still here\n\n".to_owned());
            }
        }
    }

    /// Goes on with the one golem under the name that it has been given meanwhile, from where its old name ended.
    /// Returns whether its journal is to be told first.
    fn follow(&mut self, home: &Home) -> bool {
        let Some(now) = self.golem.as_ref().and_then(|name| home.renamed_from(name)) else { return false };
        self.golem = Some(Arc::from(now.as_str()));
        if self.after.is_none() {
            self.from = self.began;
        }
        self.look_back(home);
        self.past.is_some()
    }

    /// Begins with the journal of the one golem, if it is known from where on.
    fn look_back(&mut self, home: &Home) {
        if let (Some(name), Some(after)) = (&self.golem, self.after) {
            let (name, all, unnamed) = (Arc::clone(name), self.all, self.unnamed);
            let past = Past { home: home.clone(), name, all, unnamed, after, at: None };
            self.past = Some(Box::new(past));
        }
    }

    /// Takes the messages that the board has for this listener by now.
    fn take(&mut self, home: &Home, board: &Board, text: &mut String) {
        let (frames, missed) = board.since(self.from, AT_ONCE);
        if missed && self.after.is_some() {
            self.from = board.next();
            self.look_back(home);
            return;
        }
        if missed {
            // The listener must look for itself what it has missed.
            text.push_str("event: gap\ndata: {\"reload\":true}\n\n");
        }
        for frame in &frames {
            if self.is_for(frame) {
                let id = match self.golem {
                    Some(_) => format!("{}.{}", frame.seq, frame.index),
                    None => frame.number.to_string(),
                };
                push(text, &id, &frame.text_with_name(), self.unnamed);
            }
            if self.golem.as_ref() == Some(&frame.golem) {
                self.after = Some((frame.seq, frame.index)).max(self.after);
            }
        }
        self.full = frames.len() == AT_ONCE;
        self.from = frames.last().map_or(self.from, |frame| frame.number + 1);
    }

    fn is_for(&self, frame: &Frame) -> bool {
        let theirs = self
            .golem
            .as_ref()
            .is_none_or(|name| *name == frame.golem && self.after.is_none_or(|after| (frame.seq, frame.index) > after));
        theirs && (self.all || !frame.routine)
    }
}

/// Writes an event as it goes over the wire; its name is taken from its data.
fn push(text: &mut String, id: &str, json: &str, unnamed: bool) {
    let name = json.split_once("\"event\":\"").and_then(|(_, rest)| rest.split('"').next()).unwrap_or("message");
    text.push_str("id: ");
    text.push_str(id);
    if !unnamed {
        text.push_str("\nevent: ");
        text.push_str(name);
    }
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
        push(&mut text, "7", r#"{"seq":7,"event":"mortality.dead","cause":"x"}"#, false);
        assert_eq!(
            text,
            "id: 7\nevent: mortality.dead\ndata: {\"seq\":7,\"event\":\"mortality.dead\",\"cause\":\"x\"}\n\n"
        );
    }
}
