//! The phages that live, and how the last of them ended.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::money::Usdc;
use crate::regime::Regime;
use crate::rule::Heuristic;
use crate::time::Time;

/// How many of the last are looked at to say how it stands with the golem.
const RECENT: usize = 16;
/// Phages that must have failed in the same way before that says something.
const ALIKE: usize = 8;

/// The kind of thing that a phage does otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Threshold,
    Term,
    Stop,
    Regime,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Threshold, Kind::Term, Kind::Stop, Kind::Regime];
}

/// The end of a phage: how its way did against the golem's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    Better,
    Worse,
    /// The phage never differed from its golem in effect.
    Alike,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phages {
    pub living: ArrayVec<Phage, { limits::PHAGES }>,
    pub made: u64,
    /// How many ended so, by [`Fate`], for each [`Kind`].
    pub ends: [[u32; 3]; Kind::ALL.len()],
    /// The last of them, oldest first.
    pub recent: ArrayVec<Ended, RECENT>,
    /// Phages whose condition held, one bit each, and when.
    pub(super) holds: (u8, Time),
    /// Rules that stood, or did not, since the Curator last went round.
    pub stood: ArrayVec<(u64, bool), RECENT>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    pub kind: Kind,
    /// The domain it was about, if any.
    pub domain: Option<u8>,
    pub fate: Fate,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phage {
    pub born: u64,
    pub way: Way,
    /// Claims on which it and its golem differed.
    pub cases: u32,
    /// By how much less wrong it was on those claims.
    pub gained: f64,
    pub(super) asked: VecDeque<Asked>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Way {
    /// A rule, beside the one it was made from.
    Rule { own: Box<Heuristic>, of: u64 },
    /// Something held from here on, with another stop than the golem's.
    Stop { own: f64, golems: f64, entered: Usdc, lowest: Usdc },
    /// The regime as it was called.
    Regime { called: Regime, changed: bool },
}

/// Forecasts of a phage, and of the rule it was made from, for an open claim.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    /// The last bits of the tick.
    pub(super) tick: u16,
    pub(super) own: f32,
    pub(super) theirs: f32,
}

impl Phage {
    pub fn kind(&self) -> Kind {
        match &self.way {
            Way::Rule { own, .. } if own.blend.is_some() => Kind::Term,
            Way::Rule { .. } => Kind::Threshold,
            Way::Stop { .. } => Kind::Stop,
            Way::Regime { .. } => Kind::Regime,
        }
    }

    pub fn domain(&self) -> Option<u8> {
        match &self.way {
            Way::Rule { own, .. } => Some(own.domain),
            Way::Stop { .. } | Way::Regime { .. } => None,
        }
    }

    /// The fate of the phage if it ended now, with a unit worth this much.
    pub fn fate(&self, unit: Usdc) -> Fate {
        let by = |gained: f64| match gained {
            better if better > 0.0 => Fate::Better,
            worse if worse < 0.0 => Fate::Worse,
            _ => Fate::Alike,
        };
        match &self.way {
            Way::Rule { .. } => by(self.gained),
            Way::Stop { own, golems, entered, lowest } => {
                let fell = lowest.change_from(*entered);
                let result = |stop: f64| if fell <= -stop { -stop } else { unit.change_from(*entered) };
                by(result(*own) - result(*golems))
            }
            Way::Regime { changed, .. } => by(if *changed { 1.0 } else { -1.0 }),
        }
    }

    /// Takes the two forecasts for the claim made at this tick.
    pub(super) fn asked(&mut self, tick: u64) -> Option<Asked> {
        let age = |asked: &Asked| (tick as u16).wrapping_sub(asked.tick) as i16;
        while self.asked.front().is_some_and(|asked| age(asked) > 0) {
            self.asked.pop_front();
        }
        self.asked.pop_front_if(|asked| age(asked) == 0)
    }
}

impl Phages {
    pub(super) fn end(&mut self, at: usize, fate: Fate) {
        let phage = self.living.remove(at);
        let ended = Ended { kind: phage.kind(), domain: phage.domain(), fate };
        self.ends[ended.kind as usize][fate as usize] += 1;
        if self.recent.is_full() {
            self.recent.remove(0);
        }
        self.recent.push(ended);
        if let (Way::Rule { of, .. }, false) = (phage.way, fate == Fate::Alike) {
            let _ = self.stood.try_push((of, fate == Fate::Worse));
        }
    }

    /// How many phages ended with this fate.
    pub fn ended(&self, fate: Fate) -> u32 {
        self.ends.iter().map(|fates| fates[fate as usize]).sum()
    }

    /// The share of the last phages that failed: if it is small, they put nothing to the test.
    pub fn failing(&self) -> Option<f64> {
        let failed = self.recent.iter().filter(|ended| ended.fate != Fate::Better).count();
        (self.recent.len() >= ALIKE).then(|| failed as f64 / self.recent.len() as f64)
    }

    /// In how many different ways the last ones failed, as a share of those that did: near nothing if all alike.
    pub fn diversity(&self) -> Option<f64> {
        let mut ways: Vec<_> = self.recent.iter().filter(|ended| ended.fate != Fate::Better).collect();
        let failed = ways.len();
        ways.sort_by_key(|ended| (ended.kind, ended.domain, ended.fate));
        ways.dedup();
        (failed >= ALIKE).then(|| (ways.len() - 1) as f64 / (failed - 1) as f64)
    }

    /// Whether the last phages all failed in the same way: then the golem is wrong, and not they.
    pub fn fail_alike(&self) -> bool {
        let Some(first) = self.recent.first().filter(|first| first.fate != Fate::Better) else { return false };
        self.recent.len() >= ALIKE && self.recent.iter().all(|ended| ended == first)
    }
}
