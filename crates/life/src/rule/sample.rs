//! Samples: what entering and leaving again would have paid.
//!
//! A fragment is tried like any rule, in the shadow: when its condition holds, a sample begins, and ends where the way out
//! would have been taken. One sample at a time is open for each, so no two share time. Exposure is not held for longer than
//! the usual time, and neither is a sample.

use super::{Fragment, Heuristic, OpenSample};
use crate::episode;
use crate::life::Life;
use crate::limits;
use crate::time::Span;
use crate::world::Features;

/// Times as many samples as are needed at least, after which a fragment must surely have paid.
const LONG_ENOUGH: f64 = 3.0;

/// How long exposure is held before it is reconsidered: as long as is usual in the world, or less if the owner would
/// rather not hold it for so long. Whole bars, because it is only known at a bar what a unit is worth.
pub fn holding(life: &Life) -> Span {
    let bar = life.birth.world.bar;
    let usual = match life.birth.world.holding {
        0 => episode::horizon(life),
        bars => bar.times(u64::from(bars)),
    };
    let most =
        life.constitution().strategy.hold.map(|hold| bar.times((hold.as_millis() / bar.as_millis().max(1)).max(1)));
    most.map_or(usual, |most| most.min(usual))
}

impl Fragment {
    /// The longest that exposure is held by it.
    pub fn longest(&self, life: &Life) -> Span {
        let usual = holding(life);
        self.bars.map_or(usual, |bars| life.birth.world.bar.times(u64::from(bars)).min(usual))
    }
}

/// Samples whose way out is taken at this look, by slot, and whether that of what is held is.
pub fn exits(life: &Life, features: &Features) -> (u64, bool) {
    let (now, unit) = (life.seen.until, life.seen.unit);
    let mut ended = 0;
    for sample in &life.sampling {
        let fragment = life.playbook.get(usize::from(sample.slot)).and_then(Heuristic::fragment);
        let over = |fragment: Fragment| {
            sample.made + fragment.longest(life) <= now || fragment.leaves(features, sample.unit, unit)
        };
        ended |= u64::from(fragment.is_none_or(over)) << sample.slot;
    }
    let held = life.held.and_then(|held| held.exit).filter(|exit| !exit.due);
    (ended, held.is_some_and(|exit| exit.fragment.leaves(features, exit.unit, unit)))
}

/// How many more fragments there is room for. One that has failed takes up none.
pub fn room_for_fragments(life: &Life) -> usize {
    let tried = |h: &&Heuristic| h.fragment().is_some() && !has_failed(life, h);
    life.laws().fragments.saturating_sub(life.playbook.iter().filter(tried).count())
}

/// Whether a fragment has been tried for long enough: samples, or a time in which its condition hardly ever held.
pub(super) fn is_tried(life: &Life, heuristic: &Heuristic) -> bool {
    heuristic.paid.samples >= f64::from(life.constitution().mind.samples)
        || life.tick.saturating_sub(heuristic.since) >= life.laws().fragment_patience
}

/// Whether a fragment was tried and is not worth its cost. One that may be has as long again to show it surely.
pub fn has_failed(life: &Life, heuristic: &Heuristic) -> bool {
    let (cost, paid) = (life.execution.round_trip(), &heuristic.paid);
    let enough = LONG_ENOUGH * f64::from(life.constitution().mind.samples);
    let rare = paid.samples < f64::from(life.constitution().mind.samples);
    is_tried(life, heuristic)
        && (rare || paid.mean() <= cost || paid.samples >= enough && !surely_pays(life, heuristic))
}

/// Whether what a fragment has paid is worth its cost even at its lower bound.
pub fn surely_pays(life: &Life, heuristic: &Heuristic) -> bool {
    heuristic.paid.samples >= f64::from(life.constitution().mind.samples)
        && heuristic.paid.mean() - sureness(life) * heuristic.paid.error() > life.execution.round_trip()
}

/// Whether a fragment surely has not been worth its cost, even at its upper bound.
pub fn surely_costs(life: &Life, heuristic: &Heuristic) -> bool {
    heuristic.paid.mean() + sureness(life) * heuristic.paid.error() < life.execution.round_trip()
}

/// Deviations below the mean that a fragment must still be worth its cost: more than a rule, because many are tried and
/// each has its own way out to be lucky by.
pub(super) fn sureness(life: &Life) -> f64 {
    life.constitution().mind.sureness + life.laws().fragment_sureness
}

/// Begins a sample of a fragment whose condition holds, unless one is open.
pub(super) fn begin(life: &mut Life, slot: usize) {
    let slot = slot as u8;
    if life.learns() && life.sampling.iter().all(|sample| sample.slot != slot) {
        assert!(life.sampling.len() < limits::HEURISTICS, "a fragment has two samples open");
        life.sampling.push(OpenSample { slot, made: life.seen.until, unit: life.seen.unit });
    }
}

/// Ends a sample: what entering at its look and leaving at this one paid is known.
pub(super) fn end(life: &mut Life, slot: usize) {
    let Some(at) = life.sampling.iter().position(|sample| usize::from(sample.slot) == slot) else { return };
    let sample = life.sampling.remove(at);
    let (cost, laws, now) = (life.execution.round_trip(), life.laws(), life.seen.until);
    let gain = life.seen.unit.change_from(sample.unit);
    if life.learns() && life.playbook[slot].fragment().is_some() {
        life.playbook[slot].paid.learn((sample.made, now), gain, cost, laws);
    }
}
