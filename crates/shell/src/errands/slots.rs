//! The runtime of errands: one for everything that takes its time outside, with so many slots for each provider, so
//! that a provider that hangs takes its own slots and no others.
//!
//! The runtime is started with the first errand. Most golems live in worlds that answer at once and never need it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use crate::Error;
use crate::locks::lock;

/// Calls to one provider of worlds at once.
const SLOTS: usize = 128;
/// Calls that block a thread, to all providers together.
const THREADS: usize = 512;

/// How long a thread that is done looks whether there is more to do.
const LINGERS: Duration = Duration::from_micros(500);

/// Whether an errand's turn came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnCame {
    Now,
    Never,
}

#[derive(Default)]
pub(crate) struct Errands {
    runtime: OnceLock<Runtime>,
    slots: Mutex<BTreeMap<String, Arc<Semaphore>>>,
    /// Errands that wait to be run, in a simulation, where nothing runs by itself.
    waiting: Option<Mutex<Vec<Work>>>,
}

type Work = Box<dyn FnOnce() + Send>;

impl Errands {
    pub(super) fn waiting() -> Errands {
        let (runtime, slots) = (OnceLock::new(), Mutex::default());
        Errands { runtime, slots, waiting: Some(Mutex::default()) }
    }

    pub(super) fn how_many_wait(&self) -> usize {
        let waiting = self.waiting.as_ref().map(lock);
        waiting.map_or(0, |waiting| waiting.len())
    }

    pub(super) fn forget_waiting(&self) {
        if let Some(waiting) = &self.waiting {
            lock(waiting).clear();
        }
    }

    pub(super) fn run_waiting(&self, nth: usize) {
        let waiting = self.waiting.as_ref().expect("nothing runs by itself here");
        let work = lock(waiting).remove(nth);
        work();
    }
}

impl Errands {
    /// Does this on a thread of its own as soon as the provider has a slot free.
    pub(crate) fn run(&self, provider: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
        self.run_within(provider, SLOTS, None, |_| work())
    }

    /// Runs an errand for a provider with so many slots. The first to come is served first; an errand without a slot
    /// for this long is told so instead.
    pub(crate) fn run_within(
        &self,
        provider: &str,
        most: usize,
        patience: Option<Duration>,
        work: impl FnOnce(TurnCame) + Send + 'static,
    ) -> Result<(), Error> {
        if let Some(waiting) = &self.waiting {
            lock(waiting).push(Box::new(|| work(TurnCame::Now)));
            return Ok(());
        }
        let runtime = self.runtime()?;
        let slots = {
            let mut all = lock(&self.slots);
            Arc::clone(all.entry(provider.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(most.max(1)))))
        };
        let handle = runtime.handle().clone();
        runtime.spawn(async move {
            let slot = slots.acquire_owned();
            let slot = match patience {
                Some(patience) => tokio::time::timeout(patience, slot).await.ok(),
                None => Some(slot.await),
            };
            handle.spawn_blocking(move || match slot {
                Some(slot) => {
                    work(TurnCame::Now);
                    drop(slot);
                }
                None => work(TurnCame::Never),
            });
        });
        Ok(())
    }

    /// How long a thread that is done looks whether there is more to do; zero in a simulation.
    pub(super) fn lingers(&self) -> Duration {
        if self.waiting.is_some() {
            return Duration::ZERO;
        }
        LINGERS
    }

    fn runtime(&self) -> Result<&Runtime, Error> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let built = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(THREADS)
            .thread_name("errand")
            .enable_time()
            .build()
            .map_err(|e| Error::Host(format!("no threads can be started for errands: {e}")))?;
        // If another thread was quicker, its runtime is used.
        Ok(self.runtime.get_or_init(|| built))
    }
}

impl Drop for Errands {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Calls under way are asked about at the next start.
            runtime.shutdown_background();
        }
    }
}

impl std::fmt::Debug for Errands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Errands").field("started", &self.runtime.get().is_some()).finish_non_exhaustive()
    }
}
