//! The state of regimes: the present one, and the levels it was read from.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::page_hinkley::{PageHinkley, Settings};
use crate::laws::Laws;
use crate::time::Time;

/// The share of the usual level below which the world is calm.
const CALM: f64 = 0.75;

/// The share of the usual level above which the world is unsettled.
const UNSETTLED: f64 = 1.5;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Regime {
    Calm,
    #[default]
    Usual,
    Unsettled,
}

/// The present regime and the levels it was read from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regimes {
    pub now: Regime,
    /// When the present regime began.
    pub since: Time,
    /// Ticks lived in each.
    pub met: [u64; 3],
    /// The usual level.
    pub usual: f64,
    /// The recent level.
    pub recent: f64,
    /// Looks at the level so far.
    pub looks: f64,
    pub detector: PageHinkley,
}

impl Regimes {
    pub(crate) fn new(at: Time, laws: Option<&Laws>) -> Regimes {
        let detector = PageHinkley::new(laws.map_or_else(Settings::default, |laws| laws.regime));
        Regimes { now: Regime::Usual, since: at, met: [0; 3], usual: 0.0, recent: 0.0, looks: 0.0, detector }
    }

    /// Takes in one more look at the level. Calculates, and decides nothing.
    pub(crate) fn observe(&mut self, level: f64, laws: &Laws) {
        let level = level.abs();
        self.looks += 1.0;
        self.usual += (level - self.usual) / self.looks.min(laws.regime_usual);
        self.recent += (level - self.recent) / self.looks.min(laws.regime_recent);
        if self.usual > 0.0 {
            self.detector.observe((level / self.usual).min(laws.regime_highest));
        }
    }

    pub(crate) fn change(&mut self, to: Regime, at: Time) {
        self.now = to;
        self.since = at;
        self.detector.reset();
    }

    /// The kind of regime the recent level speaks of.
    pub fn kind(&self) -> Regime {
        if self.recent < CALM * self.usual {
            Regime::Calm
        } else if self.recent > UNSETTLED * self.usual {
            Regime::Unsettled
        } else {
            Regime::Usual
        }
    }

    /// How far another regime is setting in, from 0 to 1: none is while the level speaks of the present one.
    pub fn transition(&self) -> f64 {
        if self.kind() == self.now { 0.0 } else { self.detector.moved() }
    }

    /// Ticks lived in regimes like this one.
    pub fn met(&self) -> u64 {
        self.met[self.now as usize]
    }
}

impl fmt::Display for Regime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Regime::Calm => "calm",
            Regime::Usual => "usual",
            Regime::Unsettled => "unsettled",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws;

    #[test]
    fn another_regime_sets_in_by_degrees() {
        let laws = laws::laws(laws::NEWEST).unwrap();
        let mut regimes = Regimes::new(Time::seconds(0), Some(laws));
        (0..2_000).for_each(|_| regimes.observe(1.0, laws));
        assert_eq!((regimes.kind(), regimes.transition()), (Regime::Usual, 0.0));
        let mut seen = Vec::new();
        while !regimes.detector.changed() {
            assert!(seen.len() < 2_000, "it never changed: {seen:?}");
            regimes.observe(0.2, laws);
            seen.push(regimes.transition());
        }
        assert!(seen.is_sorted() && seen.iter().any(|far| (0.1..0.9).contains(far)), "{seen:?}");
        assert_eq!(seen.last(), Some(&1.0));
        regimes.change(Regime::Calm, Time::seconds(1));
        assert_eq!(regimes.transition(), 0.0, "it has set in");
    }
}
