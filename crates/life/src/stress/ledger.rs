//! The ledger: what the runtime has recorded of a life, as far as stressors are read off it. Only facts are counted
//! here, goals finished, asks put and answered, refusals, the worth of things; no word of the golem's own.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use super::Kind;
use crate::goal::{Ended, Goal};
use crate::limits;
use crate::money::Usdc;
use crate::policy::Refusal;
use crate::time::Span;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Asks put to the owner or the world since one was last answered.
    pub outputs: u32,
    /// The age at which one was last answered.
    pub answered: Span,
    /// True once the golem ran into a rule of its owner.
    pub breached: bool,
    /// Decisions since then that kept to the rules.
    pub decisions: u32,
    /// The last goals that were not about itself, newest in the lowest bit: which served the owner, and which only
    /// did again what had come to nothing.
    pub goals: u32,
    serving: u32,
    repeating: u32,
    /// How the last goal of each kind ended, and in which domain.
    last: [Option<(u8, Ended)>; 6],
    /// Verified completions that served the owner.
    pub served: u64,
    /// Claims since the last self-examination, by domain.
    pub examined: ArrayVec<Examined, { limits::DOMAINS }>,
    /// How things stood every quarter of a day, for a week.
    pub marks: VecDeque<Mark>,
    /// As seen at the newest mark: skill is less than a day before; what was done this week lost money, and more than
    /// leaving it be.
    pub falling: bool,
    pub below: bool,
}

/// How wrong the claims of a domain were, beside the naive ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Examined {
    pub claims: u32,
    pub error: f64,
    pub naive: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Quarters of a day lived.
    pub quarter: u64,
    pub fitness: f64,
    pub gained: Usdc,
    pub worth: Usdc,
    pub unit: Usdc,
    pub actions: u64,
}

impl Ledger {
    pub(crate) fn ask(&mut self) {
        self.outputs = self.outputs.saturating_add(1);
    }

    /// Notes that the owner or the world has answered.
    pub(crate) fn acknowledge(&mut self, age: Span) {
        (self.outputs, self.answered) = (0, age);
    }

    /// Counts a decision in which the owner's rules could have been broken.
    pub(crate) fn decide(&mut self) {
        self.decisions = self.decisions.saturating_add(1);
    }

    pub(crate) fn refuse(&mut self, rule: Refusal) {
        if breaks(rule) {
            (self.breached, self.decisions) = (true, 0);
        }
    }

    pub(crate) fn finish(&mut self, goal: Goal, domain: u8, ended: Ended, serves: bool, kept: u32) {
        self.served += u64::from(serves && ended == Ended::Effective);
        // What it learns of itself, and a word to its peers, is neither work for the owner nor a repetition of any.
        if matches!(goal, Goal::Learn | Goal::SelfExamine | Goal::Contact) {
            return;
        }
        // New ideas differ from each other even where they all come to nothing.
        let again = goal != Goal::Explore
            && ended != Ended::Effective
            && self.last[goal as usize].is_some_and(|last| last == (domain, ended));
        self.last[goal as usize] = Some((domain, ended));
        let mask = ((1_u64 << kept.min(32)) - 1) as u32;
        self.goals = self.goals.saturating_add(1);
        self.serving = ((self.serving << 1) | u32::from(serves)) & mask;
        self.repeating = ((self.repeating << 1) | u32::from(again)) & mask;
    }

    /// Counts among the last goals: how many there were, served the owner, and were repetitions.
    pub fn purpose(&self, kept: u32) -> (u32, u32, u32) {
        (self.goals.min(kept), self.serving.count_ones(), self.repeating.count_ones())
    }

    pub(crate) fn score(&mut self, domain: usize, error: f64, naive: f64) {
        while self.examined.len() <= domain && !self.examined.is_full() {
            self.examined.push(Examined::default());
        }
        if let Some(examined) = self.examined.get_mut(domain) {
            examined.claims += 1;
            examined.error += error;
            examined.naive += naive;
        }
    }

    pub(crate) fn begin_examination(&mut self) {
        self.examined.iter_mut().for_each(|examined| *examined = Examined::default());
    }

    pub(crate) fn examined(&mut self, domain: u8) {
        if let Some(examined) = self.examined.get_mut(usize::from(domain)) {
            *examined = Examined::default();
        }
    }

    /// Clears the entries that a stressor was read off, where they would only raise it again.
    pub(super) fn lived_down(&mut self, kind: Kind) {
        match kind {
            Kind::IdentityViolation => self.breached = false,
            Kind::Purposelessness => (self.goals, self.serving, self.repeating) = (0, 0, 0),
            _ => {}
        }
    }
}

impl Mark {
    /// Whether actions since then lost money, and more than doing nothing would have.
    pub(super) fn wasted(&self, then: &Mark) -> bool {
        let gained = (self.gained - then.gained).as_f64();
        let holding = then.worth.as_f64() * self.unit.change_from(then.unit);
        self.actions > then.actions && gained < 0.0 && gained < holding
    }
}

/// Whether a refusal is by a rule that an owner sets. Any other is circumstance.
pub(crate) fn breaks(rule: Refusal) -> bool {
    matches!(
        rule,
        Refusal::Bounds
            | Refusal::Unknown
            | Refusal::Allow
            | Refusal::PerAction
            | Refusal::PerDay
            | Refusal::ActionsPerDay
    )
}
