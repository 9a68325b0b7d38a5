//! The record of an outside mind's claims. It calculates and never decides.

use super::say::alone;
use crate::life::Life;
use crate::prediction::{Departures, Prediction, Voice};

/// Notes what the mind says of a claim being made, beside what the other voices say.
pub(crate) fn said(life: &mut Life, domain: usize, tick: u64, naive: f64, said: &Departures) {
    let kind = life.birth.world.domains[domain].kind;
    let Some(far) = alone(life, domain, kind, naive) else { return };
    let others = life.trust[domain].together(&said.without(Voice::Outside)) as f32;
    life.outside.standing[domain].say(tick, far, others);
}

/// Scores what the mind said of a claim that has met its bar.
pub(crate) fn scored(life: &mut Life, domain: usize, claim: &Prediction, actual: f64) {
    let (laws, kind) = (life.laws(), life.birth.world.domains[domain].kind);
    if let Some(standing) = life.outside.standing.get_mut(domain) {
        standing.score(kind, claim, actual, laws);
    }
}
