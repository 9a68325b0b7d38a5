//! Taking in the bodies of calls: all clients share so much room for what has not been passed on yet, and a client that
//! stops in the middle loses its part soon. Large calls have a room of their own, so that none of them keeps a small
//! one waiting.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::StatusCode;
use futures_util::TryStreamExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use super::refusal::Refusal;

/// The largest call: a few pictures.
const LARGEST: usize = 32 << 20;
/// The largest small call. A longer one is large, and so is one that does not say how long it is.
const SMALL: usize = 1 << 20;
/// Room for all calls that have come and were not passed on, in KiB: the small ones, and the large ones.
const FOR_SMALL: usize = 48 << 10;
const FOR_LARGE: usize = 64 << 10;
/// How long a call may take to arrive, and how long it may stop on the way.
const ARRIVES: Duration = Duration::from_secs(60);
const STOPS: Duration = Duration::from_secs(4);
/// How long a call waits for others to make room.
const MAKES_ROOM: Duration = Duration::from_secs(15);
/// Values in one call: each takes far more room once it is read than it did as text.
const VALUES: usize = 400_000;

#[derive(Debug)]
pub(super) struct Bodies {
    small: Arc<Semaphore>,
    large: Arc<Semaphore>,
}

/// A body as it was sent, and its room until it has been passed on.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) bytes: Vec<u8>,
    pub(super) room: OwnedSemaphorePermit,
}

impl Bodies {
    pub(super) fn new() -> Bodies {
        let room = |pages| Arc::new(Semaphore::new(pages));
        Bodies { small: room(FOR_SMALL), large: room(FOR_LARGE) }
    }

    /// Takes in a whole body, or says why it was not taken.
    pub(super) async fn take(&self, body: Body) -> Result<Sent, Refusal> {
        let too_large = || Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "large", "the call is larger than 32 MB");
        let said = body.size_hint().exact().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        if said.is_some_and(|bytes| bytes > LARGEST) {
            return Err(too_large());
        }
        // A body that says how long it is gets all its room at once, and never waits for more with some of it taken.
        let rooms = if said.is_some_and(|bytes| bytes <= SMALL) { &self.small } else { &self.large };
        let room = make_room(rooms, said.unwrap_or(1)).await?;
        let (mut chunks, until) = (body.into_data_stream(), Instant::now() + ARRIVES);
        let mut sent = Sent { bytes: Vec::with_capacity(said.unwrap_or(0)), room };
        loop {
            let late = |_| Refusal::new(StatusCode::REQUEST_TIMEOUT, "slow", "the call took too long to arrive");
            let chunk = timeout_at(until.min(Instant::now() + STOPS), chunks.try_next()).await.map_err(late)?;
            let cut = |_| Refusal::new(StatusCode::BAD_REQUEST, "cut", "the call did not arrive whole");
            let Some(chunk) = chunk.map_err(cut)? else { break };
            if sent.bytes.len() + chunk.len() > LARGEST {
                return Err(too_large());
            }
            if said.is_none() {
                sent.room.merge(make_room(rooms, chunk.len()).await?);
            }
            sent.bytes.extend_from_slice(&chunk);
        }
        if values(&sent.bytes) > VALUES {
            let message = format!("the call has more than {VALUES} values in it");
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "large", message));
        }
        Ok(sent)
    }
}

async fn make_room(rooms: &Arc<Semaphore>, bytes: usize) -> Result<OwnedSemaphorePermit, Refusal> {
    let pages = u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX);
    let room = timeout(MAKES_ROOM, Arc::clone(rooms).acquire_many_owned(pages)).await;
    let full = || {
        let message = "too much is being sent to this gateway at the moment";
        Refusal { again: Some(2), ..Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "full", message) }
    };
    room.map_err(|_| full())?.map_err(|_| full())
}

/// Commas and colons that stand in no text: about as many as there are values.
fn values(json: &[u8]) -> usize {
    let (mut count, mut inside, mut escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b',' | b'[' | b'{' if !inside => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use futures_util::{StreamExt, stream};

    use super::*;

    /// A body of so many bytes that never comes to its end, and does not say how long it is.
    fn held(bytes: usize) -> Body {
        let begun = stream::iter([Ok::<_, std::io::Error>(Bytes::from(vec![b' '; bytes]))]);
        Body::from_stream(begun.chain(stream::pending()))
    }

    /// Forty bodies held one byte short had all the room there was, and every call after them waited for it.
    #[test]
    fn small_calls_come_in_while_large_ones_take_all_their_room() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let bodies = Arc::new(Bodies::new());
            let large = (0..8).map(|_| {
                let bodies = Arc::clone(&bodies);
                tokio::spawn(async move { bodies.take(held(16 << 20)).await.map(|_| ()) })
            });
            let large: Vec<_> = large.collect();
            tokio::task::yield_now().await;
            let began = Instant::now();
            let small = bodies.take(Body::from("{}")).await.unwrap();
            assert!(small.bytes == b"{}" && began.elapsed() < Duration::from_secs(1));
            assert_eq!(bodies.large.available_permits(), 0, "the others have all of theirs");
            large.into_iter().for_each(|held| held.abort());
            let huge = bodies.take(Body::from(vec![b' '; LARGEST + 1])).await.unwrap_err();
            assert_eq!(huge.status, StatusCode::PAYLOAD_TOO_LARGE);
        });
    }

    #[test]
    fn values_are_counted_and_what_stands_in_texts_is_not() {
        assert_eq!(values(br#"{"a":[1,2],"b":"x,y,\",,"}"#), 1 + 2 + 2);
        assert_eq!(values(b""), 1);
    }
}
