//! The owner's signals, counted: while a program runs, and between the lives of a line.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use shell::Error;
use signal_hook::consts::SIGTERM;

use crate::signals;

#[derive(Debug, Default)]
pub(super) struct SignalCounts {
    keys: AtomicU32,
    ends: AtomicU32,
}

impl SignalCounts {
    /// Counts from here on, until this process ends.
    pub(super) fn listen() -> Result<Arc<SignalCounts>, Error> {
        let counts = Arc::<SignalCounts>::default();
        let theirs = Arc::clone(&counts);
        signals::listen_to_each(move |signal| {
            let count = if signal == SIGTERM { &theirs.ends } else { &theirs.keys };
            count.fetch_add(1, Ordering::SeqCst);
        })?;
        Ok(counts)
    }

    /// Interrupts and hang-ups.
    pub(super) fn keys(&self) -> u32 {
        self.keys.load(Ordering::SeqCst)
    }

    /// Terminations.
    pub(super) fn ends(&self) -> u32 {
        self.ends.load(Ordering::SeqCst)
    }

    /// How often its owner has asked for an end.
    pub(super) fn presses(&self) -> u32 {
        self.keys() + self.ends()
    }
}
