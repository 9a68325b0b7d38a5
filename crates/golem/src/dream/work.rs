//! The night's work, as rules do it: look through what was lived for a condition under which the world did something
//! the playbook did not expect, fit on one half, and keep only what holds on the other.
//!
//! It is given a life to read and memories, and what it returns is [`Found`]: hypotheses as typed data. There is nothing
//! in reach of this file that could say "do".
//!
//! ```compile_fail,E0308
//! // What a night has found cannot be put forward as something to do.
//! fn act(found: golem::dream::Found) -> golem::What {
//!     golem::What::Proposed(found)
//! }
//! ```

use serde::{Deserialize, Serialize};

use super::memory::{Experience, Memory};
use super::staging::Staged;
use crate::constitution::DreamTier;
use crate::laws::Laws;
use crate::life::Life;
use crate::rule::{Comparison, Condition, Heuristic, Is, Provenance, Stance, learning, rounded};
use crate::world::{DomainKind, Features};

/// Episodes looked through, and proposals put to the test a night.
const REPLAYED: usize = 160;
const PROPOSED: usize = 6;
/// A light night looks no further back than so many episodes.
const LATELY: usize = 400;
/// Cases a fit, and a test, needs.
const CASES: usize = 10;
/// Deviations by which a hypothesis must do better than the playbook on what it has not seen.
const SURE: f64 = 2.0;

/// What a night came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    pub night: u64,
    pub replayed: u32,
    /// Conditions looked at, proposed after fitting, and borne out by what was held back.
    pub looked_at: u32,
    pub proposed: u32,
    pub staged: Vec<Staged>,
}

impl Found {
    /// A night without dreams.
    pub fn nothing(life: &Life) -> Found {
        Found { night: life.dreams.night.as_ref().map_or(0, |night| night.number), ..Found::default() }
    }
}

/// Goes through the night's replay.
pub fn work(memory: &Memory, life: &Life) -> Found {
    let light = life.constitution().dream.tier == DreamTier::Core;
    let chosen = memory.select(life, REPLAYED, if light { LATELY } else { usize::MAX });
    let features: Vec<Features> = chosen.iter().map(|e| e.state.iter().map(|f| f64::from(*f)).collect()).collect();
    let mut found = Found { replayed: chosen.len() as u32, ..Found::nothing(life) };
    let domains = life.birth.world.domains.len();
    for domain in 0..domains {
        // A light night has time for one of them; the next has it for the next.
        if light && found.night as usize % domains != domain {
            continue;
        }
        let cases = cases(life, domain, &chosen, &features);
        if cases.len() < 4 * CASES {
            continue;
        }
        // What is learned from and what is tested on take turns, so that neither is older than the other.
        let half = |odd: usize| cases.iter().skip(odd).step_by(2).collect::<Vec<_>>();
        let (learned, held_out) = (half(0), half(1));
        let mut fits = fits(life, domain, &learned, &mut found.looked_at);
        fits.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, condition, effect) in fits.into_iter().take(PROPOSED) {
            found.proposed += 1;
            let staged = test(life, domain, &condition, effect, &held_out);
            found.staged.extend(staged.filter(|new| !found.staged.iter().any(|old| old.says_the_same(new))));
        }
    }
    found.staged.sort_by(|a, b| b.utility.total_cmp(&a.utility));
    found
}

/// One experience as a question of one domain.
struct Case<'a> {
    features: &'a Features,
    number: u64,
    base: f64,
    actual: f64,
    naive: f64,
    /// How wrong the playbook, as it is now, would have been.
    playbook: f64,
}

fn cases<'a>(life: &Life, domain: usize, chosen: &[&Experience], features: &'a [Features]) -> Vec<Case<'a>> {
    let (spec, laws) = (&life.birth.world.domains[domain], life.laws());
    let here: Vec<&Heuristic> = life.playbook.iter().filter(|h| usize::from(h.domain) == domain).collect();
    // Episodes that look ahead over the same stretch of time have one end between them, and count once.
    let ahead = life.horizon(domain).as_millis() / life.constitution().interval.as_millis().max(1);
    let mut until = 0;
    let mut apart = |e: &Experience| {
        let apart = e.tick >= until;
        until = if apart { e.tick + ahead } else { until };
        apart
    };
    let each = |(e, features): (&&Experience, &'a Features)| {
        let (base, actual) = (e.base[domain], e.actual[domain]);
        let naive = match spec.kind {
            DomainKind::Value => base,
            DomainKind::Direction => life.seen.rises.get(domain).copied().unwrap_or(0.5),
            DomainKind::Range => {
                let share = spec.scale.and_then(|at| features.get(usize::from(at))).copied().unwrap_or(0.0);
                (base * share).abs()
            }
        };
        let awake = here.iter().copied().filter(|h| h.condition.holds(features));
        let together = learning::together(spec.kind, naive, awake, laws);
        let playbook = learning::error(spec.kind, base, together, actual, laws);
        Case { features, number: e.number, base, actual, naive, playbook }
    };
    chosen.iter().zip(features).filter(|(e, _)| e.actual.len() > domain && apart(e)).map(each).collect()
}

