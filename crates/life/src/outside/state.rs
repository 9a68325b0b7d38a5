//! What a mind outside may say, what it said last, and what that has come to.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::policy::Proposal;
use crate::prediction::Standing;
use crate::rule::{Paid, text};
use crate::stress::Assessment;
use crate::thought::{NOTE, RULES};
use crate::world::{DomainKind, Manifest};

/// What is expected of a domain by its horizon: the value itself, the chance of a rise, or half the width of the band.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    pub domain: u8,
    pub value: f64,
}

/// What a mind outside says before a tick. It may leave out any part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Word {
    pub claims: Vec<Expected>,
    /// As text, which is read again before it is taken up.
    pub rules: Vec<String>,
    pub proposal: Option<Proposal>,
    /// The golem's own word about its state; it speaks of now.
    pub assessment: Option<Box<Assessment>>,
    pub note: String,
}

impl Word {
    /// Why it cannot be taken, in words for whoever wrote the mind.
    pub fn check(&self, world: &Manifest) -> Result<(), String> {
        for (at, claim) in self.claims.iter().enumerate() {
            let number = claim.domain;
            let Some(domain) = world.domains.get(usize::from(number)) else {
                return Err(format!("there is no domain {number}"));
            };
            let name = &domain.name;
            if self.claims[..at].iter().any(|other| other.domain == number) {
                return Err(format!("{name} is spoken of twice"));
            }
            let value = claim.value;
            let bounds = match domain.kind {
                DomainKind::Value => (-limits::LARGEST, limits::LARGEST),
                DomainKind::Direction => (0.0, 1.0),
                DomainKind::Range => (0.0, limits::LARGEST),
            };
            if !(bounds.0..=bounds.1).contains(&value) {
                return Err(format!("{value} is nothing that {name} can be expected to be"));
            }
        }
        if self.rules.len() > RULES {
            return Err(format!("{} rules are more than the {RULES} of one word", self.rules.len()));
        }
        for rule in &self.rules {
            text::parse(rule, world).map_err(|why| format!("the rule '{rule}' cannot be read: {why}"))?;
        }
        if let Some(Proposal { action, size }) = self.proposal {
            if usize::from(action) >= world.actions.len() {
                return Err(format!("there is no action {action}"));
            }
            if !(size > 0.0 && size <= 1.0) {
                return Err(format!("a size of {size} is not above 0 and up to 1"));
            }
        }
        if !self.assessment.as_ref().is_none_or(|assessment| assessment.is_bounded()) {
            return Err("its assessment is out of bounds".to_owned());
        }
        if self.note.chars().count() > NOTE {
            return Err(format!("a note has {NOTE} letters at most"));
        }
        Ok(())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outside {
    /// Times it has spoken.
    pub words: u64,
    /// The tick that what it said last is for.
    pub(super) tick: u64,
    pub(super) claims: Vec<Expected>,
    pub(super) proposal: Option<Proposal>,
    /// What it would have its golem's owner know.
    pub note: String,
    /// What its claims came to, by domain, from the first on.
    pub standing: ArrayVec<Standing, { limits::DOMAINS }>,
    /// What holding has paid whenever it would have taken up exposure.
    pub paid: Paid,
}

impl Outside {
    /// What it expects of a domain, if it has said so for this tick.
    pub(super) fn expects(&self, tick: u64, domain: usize) -> Option<f64> {
        let claim = self.claims.iter().find(|claim| usize::from(claim.domain) == domain)?;
        (self.words > 0 && self.tick == tick).then_some(claim.value)
    }

    /// The domain it has been held to most often.
    pub(crate) fn domain(&self) -> u8 {
        let most = self.standing.iter().enumerate().max_by_key(|(at, one)| (one.resolved, std::cmp::Reverse(*at)));
        most.map_or(0, |(at, _)| at as u8)
    }
}
