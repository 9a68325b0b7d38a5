//! Signals that stop a command which otherwise runs for ever.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use shell::Error;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit code after a second signal.
const INTERRUPTED: i32 = 130;

/// A flag that is set by the first signal to stop, so that work under way can be finished; a second signal ends the
/// process. SIGHUP is ignored.
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
