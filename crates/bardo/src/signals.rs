//! What an owner signals to a process that runs.

use shell::Error;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Hands on each interrupt, termination and hang-up, and whether it was the last of these.
pub(crate) fn listen(mut heard: impl FnMut(bool) + Send + 'static) -> Result<(), Error> {
    listen_to_each(move |signal| heard(signal == SIGHUP))
}

/// Hands on each by its number.
pub(crate) fn listen_to_each(heard: impl FnMut(i32) + Send + 'static) -> Result<(), Error> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|why| Error::Host(format!("cannot listen for signals: {why}")))?;
    std::thread::spawn(move || signals.forever().for_each(heard));
    Ok(())
}
