//! Trials of what was dreamt: hypotheses, domains that learn again, and ideas that have come into use and may have to
//! go.

use serde::{Deserialize, Serialize};

use crate::constitution::DreamFigures;
use crate::laws::{BETS, Laws};
use crate::rule::{Heuristic, Said, learning};
use crate::time::Time;
use crate::world::DomainKind;

/// Confidence at which a trial is won.
pub const PROMOTED: f64 = 0.7;

/// Confidence at which a trial is lost.
pub const REFUTED: f64 = 0.1;

/// Confidence that half-formed ideas and those of others begin with.
const HALF_FORMED: f64 = 0.15;

/// Hypotheses on trial at once; each has a bit in every claim it would have had a say in.
pub const STAGED: usize = 10;

/// How an idea came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Something episodes have in common: an insight.
    Pattern,
    /// Caught while falling asleep.
    Fragment,
    /// Put together from others: a hypothesis of a strategy.
    Recombined,
    /// Left unfinished by a predecessor.
    Inherited,
    /// Made up, and believed without asking; for experiments.
    Random,
    /// Where the other choice would have been better.
    Regret,
    /// Proposed by a model.
    Thought,
}

impl Origin {
    /// The confidence a trial begins with.
    pub fn confidence(self, figures: &DreamFigures) -> f64 {
        match self {
            Origin::Pattern => figures.insight,
            Origin::Recombined | Origin::Random | Origin::Regret | Origin::Thought => figures.hypothesis,
            Origin::Fragment | Origin::Inherited => HALF_FORMED,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Staged {
    /// The heuristic, as it learns in its trial.
    pub heuristic: Heuristic,
    pub origin: Origin,
    pub night: u64,
    /// Some of the episodes it held on before it was staged.
    pub episodes: Vec<u64>,
    /// The tick of the first of those episodes.
    #[serde(default)]
    pub seed: u64,
    /// By how much less wrong than the playbook it was on those episodes.
    pub utility: f64,
    pub confidence: f64,
    pub confirmed: u32,
    pub contradicted: u32,
    /// How wrong it was in its trial.
    pub error: f64,
    /// How wrong the naive forecast was beside it.
    pub naive_error: f64,
    pub since: u64,
    /// Time up to which cases were counted, so that no two share any.
    pub until: Time,
    /// The worth of one unit by now, for each bet on its being right.
    #[serde(default = "unbet")]
    pub bets: [f64; BETS],
}

fn unbet() -> [f64; BETS] {
    [1.0; BETS]
}

/// The fate of a hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    Promoted,
    Refuted,
    Expired,
    /// A better one took its place.
    Displaced,
}

/// Something dreamt that has come into use, until it has shown that it may stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub slot: u8,
    pub id: u64,
    pub night: u64,
    /// Claims it had been tried in by then.
    pub tried: u32,
}

impl Staged {
    /// The worth of a unit bet on its being right more often than a coin, spread evenly over how much more. If it is no
    /// better than a coin, the chance that this ever reaches twenty is one in twenty at most.
    pub fn proof(&self) -> f64 {
        self.bets.iter().sum::<f64>() / BETS as f64
    }

    /// Takes in one more case, sharing no time with another, in which it was right or not.
    pub(super) fn bet(&mut self, right: bool, laws: &Laws) {
        for (worth, odds) in self.bets.iter_mut().zip(laws.bets) {
            *worth *= 2.0 * if right { odds } else { 1.0 - odds };
        }
    }

    pub fn says_the_same(&self, other: &Staged) -> bool {
        same(&self.heuristic, &other.heuristic)
    }
}

pub fn same(a: &Heuristic, b: &Heuristic) -> bool {
    a.domain == b.domain && a.condition.same(&b.condition) && (a.effect - b.effect).abs() < 0.05
}

impl Change {
    pub(crate) fn new(slot: u8, heuristic: &Heuristic, night: u64) -> Change {
        let tried = heuristic.evidence_for + heuristic.evidence_against;
        Change { slot, id: heuristic.id, night, tried }
    }
}

/// The fewest claims, none overlapping another, that a revision must have stood before.
const LEAST: u32 = 20;

/// Deviations by which a revision must do better, beside having been confirmed often enough.
const SURE: f64 = 3.0;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Revision {
    pub domain: u8,
    pub night: u64,
    /// Some of the episodes it held on before it was tried.
    pub episodes: Vec<u64>,
    /// True once the revision is in use; its heuristics are then the ones it replaced.
    pub adopted: bool,
    /// Heuristics by slot of the playbook.
    pub heuristics: Vec<(u8, Heuristic)>,
    pub utility: f64,
    pub confidence: f64,
    pub confirmed: u32,
    pub contradicted: u32,
    /// The sum of the shares by which these were less wrong than those in use, over the cases counted.
    pub gain: f64,
    /// Squares of those shares.
    pub squares: f64,
    /// How wrong these were in all, less how wrong those in use were.
    pub excess: f64,
    pub since: u64,
    /// Time up to which cases were counted, so that no two share any.
    pub until: Time,
    /// Forecasts of these heuristics together, for the claims that are still open.
    #[serde(default)]
    pub said: Said,
}

impl Revision {
    /// The forecast of the heuristics whose conditions hold, together.
    pub(super) fn together(
        &self,
        kind: DomainKind,
        naive: f64,
        awake: impl Fn(&u8, &Heuristic) -> bool,
        laws: &Laws,
    ) -> f64 {
        let voices = self.heuristics.iter().filter(|(slot, h)| awake(slot, h)).map(|(_, h)| h);
        let together = learning::together(kind, naive, voices, laws);
        if kind == DomainKind::Direction { together.clamp(0.01, 0.99) } else { together }
    }

    /// Confirmed, surely and in all less wrong than those in use.
    pub fn is_better(&self) -> bool {
        let confirmed = self.confidence >= PROMOTED - 1e-9 && self.confirmed + self.contradicted >= LEAST;
        confirmed && self.deviations() >= SURE && self.excess < 0.0
    }

    /// By how many deviations these do better.
    pub fn deviations(&self) -> f64 {
        let n = f64::from(self.confirmed + self.contradicted);
        if n < 2.0 {
            return 0.0;
        }
        let mean = self.gain / n;
        let error = ((self.squares / n - mean * mean).max(0.0) / (n - 1.0)).sqrt();
        if error > 0.0 { mean / error } else { 0.0 }
    }
}
