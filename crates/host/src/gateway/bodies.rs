//! Taking in what is sent: all callers together have so much room for what has not been passed on yet, and whoever stops in the
//! middle gives its own back soon.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use futures_util::TryStreamExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use super::refusal::Refusal;

/// The largest call: a few pictures.
const LARGEST: usize = 32 << 20;
/// What all that has come and was not passed on may take, in KiB.
const ROOM: usize = 96 << 10;
/// How long a call may take to arrive, and how long it may stop on the way.
const ARRIVES: Duration = Duration::from_secs(60);
const STOPS: Duration = Duration::from_secs(4);
/// How long it is waited for others to make room.
const MAKES_ROOM: Duration = Duration::from_secs(15);
/// Values in one call: each takes far more room once it is read than it did as text.
const VALUES: usize = 400_000;

#[derive(Debug)]
pub(super) struct Bodies(Arc<Semaphore>);

/// What was sent, and its room until it has been passed on.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) bytes: Vec<u8>,
    pub(super) room: OwnedSemaphorePermit,
}

impl Bodies {
    pub(super) fn new() -> Bodies {
        Bodies(Arc::new(Semaphore::new(ROOM)))
    }

    async fn room(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Refusal> {
        let pages = u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        let room = timeout(MAKES_ROOM, Arc::clone(&self.0).acquire_many_owned(pages)).await;
        let full = || {
            let message = "too much is being sent to this gateway at the moment";
            Refusal { again: Some(2), ..Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "full", message) }
        };
        room.map_err(|_| full())?.map_err(|_| full())
    }

    /// All of a body, or why it was not taken in.
    pub(super) async fn take(&self, body: Body) -> Result<Sent, Refusal> {
        let (mut chunks, until) = (body.into_data_stream(), Instant::now() + ARRIVES);
        let mut sent = Sent { bytes: Vec::new(), room: self.room(1).await? };
        loop {
            let late = |_| Refusal::new(StatusCode::REQUEST_TIMEOUT, "slow", "the call took too long to arrive");
            let chunk = timeout_at(until.min(Instant::now() + STOPS), chunks.try_next()).await.map_err(late)?;
            let cut = |_| Refusal::new(StatusCode::BAD_REQUEST, "cut", "the call did not arrive whole");
            let Some(chunk) = chunk.map_err(cut)? else { break };
            if sent.bytes.len() + chunk.len() > LARGEST {
                return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "large", "the call is larger than 32 MB"));
            }
            sent.room.merge(self.room(chunk.len()).await?);
            sent.bytes.extend_from_slice(&chunk);
        }
        if values(&sent.bytes) > VALUES {
            let message = format!("the call has more than {VALUES} values in it");
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "large", message));
        }
        Ok(sent)
    }
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
    use super::*;

    #[test]
    fn values_are_counted_and_what_stands_in_texts_is_not() {
        assert_eq!(values(br#"{"a":[1,2],"b":"x,y,\",,"}"#), 1 + 2 + 2);
        assert_eq!(values(b""), 1);
    }
}
