//! Places for requests. Reading, ordering and going through journals each have places of their own, so that an order
//! finds one free however many requests read. A request that finds none for too long is refused before anything has
//! begun.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use shell::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::problem::Problem;

/// Places for requests that read.
const READING: usize = 8;
/// Places for orders.
const ORDERING: usize = 8;
/// Places for requests that go through a journal.
const PAGING: usize = 4;
/// Threads for all places.
pub(super) const THREADS: usize = READING + ORDERING + PAGING;
/// The longest that reading may take, and the longest that a request waits for a place.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub(super) struct Pools {
    reading: Arc<Semaphore>,
    ordering: Arc<Semaphore>,
    paging: Arc<Semaphore>,
}

impl Pools {
    pub(super) fn new() -> Pools {
        let places = |count| Arc::new(Semaphore::new(count));
        Pools { reading: places(READING), ordering: places(ORDERING), paging: places(PAGING) }
    }

    /// Runs work that only reads; a client that is turned away may ask again.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        let reading = async {
            let place = Arc::clone(&self.reading).acquire_owned().await;
            perform(place.ok(), work).await
        };
        let late = |_| Problem::busy("this took too long; ask again");
        timeout(PATIENCE, reading).await.map_err(late)?
    }

    /// Runs an order. It may wait for its turn and be turned away, but one that has begun is never given up.
    pub(super) async fn order<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        let place = timeout(PATIENCE, Arc::clone(&self.ordering).acquire_owned()).await;
        let full = |_| Problem::busy("too many orders at once; nothing was begun, try again");
        perform(place.map_err(full)?.ok(), work).await
    }

    /// Reads a piece of a journal, without a limit on the time it takes.
    pub(super) async fn page<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        perform(Arc::clone(&self.paging).acquire_owned().await.ok(), work).await
    }
}

/// Runs the work on a thread; its place is held until it is done, even if the client no longer waits.
async fn perform<T: Send + 'static>(
    place: Option<OwnedSemaphorePermit>,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(move || {
        let _place = place;
        work()
    });
    match done.await {
        Ok(done) => done.map_err(Problem::from),
        Err(_) => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the host is going down")),
    }
}
