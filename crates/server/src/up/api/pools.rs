//! Who waits for whom. Reading, ordering and going through journals each have places of their own, so that however
//! many read, an order finds one free. Whoever finds none for too long is told so before anything has begun.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use shell::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::problem::Problem;

/// Places for those who read.
const READING: usize = 8;
/// Places for those who order.
const ORDERING: usize = 8;
/// Places for those who go through a journal.
const PAGING: usize = 4;
/// Threads for all of them.
pub(super) const THREADS: usize = READING + ORDERING + PAGING;
/// The longest that reading may take, and the longest that anyone waits for a place.
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

    /// Something that is only read; whoever asks may do so again.
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

    /// Something that is done. It may wait for its turn and be turned away, but what has begun is never given up.
    pub(super) async fn order<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        let place = timeout(PATIENCE, Arc::clone(&self.ordering).acquire_owned()).await;
        let full = |_| Problem::busy("too many order at once; nothing was begun, try again");
        perform(place.map_err(full)?.ok(), work).await
    }

    /// A piece of a journal, for somebody who has all the time in the world.
    pub(super) async fn page<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        perform(Arc::clone(&self.paging).acquire_owned().await.ok(), work).await
    }
}

/// The place is held until the work is done, whether or not anyone still waits for it.
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
