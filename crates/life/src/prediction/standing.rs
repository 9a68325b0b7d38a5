//! The standing of an outside voice in a domain: its claims and what came of them, which its say depends on.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::Prediction;
use crate::grimoire::Shown;
use crate::laws::Laws;
use crate::limits;
use crate::rule::learning;
use crate::world::DomainKind;

/// Skill beyond luck at which a voice says all that it thinks.
const SURE: f64 = 0.02;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    said: VecDeque<Said>,
    /// The record of the voice against naive; its say depends on this alone.
    pub shown: Option<Shown>,
    /// Errors of all other voices together, alone and gone half way to meet it, which show what it adds.
    pub without: f64,
    pub with: f64,
    /// Claims it was scored on.
    pub resolved: u64,
}

/// The forecasts for an open claim, from when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Said {
    /// The last bits of the tick.
    tick: u16,
    /// How far from naive this voice would have gone alone.
    far: f32,
    /// How far from naive the other voices went together.
    others: f32,
}

impl Standing {
    /// Notes what this voice says of a claim being made, beside the others.
    pub(crate) fn say(&mut self, tick: u64, far: f32, others: f32) {
        if self.said.len() >= limits::OPEN {
            self.said.pop_front();
        }
        self.said.push_back(Said { tick: tick as u16, far, others });
    }

    /// Scores what was said of a claim that has met its bar. False if nothing was said.
    pub(crate) fn score(&mut self, kind: DomainKind, claim: &Prediction, actual: f64, laws: &Laws) -> bool {
        let age = |said: &Said| (claim.made as u16).wrapping_sub(said.tick) as i16;
        while self.said.front().is_some_and(|said| age(said) > 0) {
            self.said.pop_front();
        }
        let Some(said) = self.said.pop_front_if(|said| age(said) == 0) else { return false };
        let wrong = |far: f64| learning::error(kind, claim.base, claim.naive + far, actual, laws);
        let (own, others) = (f64::from(said.far), f64::from(said.others));
        let keep = 1.0 - 1.0 / laws.heuristic_memory;
        let shown = self.shown.get_or_insert(Shown { claims: 0.0, error: 0.0, naive_error: 0.0 });
        shown.claims = shown.claims * keep + 1.0;
        shown.error = shown.error * keep + wrong(own);
        shown.naive_error = shown.naive_error * keep + wrong(0.0);
        self.without = self.without * keep + wrong(others);
        self.with = self.with * keep + wrong((others + own) / 2.0);
        self.resolved += 1;
        true
    }

    /// The share of naive's error that following this voice alone would have saved.
    pub fn skill(&self) -> f64 {
        self.shown.as_ref().filter(|shown| shown.naive_error > 0.0).map_or(0.0, |s| 1.0 - s.error / s.naive_error)
    }

    /// The share of the other voices' error that going half way to meet this one saves.
    pub fn gain(&self) -> f64 {
        if self.without > 0.0 { 1.0 - self.with / self.without } else { 0.0 }
    }

    /// The share of this voice's departure that goes into the claim: nothing before it has shown more than luck could,
    /// and soon all of it. How far that is followed is a matter of trust, as for every voice.
    pub(crate) fn say_of(&self, kind: DomainKind, laws: &Laws) -> f64 {
        let Some(shown) = &self.shown else { return 0.0 };
        let luck = if kind == DomainKind::Direction { laws.luck_of_direction } else { laws.luck };
        ((self.skill() - luck / (shown.claims + 1.0).sqrt()) / SURE).clamp(0.0, 1.0)
    }
}
