//! The vote: what holding has paid whenever things were as they are now, by every heuristic whose condition holds.
//!
//! Every look is a stake: the worth of a unit is followed for as long as exposure is usually held, whether or not
//! anything was done. Each heuristic that was awake counts the result, never twice over the same stretch of time, so
//! that a number of samples is a number of independent ones. Beliefs have no weight: a vote counts what was shown,
//! beyond what luck could have.

use super::{Fragment, Heuristic, Paid, Stance, sample, slots};
use crate::life::Life;
use crate::outside;
use crate::world::DomainKind;

/// The evidence of all heuristics awake on holding from here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    pub gain: f64,
    /// The gain less as many deviations as sureness asks for.
    pub lower: f64,
    /// The gain plus as many deviations.
    pub upper: f64,
    /// Share of samples that paid more than their cost.
    pub hits: f64,
    /// The domain of the heuristic that weighs most.
    pub domain: u8,
    pub voters: u64,
    /// The fragment that speaks for it, by which what is taken up is left again.
    pub fragment: Option<Fragment>,
}

/// Evidence on holding from here; none while no heuristic that is awake has seen enough.
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
    if outside::adds(life) {
        let paid = &life.outside.paid;
        let weight = if paid.samples < samples { 0.0 } else { beyond_luck(paid) };
        if weight > 0.0 {
            weights += weight;
            gain += weight * paid.mean();
            error += weight * paid.error();
            hits += weight * paid.hits();
            if weight > loudest.0 {
                loudest = (weight, life.outside.domain());
            }
        }
    }
    // Heuristics awake together have seen much the same, so their errors do not average out.
    let (gain, error) = (gain / weights, sureness * error / weights);
    (weights > 0.0).then(|| Evidence {
        gain,
        lower: gain - error,
        upper: gain + error,
        hits: hits / weights,
        domain: loudest.1,
        voters,
        fragment: None,
    })
}

/// Evidence for taking up exposure: the vote's, or that of a fragment that has surely paid more. It is not mixed with
/// the vote, because it is about another way out.
pub fn backing(life: &Life) -> Option<Evidence> {
    let vote = evidence(life);
    if life.laws().fragments == 0 || life.awake_at != life.seen.until {
        return vote;
    }
    let shown = slots(life.awake).filter_map(|slot| alone(life, slot));
    let wanted = |evidence: &Evidence| is_wanted(life, evidence);
    shown.chain(vote).max_by(|a, b| wanted(a).cmp(&wanted(b)).then(a.lower.total_cmp(&b.lower)))
}

/// Whether the owner would have exposure taken up by this evidence.
pub fn is_wanted(life: &Life, evidence: &Evidence) -> bool {
    let domain = &life.birth.world.domains[usize::from(evidence.domain)];
    life.constitution().strategy.prefers(&domain.name)
}

/// Evidence of one fragment on entering here and leaving by its way out.
fn alone(life: &Life, slot: usize) -> Option<Evidence> {
    let heuristic = &life.playbook[slot];
    let (fragment, paid) = (heuristic.fragment()?, &heuristic.paid);
    if paid.samples < f64::from(life.constitution().mind.samples) {
        return None;
    }
    let (gain, error) = (paid.mean(), sample::sureness(life) * paid.error());
    Some(Evidence {
        gain,
        lower: gain - error,
        upper: gain + error,
        hits: paid.hits(),
        domain: heuristic.domain,
        voters: 1 << slot,
        fragment: Some(fragment),
    })
}

/// The weight of a heuristic: by how many deviations beyond the first its mean is away from zero. One that takes a side
/// counts only on it.
fn weight(life: &Life, heuristic: &Heuristic, samples: f64) -> f64 {
    let paid = &heuristic.paid;
    if paid.samples < samples || !heuristic.voice {
        return 0.0;
    }
    let asked = match heuristic.stance {
        Stance::Watch => life.birth.world.domains[usize::from(heuristic.domain)].kind == DomainKind::Direction,
        Stance::Add => paid.sum > 0.0,
        Stance::Reduce => paid.sum < 0.0,
        Stance::Fragment(_) => false,
    };
    if !asked {
        return 0.0;
    }
    beyond_luck(paid)
}

fn beyond_luck(paid: &Paid) -> f64 {
    let error = paid.error();
    if error > 0.0 { (paid.mean().abs() / error - 1.0).max(0.0) } else { 0.0 }
}
