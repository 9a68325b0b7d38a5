//! Stressors: pressure that grows with world time while something is wrong, and goes only when it no longer is.
//!
//! Six kinds, each with a trigger and a way to clear it, both read off what the runtime itself has recorded
//! ([`find`]). What a golem says of itself ([`assessment`]) is heard, checked and written down, and changes
//! none of it. Load is the sum of what is active; its band closes gates ([`Allowed`]), never those that lead out.
//!
//! Time here is age: what the host slept through was not lived and does not weigh.

pub mod assessment;
mod ledger;
mod observer;
pub mod words;

use std::collections::VecDeque;
use std::fmt;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::constitution::{StressFigures, StressMode};
use crate::laws::Laws;
use crate::life::Life;
use crate::limits;
use crate::time::Span;

pub use assessment::{Assessed, Assessment, Named};
pub use ledger::{Ledger, Mark};
pub use observer::{Evidence, Finding, find};
pub(crate) use observer::{called_out, observe, serves};

/// How severe a stressor is when it begins.
pub const ONSET: f64 = 0.20;
/// One that returns within this time is as severe as it was.
pub const RELAPSE: Span = Span::DAY;
/// Consecutive cycles of crisis that break the circuit, and how long what was suspended stays so.
pub const BREAKER_CYCLES: u8 = 3;
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

/// One of the six, at work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stressor {
    pub kind: Kind,
    /// The domain it is about; none is about the whole life.
    pub domain: Option<u8>,
    /// How severe it was when it came.
    pub onset: f64,
    /// The age at which it came.
    pub since: Span,
    /// How long its condition has pressed. Whole milliseconds, so that any split of time weighs the same.
    pub held: Span,
    pub presses: bool,
    /// Completions that served the owner before it came.
    pub served: u64,
}

impl Stressor {
    pub fn severity(&self, figures: &StressFigures) -> f64 {
        grown(self.onset, figures.rates[self.kind as usize], self.held)
    }
}

fn grown(onset: f64, rate: f64, held: Span) -> f64 {
    (onset + rate * held.as_millis() as f64 / Span::DAY.as_millis() as f64).min(1.0)
}

/// What is left of a stressor of one kind in one domain: one line each, so nothing can push another out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Past {
    pub kind: Kind,
    pub domain: Option<u8>,
    pub times: u32,
    /// The worst it ever was, and how severe it was when it last ended.
    pub peak: f64,
    pub severity: f64,
    pub ended: Span,
    /// Set aside by the circuit breaker, not cleared.
    pub suspended: bool,
    /// How often it has warned, and how often what it warned of went badly.
    pub warned: u32,
    pub right: u32,
}

impl Past {
    /// Whether its warnings are worth heeding: they are until they have been wrong more often than right.
    pub fn is_trusted(&self) -> bool {
        self.warned < 4 || self.right * 2 >= self.warned
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stress {
    pub active: ArrayVec<Stressor, { limits::STRESSORS }>,
    pub past: Vec<Past>,
    /// What the golem has named itself. It is shown, and closes no gate.
    pub named: Vec<Named>,
    /// Named, and not yet held against a look at the world.
    pub asked: Vec<Named>,
    pub named_past: VecDeque<assessment::Gone>,
    /// Cycles spent in crisis, one after another.
    pub crises: u8,
    /// The age at which the circuit was last broken, and whether the dream that should follow is still owed.
    pub broken: Option<Span>,
    pub dream_wanted: bool,
    /// The newest intent that was smaller than usual, and how much of it was left.
    pub cautioned: Option<(u64, u8)>,
    /// Exposure in this domain was taken up against a warning.
    pub heeding: Option<u8>,
    pub words: u64,
    /// A word to its peers that is still to be passed on.
    pub word: Option<(u64, Word)>,
    /// The age at which it last called out in a crisis.
    pub called_out: Option<Span>,
    pub ledger: Ledger,
}

/// What golems of one owner tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It is in a crisis, with this load.
    Crisis { load: f64 },
    /// It has died.
    Death,
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
        // Sums of severities miss a mark by a hair; nobody should escape for that hair.
        let reached = |band: &&Band| load >= band.from() - 1e-12;
        *Band::ALL.iter().rev().find(reached).unwrap_or(&Band::Nominal)
    }

    /// What may be done in a band. Giving up exposure, looking, predicting and asking are open in every one.
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
    /// The most of the usual size.
    pub size_percent: i64,
}

/// What the runtime has on record against this life, from 0 to 1.
pub fn load(life: &Life) -> f64 {
    let figures = &life.constitution().stress;
    life.stress.active.iter().fold(0.0, |sum, stressor| sum + stressor.severity(figures)).min(1.0)
}

