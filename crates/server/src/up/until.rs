//! The signal for threads beside the loop to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A signal to end: at the next pause, because other threads take over, or at once, because the host goes down.
#[derive(Clone, Debug, Default)]
pub(super) struct Until {
    pub(super) pause: Arc<AtomicBool>,
    pub(super) now: Arc<AtomicBool>,
}

impl Until {
    pub(super) fn is_over(&self) -> bool {
        self.pause.load(Ordering::SeqCst) || self.now.load(Ordering::SeqCst)
    }
}
