//! The state of an outside mind: its latest word, and the record of its claims.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::policy::Proposal;
use crate::prediction::Standing;
use crate::rule::{Paid, text};
use crate::stress::Assessment;
use crate::thought::{NOTE, RULES};
use crate::world::{DomainKind, Manifest};

/// An expectation for a domain at its horizon: the value itself, the chance of a rise, or half the width of the band.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    pub domain: u8,
    pub value: f64,
}

/// The word of an outside mind before a tick. It may leave out any part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Word {
    pub claims: Vec<Expected>,
    /// Rules as text, which is parsed before they are taken up.
    pub rules: Vec<String>,
    pub proposal: Option<Proposal>,
    /// An assessment of the golem's present state.
    pub assessment: Option<Box<Assessment>>,
    pub note: String,
}

impl Word {
    /// Refuses a word that does not fit the world, with the reason for the author of the mind.
    pub fn check(&self, world: &Manifest) -> Result<(), String> {
        for (at, claim) in self.claims.iter().enumerate() {
            let number = claim.domain;
            let Some(domain) = world.domains.get(usize::from(number)) else {
                return Err(format!("there is no domain {number}"));
            };
            let name = &domain.name;
            if self.claims[..at].iter().any(|other| other.domain == number) {
                return Err(format!("there are two claims about {name}; make one"));
            }
            let value = claim.value;
            let bounds = match domain.kind {
                DomainKind::Value => (-limits::LARGEST, limits::LARGEST),
                DomainKind::Direction => (0.0, 1.0),
                DomainKind::Range => (0.0, limits::LARGEST),
            };
            if !(bounds.0..=bounds.1).contains(&value) {
                return Err(format!("{value} is not a possible value of {name}"));
            }
        }
        if self.rules.len() > RULES {
            return Err(format!("a word may carry {RULES} rules at most, not {}", self.rules.len()));
        }
        for rule in &self.rules {
            text::parse(rule, world).map_err(|why| format!("the rule '{rule}' cannot be read: {why}"))?;
        }
        if let Some(Proposal { action, size }) = self.proposal {
            if usize::from(action) >= world.actions.len() {
                return Err(format!("there is no action {action}"));
            }
            if !(size > 0.0 && size <= 1.0) {
                return Err(format!("a size must be above 0 and at most 1, not {size}"));
            }
        }
        if !self.assessment.as_ref().is_none_or(|assessment| assessment.is_bounded()) {
            return Err("its assessment is out of bounds".to_owned());
        }
        if self.note.chars().count() > NOTE {
            return Err(format!("a note may have {NOTE} characters at most"));
        }
        Ok(())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outside {
    /// Times it has spoken.
    pub words: u64,
    /// The tick that its latest word is for.
    pub(super) tick: u64,
    pub(super) claims: Vec<Expected>,
    pub(super) proposal: Option<Proposal>,
    /// The latest note to its golem's owner.
    pub note: String,
    /// The record of its claims, by domain, from the first on.
    pub standing: ArrayVec<Standing, { limits::DOMAINS }>,
    /// The pay of holding whenever it would have taken up exposure.
    pub paid: Paid,
}

impl Outside {
    /// The expectation for a domain, if there is one for this tick.
    pub(super) fn expects(&self, tick: u64, domain: usize) -> Option<f64> {
        let claim = self.claims.iter().find(|claim| usize::from(claim.domain) == domain)?;
        (self.words > 0 && self.tick == tick).then_some(claim.value)
    }

    /// The domain with the most of its claims resolved.
    pub(crate) fn domain(&self) -> u8 {
        let most = self.standing.iter().enumerate().max_by_key(|(at, one)| (one.resolved, std::cmp::Reverse(*at)));
        most.map_or(0, |(at, _)| at as u8)
    }
}