/// The same with what the golem has named itself.
pub fn load_as_told(life: &Life) -> f64 {
    let rate = life.constitution().stress.named_rate;
    life.stress.named.iter().fold(load(life), |sum, named| sum + named.severity(rate)).min(1.0)
}

pub fn band(life: &Life) -> Band {
    if life.stress.active.is_empty() { Band::Nominal } else { Band::of(load(life)) }
}

/// Whether pressure may change what a golem does, or is only shown.
pub fn enforced(life: &Life) -> bool {
    life.constitution().stress.mode == StressMode::Enforced
}

/// What load leaves open; everything, unless it is enforced.
pub fn allowed(life: &Life) -> Allowed {
    if enforced(life) { band(life).allowed() } else { Band::Nominal.allowed() }
}

/// What once went badly where the golem is about to go again.
pub fn signals(life: &Life, domain: u8) -> impl Iterator<Item = &Past> {
    let on = life.constitution().stress.mode != StressMode::Off;
    let laws = life.laws();
    let same = move |past: &&Past| on && past.domain == Some(domain) && past.peak > laws.scar && !past.suspended;
    life.stress.past.iter().filter(same).take(laws.signals)
}

/// Half of the usual size where a warning that has proved itself speaks against it.
pub(crate) fn heeded_percent(life: &Life, domain: u8) -> i64 {
    if enforced(life) && signals(life, domain).any(Past::is_trusted) { 50 } else { 100 }
}

impl Stress {
    pub fn find(&self, kind: Kind, domain: Option<u8>) -> Option<&Stressor> {
        self.active.iter().find(|stressor| stressor.kind == kind && stressor.domain == domain)
    }

    pub fn past_of(&self, kind: Kind, domain: Option<u8>) -> Option<&Past> {
        self.past.iter().find(|past| past.kind == kind && past.domain == domain)
    }

    /// How severe one would be that came now: what it was, if it was here within a day.
    pub(crate) fn onset(&self, kind: Kind, domain: Option<u8>, age: Span) -> f64 {
        let recent = self.past_of(kind, domain).filter(|past| !past.suspended && age <= past.ended + RELAPSE);
        recent.map_or(ONSET, |past| past.severity.max(ONSET))
    }

    /// The circuit breaker has set it aside, and its day is not over.
    pub(crate) fn rests(&self, kind: Kind, domain: Option<u8>, age: Span) -> bool {
        self.past_of(kind, domain).is_some_and(|past| past.suspended && age < past.ended + BREAKER_REST)
    }

    /// So much more time was lived.
    pub(crate) fn live(&mut self, lived: Span) {
        for stressor in self.active.iter_mut().filter(|stressor| stressor.presses) {
            stressor.held = stressor.held + lived;
        }
        for named in &mut self.named {
            named.held = named.held + lived;
        }
    }

    pub(crate) fn raise(&mut self, kind: Kind, domain: Option<u8>, onset: f64, age: Span) {
        let served = self.ledger.served;
        let stressor = Stressor { kind, domain, onset, since: age, held: Span::ZERO, presses: true, served };
        self.ledger.begin_examination();
        // There is a place for every kind in every domain.
        let _ = self.active.try_push(stressor);
    }

    pub(crate) fn press(&mut self, kind: Kind, domain: Option<u8>, presses: bool) {
        for stressor in self.active.iter_mut().filter(|s| s.kind == kind && s.domain == domain) {
            stressor.presses = presses;
        }
    }

    pub(crate) fn end(&mut self, kind: Kind, domain: Option<u8>, severity: f64, age: Span, suspended: bool) {
        self.active.retain(|stressor| stressor.kind != kind || stressor.domain != domain);
        if !suspended {
            self.ledger.lived_down(kind);
        }
        match self.past.iter_mut().find(|past| past.kind == kind && past.domain == domain) {
            Some(past) => {
                past.times += 1;
                past.peak = past.peak.max(severity);
                (past.severity, past.ended, past.suspended) = (severity, age, suspended);
            }
            None => self.past.push(Past {
                kind,
                domain,
                times: 1,
                peak: severity,
                severity,
                ended: age,
                suspended,
                warned: 0,
                right: 0,
            }),
        }
    }

    /// What was done against a warning is over.
    pub(crate) fn learned(&mut self, domain: u8, helped: bool, laws: &Laws) {
        self.heeding = None;
        let same = |past: &&mut Past| past.domain == Some(domain) && past.peak > laws.scar && !past.suspended;
        for past in self.past.iter_mut().filter(same).take(laws.signals) {
            past.warned += 1;
            past.right += u32::from(helped);
        }
    }
}
