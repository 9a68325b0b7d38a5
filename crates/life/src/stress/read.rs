//! How much presses, what that leaves open, and what the record says of each kind.

use super::{Allowed, Band, Kind, Past, Stressor, threshold};
use crate::constitution::StressMode;
use crate::life::Life;
use crate::mortality::economic;
use crate::time::Span;

/// The load by the runtime's record, from 0 to 1.
pub fn load(life: &Life) -> f64 {
    let figures = &life.constitution().stress;
    life.stress.active.iter().fold(0.0, |sum, stressor| sum + stressor.severity(figures)).min(1.0)
}

/// The stressors that press most, each kind once.
pub fn heaviest(life: &Life) -> [Option<Kind>; 3] {
    let figures = &life.constitution().stress;
    let mut active: Vec<(f64, Kind)> = life.stress.active.iter().map(|s| (s.severity(figures), s.kind)).collect();
    active.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut kinds = [None; 3];
    for (_, kind) in active {
        if !kinds.contains(&Some(kind))
            && let Some(free) = kinds.iter_mut().find(|kind| kind.is_none())
        {
            *free = Some(kind);
        }
    }
    kinds
}

/// The load with the stressors that the golem has named itself.
pub fn load_as_told(life: &Life) -> f64 {
    let rate = life.constitution().stress.named_rate;
    life.stress.named.iter().fold(load(life), |sum, named| sum + named.severity(rate)).min(1.0)
}

pub fn band(life: &Life) -> Band {
    if life.stress.active.is_empty() { Band::Nominal } else { Band::of(load(life)) }
}

/// Whether pressure may change what a golem does, or is only shown.
pub fn enforced(life: &Life) -> bool {
    life.constitution().stress.mode == StressMode::Enforced
}

/// Doings that the load leaves open; everything, unless it is enforced.
pub fn allowed(life: &Life) -> Allowed {
    if enforced(life) { band(life).allowed() } else { Band::Nominal.allowed() }
}

/// Warnings: past stressors in a domain where the golem is about to act again.
pub fn signals(life: &Life, domain: u8) -> impl Iterator<Item = &Past> {
    let on = life.constitution().stress.mode != StressMode::Off;
    let laws = life.laws();
    let same = move |past: &&Past| on && past.domain == Some(domain) && past.peak > laws.scar && !past.suspended;
    life.stress.past.iter().filter(same).take(laws.signals)
}

/// The share of the usual size, in per cent: half where a trusted warning speaks against it.
pub(crate) fn heeded_percent(life: &Life, domain: u8) -> i64 {
    if enforced(life) && signals(life, domain).any(Past::is_trusted) { 50 } else { 100 }
}

const HOUR: Span = Span::seconds(3_600);

/// The state of one kind in one domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// True while its condition holds, which begins it and makes it grow.
    pub presses: bool,
    /// True once nothing is left of it.
    pub clears: bool,
    /// The figure it depends on, in the unit of its kind.
    pub figure: f64,
}

impl Finding {
    /// Nothing presses, and nothing is left of it.
    const NOTHING: Finding = Finding { presses: false, clears: true, figure: 0.0 };
}

/// Reads one kind off the record; `served` is the ledger's count when the stressor came, for one that is active.
pub fn find(life: &Life, kind: Kind, domain: Option<u8>, served: u64) -> Finding {
    match kind {
        Kind::RepeatedFailure => domain.map_or(Finding::NOTHING, |domain| repeated_failure(life, domain)),
        Kind::Futility => domain.map_or_else(|| futile_week(life), |domain| futility(life, domain)),
        Kind::Invisibility => invisibility(life),
        Kind::IdentityViolation => identity_violation(life),
        Kind::ExistentialThreat => existential_threat(life),
        Kind::Purposelessness => purposelessness(life, served),
    }
}

fn repeated_failure(life: &Life, domain: u8) -> Finding {
    let Some(tally) = life.goals.get(usize::from(domain)) else { return Finding::NOTHING };
    let (known, failed, _) = tally.last(threshold::GOALS);
    let share = f64::from(failed) / f64::from(known.max(1));
    Finding {
        presses: failed >= threshold::FAILED && failed * 2 > known,
        clears: failed * 100 < known * threshold::FAILED_PERCENT && known - failed >= threshold::COMPLETED,
        figure: share,
    }
}

