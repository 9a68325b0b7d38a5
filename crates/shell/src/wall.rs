//! The wall clock, for owners and their machines; a life has its own time in its records. A
//! simulation has one that stands still until it is moved.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use golem::world::Timing;
use golem::{Life, Time};

#[derive(Clone, Debug, Default)]
pub struct Wall {
    standing: Option<Arc<StoppedClock>>,
}

/// A clock that stands still until it is moved.
#[derive(Debug)]
struct StoppedClock {
    began: Instant,
    began_ms: i64,
    passed_nanos: AtomicU64,
}

impl Wall {
    /// A clock that stands still, at so many milliseconds since 1970, until it is moved.
    pub fn standing(at_ms: i64) -> Wall {
        let standing = StoppedClock { began: Instant::now(), began_ms: at_ms, passed_nanos: AtomicU64::new(0) };
        Wall { standing: Some(Arc::new(standing)) }
    }

    pub(crate) fn is_standing(&self) -> bool {
        self.standing.is_some()
    }

    /// Moves a clock that stands still.
    pub fn go_on(&self, by: Duration) {
        if let Some(standing) = &self.standing {
            standing.passed_nanos.fetch_add(by.as_nanos() as u64, Ordering::Relaxed);
        }
    }

    pub fn now(&self) -> Instant {
        self.standing.as_ref().map_or_else(Instant::now, |standing| standing.began + standing.passed())
    }

    /// Milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        match &self.standing {
            None => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64),
            Some(standing) => standing.began_ms + standing.passed().as_millis() as i64,
        }
    }

    /// Lets so much time pass, for a caller that has nothing else to do.
    pub fn sleep(&self, length: Duration) {
        match self.standing {
            None => std::thread::sleep(length),
            Some(_) => self.go_on(length),
        }
    }
}

impl StoppedClock {
    fn passed(&self) -> Duration {
        Duration::from_nanos(self.passed_nanos.load(Ordering::Relaxed))
    }
}

/// The time for this life: the wall clock's, if its world follows that, and otherwise that of its newest record.
pub fn now_of(life: &Life) -> Time {
    let by_wall = life.birth().world.timing == Timing::Wall;
    if by_wall { Time::millis(now_ms() as u64).max(life.now()) } else { life.now() }
}

/// Milliseconds since 1970 by the wall clock, for code that no simulation runs.
pub fn now_ms() -> i64 {
    Wall::default().now_ms()
}
