//! Fragments: entry, exit and size as one thing. The condition of a heuristic is the way in; here are the way out and how
//! much goes in.
//!
//! A fragment is tried like any rule, in the shadow: when its condition holds, a sample begins, and ends where the way out
//! would have been taken. What it paid is what entering then and leaving there would have paid. One sample at a time is
//! open for each, so no two share time.

use serde::{Deserialize, Serialize};

use super::vote;
use super::{Comparison, Heuristic, Stance};
use crate::laws::Laws;
use crate::life::Life;
use crate::limits;
use crate::money::Usdc;
use crate::time::{Span, Time};
use crate::world::Features;

/// The whole of the allowed size, in thousandths.
pub const WHOLE: u16 = 1_000;
/// The largest gain or loss that a way out can be about, in basis points.
const FURTHEST_BPS: u32 = 100_000;
/// Times as many samples as are needed at least, after which a fragment must surely have paid.
const LONG_ENOUGH: f64 = 3.0;

/// The way out of exposure that a heuristic takes up, and how much of it. Whatever comes first ends it; the time that
/// exposure is usually held ends it anyway.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fragment {
    /// Thousandths of what the cage allows.
    pub share: u16,
    /// Left once this holds.
    pub until: Option<Comparison>,
    /// Left at a gain of so many basis points.
    pub up: Option<u32>,
    /// Left at a loss of so many basis points.
    pub down: Option<u32>,
    /// Left after so many bars.
    pub bars: Option<u32>,
}

/// A sample that has begun: the look at which the condition of a fragment held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenSample {
    pub slot: u8,
    pub made: Time,
    pub unit: Usdc,
}

/// The way out of exposure that was taken up by a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WayOut {
    pub fragment: Fragment,
    /// The worth of a unit when it was taken up.
    pub unit: Usdc,
    /// True once it is time to leave.
    pub due: bool,
}

impl Fragment {
    /// Refuses a fragment that no golem could hold, or that says no more than adding alone does.
    pub(crate) fn check(&self, features: usize) -> Result<(), String> {
        let Fragment { share, until, up, down, bars } = *self;
        if !(1..=WHOLE).contains(&share) {
            return Err(format!("found {share} thousandths, expected 1 to {WHOLE}"));
        }
        if let Some(Comparison { feature, than, .. }) = until {
            if usize::from(feature) >= features {
                return Err(format!("no feature {feature}"));
            }
            if !than.is_finite() {
                return Err(format!("found {than}, expected a finite number"));
            }
        }
        if let Some(wrong) = [up, down].into_iter().flatten().find(|bps| !(1..=FURTHEST_BPS).contains(bps)) {
            return Err(format!("found {wrong} basis points, expected 1 to {FURTHEST_BPS}"));
        }
        if let Some(wrong) = bars.filter(|bars| !(1..=limits::HORIZON).contains(bars)) {
            return Err(format!("found {wrong} bars, expected 1 to {}", limits::HORIZON));
        }
        if share == WHOLE && until.is_none() && up.or(down).or(bars).is_none() {
            return Err("found neither a share nor a way out, which is what adding alone says".to_owned());
        }
        Ok(())
    }

    /// The longest that exposure is held by it.
    pub fn longest(&self, life: &Life) -> Span {
        let usual = vote::holding(life);
        self.bars.map_or(usual, |bars| life.birth.world.bar.times(u64::from(bars)).min(usual))
    }

    /// Whether it is time to leave what was taken up at this worth of a unit.
    fn leaves(&self, features: &Features, from: Usdc, unit: Usdc) -> bool {
        let change = unit.change_from(from) * 10_000.0;
        self.until.is_some_and(|until| until.holds(features))
            || self.up.is_some_and(|up| change >= f64::from(up))
            || self.down.is_some_and(|down| change <= -f64::from(down))
    }
}

impl Stance {
    /// The stance as these laws know it: before there were fragments, adding was adding.
    pub fn under(self, laws: &Laws) -> Stance {
        match self {
            Stance::Fragment(_) if laws.fragments == 0 => Stance::Add,
            known => known,
        }
    }

    /// Whether it would take up exposure.
    pub fn adds(self) -> bool {
        matches!(self, Stance::Add | Stance::Fragment(_))
    }
}

impl Heuristic {
    pub fn fragment(&self) -> Option<Fragment> {
        if let Stance::Fragment(fragment) = self.stance { Some(fragment) } else { None }
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