fn futility(life: &Life, domain: u8) -> Finding {
    let Some(tally) = life.goals.get(usize::from(domain)) else { return Finding::NOTHING };
    let (_, _, effects) = tally.last(threshold::GOALS);
    let futile = tally.completed(threshold::GOALS) >= threshold::FUTILE && effects <= threshold::FUTILE_EFFECTS;
    Finding { presses: futile, clears: effects >= threshold::EFFECTS, figure: f64::from(effects) }
}

fn futile_week(life: &Life) -> Finding {
    let below = life.stress.ledger.below;
    Finding { presses: below, clears: !below, figure: f64::from(u8::from(below)) }
}

fn invisibility(life: &Life) -> Finding {
    let ledger = &life.stress.ledger;
    let silent = life.age.as_millis() - ledger.answered.as_millis().min(life.age.as_millis());
    Finding {
        presses: ledger.outputs >= threshold::ASKS && silent >= threshold::SILENCE.as_millis(),
        clears: ledger.outputs == 0,
        figure: f64::from(ledger.outputs),
    }
}

fn identity_violation(life: &Life) -> Finding {
    let ledger = &life.stress.ledger;
    Finding {
        // While its owner has stopped it nothing is open to it, and nothing is held against it.
        presses: ledger.breached && ledger.decisions < threshold::DECISIONS && !life.heartbeat.frozen,
        clears: !ledger.breached || ledger.decisions >= threshold::DECISIONS,
        figure: f64::from(ledger.decisions),
    }
}

/// Money and skill only: being old, unlucky or stopped by its owner is no threat a golem could answer.
fn existential_threat(life: &Life) -> Finding {
    let clocks = life.constitution().clocks();
    let projected = economic::projected_life(life);
    let left = |hours: u64| projected.is_none_or(|left| left >= HOUR.times(hours));
    let fitness = if clocks.epistemic { life.vitality.epistemic } else { 1.0 };
    let falling = life.stress.ledger.falling;
    Finding {
        presses: !left(threshold::HOURS_SHORT) || (fitness < threshold::SKILL_SHORT && falling),
        clears: left(threshold::HOURS_SAFE) && (fitness >= threshold::SKILL_SAFE || !falling),
        figure: projected.map_or(f64::MAX, |left| left.as_millis() as f64 / HOUR.as_millis() as f64),
    }
}

fn purposelessness(life: &Life, served: u64) -> Finding {
    let ledger = &life.stress.ledger;
    let (known, serving, repeating) = ledger.purpose(threshold::GOALS);
    let idle = known - serving.min(known);
    Finding {
        presses: known >= threshold::JUDGED
            && (idle * 2 > known || repeating * 100 > known * threshold::REPEATING_PERCENT),
        clears: ledger.served > served,
        figure: ledger.served.saturating_sub(served) as f64,
    }
}

/// Every kind that the birth knows, in every domain it can be about.
pub fn places(life: &Life) -> impl Iterator<Item = (Kind, Option<u8>)> + use<> {
    let (domains, rates) = (life.birth.world.domains.len() as u8, &life.constitution().stress.rates);
    let known = Kind::ALL.map(|kind| rates.of(kind).map(|_| kind));
    let kinds = move || known.into_iter().flatten();
    let each = kinds().filter(|kind| kind.about().each_domain());
    let each = each.flat_map(move |kind| (0..domains).map(move |domain| (kind, Some(domain))));
    each.chain(kinds().filter(|kind| kind.about().whole_life()).map(|kind| (kind, None)))
}

pub fn severity(life: &Life, kind: Kind, domain: Option<u8>) -> f64 {
    let figures = &life.constitution().stress;
    life.stress.find(kind, domain).map_or(0.0, |stressor: &Stressor| stressor.severity(figures))
}

/// Whether work in a domain serves its owner.
pub fn serves(life: &Life, domain: u8) -> bool {
    let Some(spec) = life.birth.world.domains.get(usize::from(domain)) else { return false };
    let objectives = &life.constitution().stress.objectives;
    if objectives.is_empty() { spec.weight > 0.0 } else { objectives.contains(&spec.name) }
}
