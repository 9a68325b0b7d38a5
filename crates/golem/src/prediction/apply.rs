//! What was seen, and what claims came to. It calculates and never decides.

use super::Event;
use crate::life::Life;
use crate::phage;
use crate::rule;

pub(crate) fn apply(life: &mut Life, event: &Event) {
    match event {
        Event::Sensed { until, bars, values, unit } => {
            let laws = life.laws();
            life.seen.sense(*until, *bars, values, *unit, laws.mean_keep);
            let level = life.birth.world.regime.and_then(|domain| life.seen.values.get(usize::from(domain)).copied());
            if let Some(level) = level {
                life.regimes.observe(level, laws);
            }
            phage::looked(life);
            rule::pay_out(life, *until, *unit);
            let worth = life.capital.worth(*unit);
            life.capital.peak = life.capital.peak.max(worth);
        }
        Event::Claimed(claim) => {
            life.claims_made = claim.id;
            life.claims.push(*claim);
        }
        Event::Resolved { claim, actual } => {
            if let Some(at) = life.claims.iter().position(|c| c.id == *claim) {
                let claim = life.claims.remove(at);
                let (measure, pairs_kept) = (life.birth.constitution.epistemic.measure, life.laws().pairs_kept);
                life.epistemic.resolve(&claim, *actual, life.tick, measure, pairs_kept);
                let (error, naive) = ((claim.value - actual).abs(), (claim.naive - actual).abs());
                life.stress.ledger.score(usize::from(claim.domain), error, naive);
            }
        }
        Event::Lapsed { claim } => life.claims.retain(|c| c.id != *claim),
    }
}
