//! The vote: what holding has paid whenever things were as they are now, by everyone whose condition holds.
//!
//! Every look is a stake: the worth of a unit is followed for as long as exposure is usually held, whether or
//! not anything was done. Each heuristic that was awake counts the result, never twice over the same stretch of
//! time, so that a number of samples is a number of independent ones. Nobody is asked what they believe: a
//! vote weighs what was shown, beyond what luck could have.

use serde::{Deserialize, Serialize};

use super::mind::slots;
use super::{Heuristic, Stance};
use crate::episode::relative;
use crate::laws::Laws;
use crate::life::Life;
use crate::money::Usdc;
use crate::time::{Span, Time};
use crate::world::DomainKind;

/// A look whose holding is followed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stake {
    pub made: Time,
    pub due: Time,
    pub unit: Usdc,
    /// Which slots of the playbook were awake.
    pub awake: u64,
}

/// What holding paid while a heuristic's condition held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paid {
    /// Samples, decayed, none overlapping another.
    pub samples: f64,
    pub sum: f64,
    pub squares: f64,
    /// Those that paid more than going in and out costs.
    pub wins: f64,
    /// Up to where time has been counted.
    pub until: Time,
}

/// What the awake say together of holding from here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    pub gain: f64,
    /// The gain less as many deviations as sureness asks for; and more.
    pub lower: f64,
    pub upper: f64,
    /// Share of samples that paid more than their cost.
    pub hits: f64,
    /// The domain of whoever weighs most.
    pub domain: u8,
    pub voters: u64,
}

impl Paid {
    pub(crate) fn learn(&mut self, stake: &Stake, gain: f64, cost: f64, laws: &Laws) {
        if stake.made < self.until {
            return;
        }
        let keep = 1.0 - 1.0 / laws.paid_memory;
        self.samples = self.samples * keep + 1.0;
        self.sum = self.sum * keep + gain;
        self.squares = self.squares * keep + gain * gain;
        self.wins = self.wins * keep + f64::from(u8::from(gain > cost));
        self.until = stake.due;
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

/// A look begins to be followed, unless one was just before.
pub(crate) fn stake(life: &mut Life) {
    let (made, holding) = (life.seen.until, holding(life));
    let stride = Span::millis(holding.as_millis() / life.laws().stakes);
    if life.stakes.back().is_none_or(|last| last.made + stride <= made) {
        life.stakes.push_back(Stake { made, due: made + holding, unit: life.seen.unit, awake: 0 });
    }
}

/// The stakes that are due at this moment meet the worth of a unit; those missed are let go.
pub(crate) fn settle(life: &mut Life, at: Time, unit: Usdc) {
    let laws = life.laws();
    let cost = life.execution.round_trip();
    while let Some(stake) = life.stakes.front().filter(|stake| stake.due <= at).copied() {
        life.stakes.pop_front();
        if stake.due == at && life.learns() {
            let gain = relative(stake.unit, unit);
            for slot in slots(stake.awake) {
                life.playbook[slot].paid.learn(&stake, gain, cost, laws);
            }
        }
    }
}

/// How long exposure is held before it is reconsidered.
pub(crate) fn holding(life: &Life) -> Span {
    match life.birth.world.holding {
        0 => crate::episode::horizon(life),
        bars => life.birth.world.bar.times(u64::from(bars)),
    }
}

/// What is known of holding from here; none while nobody awake has seen enough.
pub fn evidence(life: &Life) -> Option<Evidence> {
    if life.awake_at != life.seen.until {
        return None;
    }
    let (sureness, samples) = (life.constitution().mind.sureness, f64::from(life.constitution().mind.samples));
    let (mut weights, mut gain, mut error, mut hits) = (0.0, 0.0, 0.0, 0.0);
    let (mut voters, mut loudest) = (0, (0.0, 0));
    for slot in slots(life.awake) {
        let heuristic = &life.playbook[slot];
        let weight = weight(life, heuristic, samples);
        if weight > 0.0 {
            weights += weight;
            gain += weight * heuristic.paid.mean();
            error += weight * heuristic.paid.error();
            hits += weight * heuristic.paid.hits();
            voters |= 1 << slot;
            if weight > loudest.0 {
                loudest = (weight, heuristic.domain);
            }
        }
    }
    // Those awake together have seen much the same, so their errors do not average out.
    let (gain, error) = (gain / weights, sureness * error / weights);
    (voters != 0).then(|| Evidence {
        gain,
        lower: gain - error,
        upper: gain + error,
        hits: hits / weights,
        domain: loudest.1,
        voters,
    })
}

/// By how many deviations beyond the first its mean is away from nothing; those that take a side only on it.
fn weight(life: &Life, heuristic: &Heuristic, samples: f64) -> f64 {
    let paid = &heuristic.paid;
    if paid.samples < samples || !heuristic.voice {
        return 0.0;
    }
    let asked = match heuristic.stance {
        Stance::Watch => life.birth.world.domains[usize::from(heuristic.domain)].kind == DomainKind::Direction,
        Stance::Add => paid.sum > 0.0,
        Stance::Reduce => paid.sum < 0.0,
    };
    if !asked {
        return 0.0;
    }
    let error = paid.error();
    if error > 0.0 { (paid.mean().abs() / error - 1.0).max(0.0) } else { 0.0 }
}
