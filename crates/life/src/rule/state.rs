//! The state of heuristics: a condition, what is expected when it holds, and the record of that expectation.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::blend::UNSURE;
use super::{Blend, Condition, Fragment, Mix};
use crate::laws::Laws;
use crate::limits;
use crate::money::Usdc;
use crate::prose::Prose;
use crate::time::Time;
use crate::world::DomainKind;

/// The action that a heuristic suggests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    #[default]
    Watch,
    Add,
    Reduce,
    /// Add, with a way out and a size.
    Fragment(Fragment),
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
    /// Ventured by a phage that did better with it.
    Phage,
    /// Said by a model.
    Thought,
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
    /// The expectation: a factor on the naive forecast, or the probability of a rise. It is learned; for a blend it is
    /// what it was told at first.
    pub effect: f64,
    /// Tick at which it joined the playbook.
    pub since: u64,
    /// Claims resolved while it had a say, decayed with its errors.
    pub weight: f64,
    /// The heuristic's own error, decayed.
    pub error: f64,
    /// The naive forecast's on the same claims, decayed.
    pub naive_error: f64,
    /// Times it did better than naive.
    pub evidence_for: u32,
    /// Times it did worse.
    pub evidence_against: u32,
    /// The pay of holding while its condition held.
    #[serde(default)]
    pub paid: Paid,
    /// True once its trial is over.
    #[serde(default)]
    pub judged: bool,
    /// Has a say; without one it is only tried.
    #[serde(default = "yes")]
    pub voice: bool,
    /// Claims resolved in each regime, decayed like the rest.
    #[serde(default)]
    pub tried_in: [f64; 3],
    /// Expectations for open claims, from when they were made.
    #[serde(default)]
    pub said: Said,
    /// The blend that the factor is on, instead of the last value.
    #[serde(default)]
    pub blend: Option<Box<Blend>>,
}

/// Expectations for open claims, by the tick each was made in: a heuristic scored by what it has learned since would be
/// scored by the answer itself. The last bits of a tick are enough: no two open claims are so far apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Said(VecDeque<(u16, f32)>);

impl Said {
    pub fn say(&mut self, tick: u64, expected: f64) {
        if self.0.len() >= limits::OPEN {
            self.0.pop_front();
        }
        self.0.push_back((tick as u16, expected as f32));
    }

    /// Takes the expectation of this tick, if there is one. Claims are answered in the order they were made.
    pub(crate) fn take(&mut self, tick: u64) -> Option<f64> {
        let age = |made: u16| (tick as u16).wrapping_sub(made) as i16;
        while self.0.front().is_some_and(|(made, _)| age(*made) > 0) {
            self.0.pop_front();
        }
        self.0.pop_front_if(|(made, _)| age(*made) == 0).map(|(_, expected)| f64::from(expected))
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

fn yes() -> bool {
    true
}

impl Stance {
    /// The stance as these laws know it: before there were fragments, adding was adding.
    pub fn under(self, laws: &Laws) -> Stance {
        match self {
            Stance::Fragment(_) if laws.fragments == 0 => Stance::Add,
            known => known,
        }
    }

    /// Whether it would take up exposure.
    pub fn adds(self) -> bool {
        matches!(self, Stance::Add | Stance::Fragment(_))
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
            paid: Paid::default(),
            judged: false,
            voice: true,
            tried_in: [0.0; 3],
            said: Said::default(),
            blend: None,
        }
    }

    /// The heuristic with a blend in place of the last value.
    pub fn of(self, mix: Option<&Mix>) -> Heuristic {
        Heuristic { blend: mix.map(|mix| Box::new(Blend::new(mix, self.effect))), ..self }
    }

    /// A copy with everything it has learned, and no claim of its own open.
    pub fn unasked(&self) -> Heuristic {
        let mut heuristic = self.clone();
        heuristic.said.clear();
        heuristic.blend.iter_mut().for_each(|blend| blend.forget_open());
        heuristic
    }

    /// A copy with its expectation by now, and as if nothing had ever spoken for it or against it.
    pub fn unproven(&self) -> Heuristic {
        let mix = self.blend.as_ref().map(|blend| Mix { sure: UNSURE, ..blend.mix() });
        let heuristic = Heuristic {
            effect: self.expects(),
            weight: 0.0,
            error: 0.0,
            naive_error: 0.0,
            evidence_for: 0,
            evidence_against: 0,
            paid: Paid::default(),
            judged: false,
            tried_in: [0.0; 3],
            said: Said::default(),
            ..self.clone()
        };
        heuristic.of(mix.as_ref())
    }

    /// The way out and the size of a fragment; none of a rule.
    pub fn fragment(&self) -> Option<Fragment> {
        if let Stance::Fragment(fragment) = self.stance { Some(fragment) } else { None }
    }

    /// The factor or the probability it has come to expect.
    pub fn expects(&self) -> f64 {
        self.blend.as_ref().map_or(self.effect, |blend| blend.factor())
    }

    /// Skill: 0 as good as naive, 1 perfect, negative worse.
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

/// A number rounded to so many significant digits: an idea need not be more exact than it can be said.
pub fn rounded(number: f64, digits: i32) -> f64 {
    if number == 0.0 {
        return 0.0;
    }
    let scale = libm::pow(10.0, f64::from(digits - 1) - libm::floor(libm::log10(number.abs())));
    libm::round(number * scale) / scale
}

/// A look whose holding is followed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stake {
    pub made: Time,
    pub due: Time,
    pub unit: Usdc,
    /// Which slots of the playbook were awake.
    pub awake: u64,
    /// Whether an outside mind would have taken up exposure.
    pub outside: bool,
}

/// The pay of holding while a heuristic's condition held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paid {
    /// Samples, decayed, none overlapping another.
    pub samples: f64,
    pub sum: f64,
    pub squares: f64,
    /// Samples that paid more than going in and out costs.
    pub wins: f64,
    /// Up to where time has been counted.
    pub until: Time,
}

impl Paid {
    /// Learns what holding over a stretch of time paid, unless some of it is counted already.
    pub(crate) fn learn(&mut self, (made, due): (Time, Time), gain: f64, cost: f64, laws: &Laws) {
        if made < self.until {
            return;
        }
        let keep = 1.0 - 1.0 / laws.paid_memory;
        self.samples = self.samples * keep + 1.0;
        self.sum = self.sum * keep + gain;
        self.squares = self.squares * keep + gain * gain;
        self.wins = self.wins * keep + f64::from(u8::from(gain > cost));
        self.until = due;
    }

    pub fn mean(&self) -> f64 {
        if self.samples > 0.0 { self.sum / self.samples } else { 0.0 }
    }

    /// How far the mean may be off.
    pub fn error(&self) -> f64 {
        if self.samples <= 1.0 {
            return f64::INFINITY;
        }
        let variance = (self.squares / self.samples - self.mean() * self.mean()).max(0.0);
        (variance / (self.samples - 1.0)).sqrt()
    }

    pub fn hits(&self) -> f64 {
        if self.samples > 0.0 { self.wins / self.samples } else { 0.0 }
    }
}

impl Prose for Box<Heuristic> {
    const NAME: &'static str = "HeuristicJson";
}
