//! Messages to systemd from a service of `Type=notify`: that it is up, that it still is, and that it goes down. Without
//! systemd nothing is sent.

use std::env;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

/// A socket address that is not a file; only Linux has them.
#[cfg(target_os = "linux")]
fn abstractly(name: &[u8]) -> Option<SocketAddr> {
    <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name).ok()
}

#[cfg(not(target_os = "linux"))]
fn abstractly(_: &[u8]) -> Option<SocketAddr> {
    None
}

#[derive(Debug)]
pub(super) struct Systemd {
    socket: Option<(UnixDatagram, SocketAddr)>,
    every: Option<Duration>,
    last: Instant,
}

impl Systemd {
    /// Finds systemd's socket and watchdog in the environment.
    pub(super) fn find() -> Systemd {
        let address = env::var_os("NOTIFY_SOCKET").and_then(|path| match path.as_bytes() {
            [b'@', name @ ..] => abstractly(name),
            _ => SocketAddr::from_pathname(&path).ok(),
        });
        let ours = env::var("WATCHDOG_PID").map_or(true, |pid| pid == std::process::id().to_string());
        let span = env::var("WATCHDOG_USEC").ok().and_then(|micros| micros.parse().ok()).filter(|_| ours);
        Systemd {
            socket: address.and_then(|address| Some((UnixDatagram::unbound().ok()?, address))),
            // Twice within the span, so that a late one does no harm.
            every: span.map(|micros: u64| Duration::from_micros(micros / 2)),
            last: Instant::now(),
        }
    }

    pub(super) fn say(&self, what: &str) {
        if let Some((socket, address)) = &self.socket {
            let _ = socket.send_to_addr(what.as_bytes(), address);
        }
    }

    /// Tells the watchdog that the loop is alive; the loop itself calls this, so one that hangs falls silent.
    pub(super) fn beat(&mut self) {
        if self.every.is_some_and(|every| self.last.elapsed() >= every) {
            self.last = Instant::now();
            self.say("WATCHDOG=1");
        }
    }

    /// The time until the watchdog must hear from the loop again.
    pub(super) fn next_beat(&self) -> Option<Duration> {
        self.every.map(|every| every.saturating_sub(self.last.elapsed()))
    }
}
