//! The wall clock, and whether it can be believed. A home writes down what it last took for the time, and how long the
//! machine had been up by then: from there it is known how much time has passed. A clock that is further ahead of that
//! than any sleep explains, or behind it, is reported and asked about; golems on the wall clock live the time that
//! passed, and not the leap.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::locks::lock;
use crate::{Error, durable};

/// A correction larger than any clock makes in passing.
const SLACK_MS: i64 = 300_000;
/// The longest a machine is off without its owner wondering about the time. While it is up, asleep or not, it says
/// itself how much time has passed: then only a correction is believed, and if a machine was stopped from outside, its
/// owner is asked.
const SLEEP_MS: i64 = 32 * 86_400_000;
/// How long a machine may take after its start to learn the time.
const LEARNS_MS: i64 = 600_000;
/// How often the believed time is written down.
const WRITTEN_EVERY_MS: i64 = 60_000;
/// How often the file is read for what other processes wrote.
const LOOK: Duration = Duration::from_secs(1);

/// The time that was last believed, in milliseconds since 1970, and how long this machine had been up by then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct BelievedTime {
    at_ms: i64,
    /// The boot of the machine it belongs to.
    boot: String,
    up_ms: i64,
}

/// The time of a home, as one process keeps it.
#[derive(Debug, Default)]
pub(crate) struct Clock(Mutex<ClockState>);

impl Clock {
    /// The time, by the wall clock and by this file; without a file, by the time of the last
    /// acknowledgement.
    pub(crate) fn time_ms(&self, file: &Path, wall_ms: i64, last_written: impl FnOnce() -> Option<i64>) -> i64 {
        let mut state = self.state();
        if state.looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
            let known = read(file).or_else(|| state.known.take());
            let first = || {
                last_written().filter(|at_ms| *at_ms <= wall_ms).map(|at_ms| BelievedTime {
                    at_ms,
                    boot: String::new(),
                    up_ms: 0,
                })
            };
            state.known = known.or_else(first);
            state.looked = Some(Instant::now());
        }
        let (boot, up_ms) = machine();
        state.look(file, wall_ms, (&boot, up_ms))
    }

    /// Why the wall clock was not believed at the last look, if it was not.
    pub(crate) fn trouble(&self, wall_ms: i64) -> Option<String> {
        let off_ms = self.state().off_ms;
        (off_ms != 0).then(|| told(wall_ms, off_ms))
    }

    /// News of the clock: the trouble, when it begins, and a word when it is over.
    pub(crate) fn news(&self, trouble: Option<String>) -> Option<String> {
        match (std::mem::replace(&mut self.state().told, trouble.is_some()), trouble) {
            (false, Some(why)) => Some(why),
            (true, None) => Some("this machine's clock is believed again".to_owned()),
            _ => None,
        }
    }

    /// Accepts the wall clock as right.
    pub(crate) fn believe(&self, file: &Path, wall_ms: i64) -> Result<(), Error> {
        let (boot, up_ms) = machine();
        let known = BelievedTime { at_ms: wall_ms, boot, up_ms };
        write(file, &known)?;
        *self.state() = ClockState { known: Some(known), ..ClockState::default() };
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, ClockState> {
        lock(&self.0)
    }
}

#[derive(Debug, Default)]
struct ClockState {
    known: Option<BelievedTime>,
    looked: Option<Instant>,
    /// The time at the last write of the file.
    written_ms: i64,
    /// How far the clock is ahead of what is believed.
    off_ms: i64,
    told: bool,
}

impl BelievedTime {
    /// The time, and how far the wall clock is ahead of it; zero, if it is believed.
    fn judge(&self, wall_ms: i64, boot: &str, up_ms: i64) -> (i64, i64) {
        // A machine that has been up for less than before has booted since, whatever it calls that boot.
        let same = self.boot == boot && up_ms >= self.up_ms;
        let passed = if same { up_ms - self.up_ms } else { 0 };
        // Many machines learn the time only a while after they start.
        let most = if same && up_ms > LEARNS_MS { SLACK_MS } else { SLEEP_MS };
        let expected = self.at_ms + passed;
        let off = wall_ms - expected;
        if (-SLACK_MS..=most).contains(&off) { (wall_ms, 0) } else { (expected, off) }
    }
}

impl ClockState {
    /// The time, after a look at the clock and at how long the machine has been up.
    fn look(&mut self, path: &Path, wall_ms: i64, (boot, up_ms): (&str, i64)) -> i64 {
        let (now_ms, off_ms) = self.known.as_ref().map_or((wall_ms, 0), |known| known.judge(wall_ms, boot, up_ms));
        let restarted = self.known.as_ref().is_none_or(|known| known.boot != boot || known.up_ms > up_ms);
        self.off_ms = off_ms;
        if off_ms == 0 || restarted {
            let known = BelievedTime { at_ms: now_ms, boot: boot.to_owned(), up_ms };
            if restarted || (now_ms - self.written_ms).abs() >= WRITTEN_EVERY_MS {
                // If it cannot be written, the copy in memory counts.
                let _ = write(path, &known);
                self.written_ms = now_ms;
            }
            self.known = Some(known);
        }
        now_ms
    }
}

