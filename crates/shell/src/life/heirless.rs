//! Automatic heirs that could not be made. Each is tried again after a while, for as long as its predecessor is to have
//! one; how often it was tried, and when, is written down beside the dead, so that a host that restarts goes on with it.
//! That there is never a second heir is the treasury's to see to, which marks the first money of each.

use std::fs;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::durable;
use crate::home::GolemHome;

/// How long until an heir is tried again: after the first time, the second, the third, and each one from then on.
const AGAIN: [Duration; 4] =
    [Duration::from_secs(30), Duration::from_secs(120), Duration::from_secs(480), Duration::from_secs(3_600)];

/// How often an automatic heir could not be made, and when it was tried last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Heirless {
    tries: u32,
    /// Milliseconds since 1970 by the wall clock.
    last: i64,
}

impl Heirless {
    fn read(dead: &GolemHome) -> Option<Heirless> {
        serde_json::from_slice(&fs::read(dead.heirless_marker()).ok()?).ok()
    }

    fn pause(self) -> Duration {
        let nth = (self.tries.max(1) as usize - 1).min(AGAIN.len() - 1);
        AGAIN[nth]
    }

    /// The rest of the pause; a clock that was set back does not make it longer.
    fn left(self, now: i64) -> Duration {
        let gone = u64::try_from(now.saturating_sub(self.last)).unwrap_or(0);
        self.pause().saturating_sub(Duration::from_millis(gone))
    }

    /// Writes down that an heir could not be made. A try before its time, at the start of a host, does not count.
    pub(super) fn failed(dead: &GolemHome) {
        let now = dead.home().wall().now_ms();
        let before = Heirless::read(dead);
        // A time ahead of the clock was written down by a clock that was wrong.
        if before.is_some_and(|before| before.last <= now && !before.left(now).is_zero()) {
            return;
        }
        let heirless = Heirless { tries: before.map_or(0, |before| before.tries).saturating_add(1), last: now };
        let told = serde_json::to_vec(&heirless).expect("two numbers are plain data");
        if let Err(why) = durable::write(&dead.heirless_marker(), &told) {
            tracing::warn!(golem = dead.name.as_str(), %why, "its heir is tried again only at the next start");
        }
    }

    /// Forgets it: there is an heir, or there is to be none.
    pub(super) fn over(dead: &GolemHome) {
        let marker = dead.heirless_marker();
        if marker.exists() {
            let _ = fs::remove_file(marker);
        }
    }
}

/// How long until the heir of a dead golem is to be tried again; none if none is waited for. It is asked after a try, so a pause
/// that has run out means that the try could not be written down, and a whole pause is due.
pub fn again_in(dead: &GolemHome) -> Option<Duration> {
    let heirless = Heirless::read(dead)?;
    let left = heirless.left(dead.home().wall().now_ms());
    Some(if left.is_zero() { heirless.pause() } else { left })
}

/// The pause after a first try that could not be written down.
pub const FIRST_PAUSE: Duration = AGAIN[0];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_the_documents_and_a_clock_set_back_makes_none_longer() {
        let seconds = |tries| Heirless { tries, last: 0 }.pause().as_secs();
        assert_eq!([1, 2, 3, 4, 5, 1_000].map(seconds), [30, 120, 480, 3_600, 3_600, 3_600]);
        let twice = Heirless { tries: 2, last: 1_000_000 };
        assert_eq!(twice.left(1_000_000 + 20_000), Duration::from_secs(100));
        assert_eq!(twice.left(1_000_000 + 120_000), Duration::ZERO);
        assert_eq!(twice.left(5), Duration::from_secs(120));
    }
}
