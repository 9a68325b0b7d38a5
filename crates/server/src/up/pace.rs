//! Whether the host keeps the requested speed. A host that cannot keep it skips time that no golem looks at; its owner
//! should know.

use std::time::{Duration, Instant};

/// How long the pace is measured before anything is said.
const WATCHED: Duration = Duration::from_secs(30);
/// The share of the requested speed below which the owner is told, and above which all is well again.
const KEPT: f64 = 0.8;

#[derive(Debug)]
pub(super) struct Pace {
    since: Instant,
    /// Time that golems lived through, over all golems.
    lived: Duration,
    /// Time that was skipped.
    lost: Duration,
    slow: bool,
    /// The share of the requested speed that was kept when it was last measured.
    kept: Option<f64>,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Pace {
        Pace { since: now, lived: Duration::ZERO, lost: Duration::ZERO, slow: false, kept: None }
    }

    /// Notes a turn: the next comes an interval after the last was due, or so much later.
    pub(super) fn turn(&mut self, interval: Duration, late: Duration) {
        self.lived += interval;
        self.lost += late;
    }

    /// The share of the requested speed that was kept when it was last measured, from 0 to 1.
    pub(super) fn share_kept(&self) -> Option<f64> {
        self.kept
    }

    /// Returns the news to tell, if the pace has changed.
    pub(super) fn news(&mut self, now: Instant) -> Option<String> {
        if now < self.since + WATCHED {
            return None;
        }
        let all = (self.lived + self.lost).as_secs_f64();
        let share = if all > 0.0 { self.lived.as_secs_f64() / all } else { 1.0 };
        let was = self.slow;
        *self = Pace { slow: share < KEPT, kept: Some(share), ..Pace::new(now) };
        match (was, self.slow) {
            (false, true) => Some(format!(
                "running at about {:.0} % of the requested speed; run fewer golems or lower --speed",
                share * 100.0
            )),
            (true, false) => Some("the requested speed is kept again".to_owned()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_slow_is_said_once_and_so_is_that_it_is_over() {
        let now = Instant::now();
        let at = |seconds: u64| now + Duration::from_secs(seconds);
        let mut pace = Pace::new(now);
        pace.turn(Duration::from_secs(4), Duration::from_secs(6));
        assert_eq!((pace.news(at(29)), pace.share_kept()), (None, None));
        assert!(pace.news(at(30)).unwrap().contains("about 40 %"));
        assert_eq!(pace.share_kept(), Some(0.4), "4 seconds were lived of 10");
        pace.turn(Duration::from_secs(4), Duration::from_secs(6));
        assert_eq!(pace.news(at(60)), None, "it is known");
        pace.turn(Duration::from_secs(9), Duration::from_secs(1));
        assert!(pace.news(at(90)).unwrap().contains("kept again"));
        assert_eq!(pace.news(at(120)), None);
    }
}
