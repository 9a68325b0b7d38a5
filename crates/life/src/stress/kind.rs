//! The six kinds, how each grows, and the bands of load.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::Span;

/// How severe a stressor is when it begins.
pub const ONSET: f64 = 0.20;

/// A stressor that returns within this time is as severe as it was.
pub const RELAPSE: Span = Span::DAY;

/// Consecutive cycles of crisis that break the circuit.
pub const BREAKER_CYCLES: u8 = 3;

/// How long suspended stressors stay so.
pub const BREAKER_REST: Span = Span::DAY;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    RepeatedFailure,
    Futility,
    Invisibility,
    IdentityViolation,
    ExistentialThreat,
    Purposelessness,
}

impl Kind {
    pub const ALL: [Kind; 6] = [
        Kind::RepeatedFailure,
        Kind::Futility,
        Kind::Invisibility,
        Kind::IdentityViolation,
        Kind::ExistentialThreat,
        Kind::Purposelessness,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::RepeatedFailure => "repeated_failure",
            Kind::Futility => "futility",
            Kind::Invisibility => "invisibility",
            Kind::IdentityViolation => "identity_violation",
            Kind::ExistentialThreat => "existential_threat",
            Kind::Purposelessness => "purposelessness",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

pub(super) fn grown(onset: f64, rate: f64, held: Span) -> f64 {
    (onset + rate * held.as_millis() as f64 / Span::DAY.as_millis() as f64).min(1.0)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    Nominal,
    Elevated,
    Constrained,
    Dominant,
    Crisis,
}

impl Band {
    pub const ALL: [Band; 5] = [Band::Nominal, Band::Elevated, Band::Constrained, Band::Dominant, Band::Crisis];

    /// The load at which a band begins.
    pub fn from(self) -> f64 {
        match self {
            Band::Nominal => 0.0,
            Band::Elevated => 0.35,
            Band::Constrained => 0.55,
            Band::Dominant => 0.75,
            Band::Crisis => 0.90,
        }
    }

    pub fn of(load: f64) -> Band {
        // Sums of severities miss a mark by a hair; no golem should escape for that hair.
        let reached = |band: &&Band| load >= band.from() - 1e-12;
        *Band::ALL.iter().rev().find(reached).unwrap_or(&Band::Nominal)
    }

    /// Doings that a band leaves open. Giving up exposure, looking, predicting and asking are open in every one.
    pub fn allowed(self) -> Allowed {
        Allowed {
            explore: self < Band::Constrained,
            add: self < Band::Dominant,
            keep: self < Band::Crisis,
            size_percent: if self < Band::Constrained { 100 } else { 50 },
        }
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Band::Nominal => "nominal",
            Band::Elevated => "elevated",
            Band::Constrained => "constrained",
            Band::Dominant => "dominant",
            Band::Crisis => "crisis",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Try new ideas, take on new strategies.
    pub explore: bool,
    /// Take up new exposure.
    pub add: bool,
    /// Hold on to exposure whose time is up.
    pub keep: bool,
    /// The largest share of the usual size, in per cent.
    pub size_percent: i64,
}
