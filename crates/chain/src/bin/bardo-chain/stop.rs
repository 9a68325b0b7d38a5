//! How a command that goes on until it is told otherwise is told.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use shell::Error;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// What it ends with where it is told twice.
const INTERRUPTED: i32 = 130;

/// Whether somebody has said that this is to end; what is under way may be finished first, unless they say it again. A
/// terminal that is gone says nothing.
pub(crate) fn told_to_stop() -> Result<Arc<AtomicBool>, Error> {
    let deaf = |why| Error::Host(format!("cannot listen for signals: {why}"));
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal only sets what the second then finds.
        flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&stop)).map_err(deaf)?;
        flag::register(signal, Arc::clone(&stop)).map_err(deaf)?;
    }
    flag::register(SIGHUP, Arc::default()).map_err(deaf)?;
    Ok(stop)
}