fn told(wall_ms: i64, off_ms: i64) -> String {
    let date = jiff::Timestamp::from_millisecond(wall_ms).map(|at| at.strftime("%Y-%m-%d %H:%M").to_string());
    let how = if off_ms > 0 { "ahead of" } else { "behind" };
    let off = golem::Span::millis(off_ms.unsigned_abs());
    format!(
        "this machine's clock says {}, {off} {how} what can have passed here, and is not believed: golems go on by what has \
         passed. Set it right, or say `bardo clock --right` if it is",
        date.unwrap_or_else(|_| "nothing".to_owned())
    )
}

fn read(path: &Path) -> Option<BelievedTime> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn write(path: &Path, known: &BelievedTime) -> Result<(), Error> {
    durable::replace(path, &serde_json::to_vec(known).expect("plain data"))
}

/// The boot of this machine, and for how long it has been up since, asleep or not.
fn machine() -> (String, i64) {
    static BOOT: OnceLock<(Option<String>, Instant)> = OnceLock::new();
    let (boot, began) = BOOT.get_or_init(|| {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned());
        (boot.ok(), Instant::now())
    });
    let up = || -> Option<i64> {
        let uptime = fs::read_to_string("/proc/uptime").ok()?;
        let seconds: f64 = uptime.split_whitespace().next()?.parse().ok()?;
        Some((seconds * 1_000.0) as i64)
    };
    // Where the system does not say, the start of this process stands for it.
    let own = || (format!("process {}", std::process::id()), began.elapsed().as_millis() as i64);
    boot.clone().zip(up()).unwrap_or_else(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;
    const DAY: i64 = 24 * HOUR;
    const NOW: i64 = 20_000 * DAY;

    fn look(state: &mut ClockState, path: &Path, wall_ms: i64, boot: &str, up_ms: i64) -> (i64, i64) {
        (state.look(path, wall_ms, (boot, up_ms)) - NOW, state.off_ms)
    }

    #[test]
    fn what_a_sleep_explains_is_believed_and_a_leap_is_not_lived() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clock");
        let mut state = ClockState::default();
        assert_eq!(look(&mut state, &path, NOW, "a", HOUR), (0, 0), "the first time it is believed");
        assert_eq!(look(&mut state, &path, NOW + 9 * HOUR, "a", 10 * HOUR), (9 * HOUR, 0), "it was asleep");
        // A day ahead, and no day has passed.
        assert_eq!(look(&mut state, &path, NOW + 33 * HOUR, "a", 10 * HOUR), (9 * HOUR, 24 * HOUR));
        // Ten years ahead: an hour has passed, and an hour is lived.
        let ahead = NOW + 3_650 * DAY;
        let (time, off) = look(&mut state, &path, ahead, "a", 11 * HOUR);
        assert_eq!((time, off), (10 * HOUR, 3_650 * DAY - 10 * HOUR));
        // The same after another boot of the machine, of which it is not known how long it took.
        let mut next = ClockState { known: read(&path), ..ClockState::default() };
        assert_eq!(look(&mut next, &path, ahead, "b", HOUR).0, 9 * HOUR);
        assert_eq!(look(&mut next, &path, ahead + HOUR, "b", 2 * HOUR).0, 10 * HOUR);
        // Set right, it is believed without a word.
        assert_eq!(look(&mut next, &path, NOW + 11 * HOUR, "b", 3 * HOUR), (11 * HOUR, 0));
        // Behind, time goes on all the same.
        let (time, off) = look(&mut next, &path, NOW - 25 * HOUR, "b", 4 * HOUR);
        assert_eq!((time, off), (12 * HOUR, -37 * HOUR));
        assert_eq!(look(&mut next, &path, NOW + 12 * HOUR - 60_000, "b", 4 * HOUR).1, 0, "a minute is nothing");
        assert_eq!(look(&mut next, &path, NOW + 20 * DAY, "c", HOUR), (20 * DAY, 0), "it was off for three weeks");
        // One that calls each of its starts the same, and one that learns the time only after it.
        let mut same = ClockState::default();
        assert_eq!(look(&mut same, &path, NOW, "d", 300 * HOUR), (0, 0));
        assert_eq!(look(&mut same, &path, NOW + HOUR, "d", 60_000), (HOUR, 0));
        assert_eq!(look(&mut same, &path, NOW + 2 * DAY, "d", 120_000), (2 * DAY, 0), "it was asked of others");
    }
}
