//! Applying observations and the answers to claims. It calculates and never decides.

use super::{Dated, Event};
use crate::constitution::{Measure, MindKind};
use crate::life::Life;
use crate::outside;
use crate::phage;
use crate::rule::{self, learning};
use crate::time::Time;
use crate::world::DomainKind;

pub(crate) fn apply(life: &mut Life, event: &Event) {
    match event {
        Event::Sensed { until, bars, values, unit } => {
            assert!(*until > life.seen.until, "a bar is seen twice");
            assert!(values.len() == life.birth.world.domains.len(), "a bar has no value for a domain");
            let laws = life.laws();
            life.seen.go_on(&life.birth.world.domains, values, laws);
            life.seen.sense(*until, *bars, values, *unit, laws.mean_keep);
            let level = life.birth.world.regime.and_then(|domain| life.seen.values.get(usize::from(domain)).copied());
            if let Some(level) = level {
                life.regimes.observe(level, laws);
            }
            phage::looked(life);
            outside::looked(life);
            rule::pay_out(life, *until, *unit);
            let worth = life.capital.worth(*unit);
            life.capital.peak = life.capital.peak.max(worth);
        }
        Event::Claimed(claim) => {
            assert!(claim.id > life.claims_made, "two claims have one number");
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
        Event::Dated(claim) => {
            assert!(claim.number > life.dated_made, "two dated claims have one number");
            assert!(claim.due > claim.made, "a claim is about the past");
            life.dated_made = claim.number;
            life.dated.push(*claim);
        }
        Event::Met { domain, at, actual } => meet(life, usize::from(*domain), *at, *actual),
    }
}

/// Scores all dated claims of a domain that have come due by their mean: a claim made ten times counts once.
fn meet(life: &mut Life, domain: usize, at: Time, actual: f64) {
    let (laws, kind) = (life.laws(), life.birth.world.domains[domain].kind);
    let met = |claim: &Dated| usize::from(claim.domain) == domain && claim.due <= at;
    let claims: Vec<Dated> = life.dated.iter().copied().filter(met).collect();
    life.dated.retain(|claim| !met(claim));
    let mean = |of: &dyn Fn(&Dated) -> f64| claims.iter().map(of).sum::<f64>() / claims.len().max(1) as f64;
    let doubt = if kind == DomainKind::Direction { laws.dated_doubt } else { 0.0 };
    let error = doubt + mean(&|claim| learning::error(kind, claim.base, claim.value, actual, laws));
    let naive_error = doubt + mean(&|claim| learning::error(kind, claim.base, claim.naive, actual, laws));
    let departure = mean(&|claim| learning::departure(kind, claim.value, claim.naive));
    if life.birth.constitution.mind.kind == MindKind::Outside {
        life.epistemic.domains[domain].fade(laws.dated_window);
    }
    life.epistemic.score(domain, error, naive_error, departure, life.tick);
    life.stress.ledger.score(domain, error, naive_error);
    if life.birth.constitution.epistemic.measure == Measure::R2 {
        let (said, came) = (mean(&|claim| claim.value), mean(&|claim| learning::met(kind, claim.base, actual)));
        life.epistemic.pair(domain, said, came, laws.pairs_kept);
    }
}