/// Every feature against its quarters, from both sides: what it would have gained on what is learned from.
fn fits(life: &Life, domain: usize, cases: &[&Case<'_>], looked_at: &mut u32) -> Vec<(f64, Condition, f64)> {
    let (kind, laws) = (life.birth.world.domains[domain].kind, life.laws());
    let mut fits = Vec::new();
    for feature in 0..life.birth.world.features.len() {
        let mut values: Vec<f64> = cases.iter().map(|case| case.features[feature]).collect();
        values.sort_by(f64::total_cmp);
        // A light night tries the middle alone.
        let light = life.constitution().dream.tier == DreamTier::Core;
        for quarter in if light { 2..3 } else { 1..4 } {
            let than = rounded(values[values.len() * quarter / 4], 3);
            for is in [Is::Above, Is::Below] {
                *looked_at += 1;
                let condition = Condition([Comparison { feature: feature as u8, is, than }].into_iter().collect());
                let under: Vec<&Case<'_>> =
                    cases.iter().copied().filter(|case| condition.holds(case.features)).collect();
                if under.len() < CASES {
                    continue;
                }
                let Some(effect) = fit(kind, &under, laws) else { continue };
                let gain: f64 = under.iter().map(|case| case.playbook - wrong(kind, effect, case, laws)).sum();
                if gain > 0.0 {
                    fits.push((gain, condition, effect));
                }
            }
        }
    }
    fits
}

/// The expectation that would have been least wrong.
fn fit(kind: DomainKind, cases: &[&Case<'_>], laws: &Laws) -> Option<f64> {
    let mut ratios: Vec<f64> = match kind {
        DomainKind::Direction => {
            let rises: f64 = cases.iter().map(|case| learning::rise(case.base, case.actual)).sum();
            let n = cases.len() as f64;
            return Some(rounded((rises + 10.0) / (n + 20.0), 2));
        }
        DomainKind::Value => cases.iter().filter(|c| c.naive > 0.0).map(|c| c.actual / c.naive).collect(),
        DomainKind::Range => {
            cases.iter().filter(|c| c.naive > 0.0).map(|c| (c.actual - c.base).abs() / c.naive).collect()
        }
    };
    ratios.sort_by(f64::total_cmp);
    let share = if kind == DomainKind::Range { laws.band_holds } else { 0.5 };
    let at = ((ratios.len() as f64 * share) as usize).min(ratios.len().checked_sub(1)?);
    Some(rounded(ratios[at].clamp(laws.effect_least, laws.effect_most), 2))
}

fn wrong(kind: DomainKind, effect: f64, case: &Case<'_>, laws: &Laws) -> f64 {
    let forecast = if kind == DomainKind::Direction { effect } else { case.naive * effect };
    learning::error(kind, case.base, forecast, case.actual, laws)
}

/// Held against what it has not seen: it must surely do better than the playbook as it is.
fn test(life: &Life, domain: usize, condition: &Condition, effect: f64, held_out: &[&Case<'_>]) -> Option<Staged> {
    let (kind, laws) = (life.birth.world.domains[domain].kind, life.laws());
    let under: Vec<&Case<'_>> = held_out.iter().copied().filter(|case| condition.holds(case.features)).collect();
    let gains: Vec<f64> = under.iter().map(|case| case.playbook - wrong(kind, effect, case, laws)).collect();
    let n = gains.len() as f64;
    if gains.len() < CASES {
        return None;
    }
    let mean = gains.iter().sum::<f64>() / n;
    let variance = gains.iter().map(|gain| (gain - mean) * (gain - mean)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    if mean <= 0.0 || mean < SURE * error {
        return None;
    }
    let usual = under.iter().map(|case| case.playbook).sum::<f64>() / n;
    let mut heuristic =
        Heuristic::new(0, condition.clone(), domain as u8, kind, Stance::Watch, Provenance::Dreamt, life.tick);
    heuristic.effect = effect;
    let episodes = under.iter().map(|case| case.number).take(8).collect();
    Some(Staged::new(heuristic, if usual > 0.0 { mean / usual } else { 0.0 }, episodes, life))
}
