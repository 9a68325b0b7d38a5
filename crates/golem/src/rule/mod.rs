//! Heuristics: when a condition over named features holds, expect something of a domain.
//!
//! A condition is data, a conjunction of comparisons, so it can be evaluated in nanoseconds, written and
//! read as text, compared for sameness, changed by a dream and demanded of a model by schema. What a
//! heuristic expects is learned from claims that were resolved while it had a say.

pub(crate) mod learning;
pub(crate) mod mind;
pub mod schema;
pub mod text;
pub mod vote;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::world::{DomainKind, Features};

/// One comparison: a feature, by number, against a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub feature: u8,
    pub is: Is,
    pub than: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Is {
    Above,
    Below,
}

/// All comparisons hold; none at all holds always.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Condition(pub ArrayVec<Comparison, { limits::COMPARISONS }>);

/// What a heuristic would have the golem do about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    #[default]
    Watch,
    Add,
    Reduce,
}

/// How a heuristic came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Born with it.
    Instinct,
    /// Tried out of curiosity.
    Explored,
    /// Taken back from memory, or from someone else's.
    Recalled,
    /// Found in a dream, and confirmed awake.
    Dreamt,
}

/// When the condition holds, expect this of the domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heuristic {
    /// Unique in a life and never used again.
    pub id: u64,
    pub condition: Condition,
    pub domain: u8,
    pub stance: Stance,
    pub provenance: Provenance,
    /// What is expected: a factor on the naive forecast, or the probability of a rise. Learned.
    pub effect: f64,
    /// Tick at which it joined the playbook.
    pub since: u64,
    /// Claims resolved while it had a say, decayed with its errors.
    pub weight: f64,
    /// Its own error and the naive forecast's, on the same claims, decayed.
    pub error: f64,
    pub naive_error: f64,
    /// Times it did better and worse than naive.
    pub evidence_for: u32,
    pub evidence_against: u32,
    /// What holding paid while its condition held.
    #[serde(default)]
    pub paid: vote::Paid,
    /// It was on trial, and the trial is over.
    #[serde(default)]
    pub judged: bool,
    /// Has a say; without one it is only tried.
    #[serde(default = "yes")]
    pub voice: bool,
    /// Claims resolved in each regime, decayed like the rest.
    #[serde(default)]
    pub tried_in: [f64; 3],
}

fn yes() -> bool {
    true
}

impl Comparison {
    pub fn holds(&self, features: &Features) -> bool {
        // A feature that is not there decides nothing.
        match (self.is, features.get(usize::from(self.feature))) {
            (Is::Above, Some(value)) => *value > self.than,
            (Is::Below, Some(value)) => *value < self.than,
            (_, None) => false,
        }
    }
}

impl Condition {
    pub fn holds(&self, features: &Features) -> bool {
        self.0.iter().all(|comparison| comparison.holds(features))
    }
}

impl Heuristic {
    pub fn new(
        id: u64,
        condition: Condition,
        domain: u8,
        kind: DomainKind,
        stance: Stance,
        provenance: Provenance,
        since: u64,
    ) -> Heuristic {
        Heuristic {
            id,
            condition,
            domain,
            stance,
            provenance,
            effect: neutral(kind),
            since,
            weight: 0.0,
            error: 0.0,
            naive_error: 0.0,
            evidence_for: 0,
            evidence_against: 0,
            paid: vote::Paid::default(),
            judged: false,
            voice: true,
            tried_in: [0.0; 3],
        }
    }

    /// 0 as good as naive, 1 perfect, negative worse.
    pub fn skill(&self) -> f64 {
        if self.naive_error > 0.0 { 1.0 - self.error / self.naive_error } else { 0.0 }
    }
}

/// The expectation that says nothing: the naive forecast as it is.
pub fn neutral(kind: DomainKind) -> f64 {
    match kind {
        DomainKind::Value | DomainKind::Range => 1.0,
        DomainKind::Direction => 0.5,
    }
}

/// A number of so many digits that count: what is thought up need not be more exact than it can be said.
pub(crate) fn rounded(number: f64, digits: i32) -> f64 {
    if number == 0.0 {
        return 0.0;
    }
    let scale = libm::pow(10.0, f64::from(digits - 1) - libm::floor(libm::log10(number.abs())));
    libm::round(number * scale) / scale
}
