//! The gate between what is dreamt and what is tried: nothing passes that has not held on what it was not made from.
//!
//! A new idea is fitted on one half of the cases and tested on the other, some of them disturbed. A playbook
//! that would learn again lives through the newest cases in their order, each forecast made before its answer.

use std::collections::VecDeque;

use life::Life;
use life::dream::{Origin, Revision, Staged};
use life::laws::Laws;
use life::prediction::Prediction;
use life::rule::{Condition, Heuristic, Provenance, Stance, learning, rounded};
use life::world::{DomainKind, Features};

use super::memory::Experience;
use crate::rule::Dice;

/// Cases a fit, and a test, needs.
pub(super) const CASES: usize = 10;

/// Deviations by which an idea must do better than the playbook on cases it has not seen.
pub(super) const SURE: f64 = 2.0;

/// Stretches of time, none overlapping another, that a second learning needs to be judged by.
const STRETCHES: usize = 4;

/// One experience as a question of one domain.
pub(super) struct Case<'a> {
    pub features: &'a Features,
    pub number: u64,
    pub tick: u64,
    pub base: f64,
    pub actual: f64,
    pub naive: f64,
    /// How wrong the playbook, as it is now, would have been.
    pub playbook: f64,
    /// How wrong the claim of then was.
    pub claimed: f64,
    pub change: f64,
}

/// The questions of one domain, in the order they were lived.
pub(super) struct Cases<'a> {
    pub life: &'a Life,
    pub domain: usize,
    /// Ticks a claim of this domain looks ahead.
    pub ahead: u64,
    pub all: Vec<Case<'a>>,
}

impl<'a> Cases<'a> {
    pub(super) fn of(life: &'a Life, domain: usize, chosen: &[&Experience], features: &'a [Features]) -> Cases<'a> {
        let (kind, laws) = (life.birth().world.domains[domain].kind, life.laws());
        let here: Vec<&Heuristic> = life
            .playbook()
            .iter()
            .filter(|h| usize::from(h.domain) == domain && h.blend.is_none() && h.say(kind, laws) > 0.0)
            .collect();
        let each = |(e, features): (&&Experience, &'a Features)| {
            let (base, naive, actual) = (e.base[domain], e.naive[domain], e.actual[domain]);
            let awake = here.iter().copied().filter(|h| h.condition.holds(features));
            let together = learning::together(kind, naive, awake, laws);
            let playbook = learning::error(kind, base, together, actual, laws);
            let claimed = learning::error(kind, base, e.claimed[domain], actual, laws);
            let (number, tick, change) = (e.number, e.tick, f64::from(e.change));
            Case { features, number, tick, base, actual, naive, playbook, claimed, change }
        };
        let known = |e: &Experience| e.actual.get(domain).is_some_and(|v| v.is_finite()) && e.naive[domain].is_finite();
        let all = chosen.iter().zip(features).filter(|(e, _)| known(e)).map(each).collect();
        let ahead = (life.horizon(domain).as_millis() / life.constitution().interval.as_millis().max(1)).max(1);
        Cases { life, domain, ahead, all }
    }

    fn kind(&self) -> DomainKind {
        self.life.birth().world.domains[self.domain].kind
    }

    fn laws(&self) -> &'static Laws {
        self.life.laws()
    }

    /// Splits the cases in turns into those to learn from and those to test on, so that neither half is older than the
    /// other. Cases that look ahead over the same stretch of time have one end between them and count once.
    pub(super) fn halves(&self) -> (Vec<&Case<'a>>, Vec<&Case<'a>>) {
        let mut until = 0;
        let mut apart = |case: &&Case<'a>| {
            let apart = case.tick >= until;
            until = if apart { case.tick + self.ahead } else { until };
            apart
        };
        let apart: Vec<&Case<'a>> = self.all.iter().filter(|case| apart(case)).collect();
        let half = |odd: usize| apart.iter().skip(odd).step_by(2).copied().collect();
        (half(0), half(1))
    }

    fn wrong(&self, effect: f64, case: &Case<'_>) -> f64 {
        let forecast = if self.kind() == DomainKind::Direction { effect } else { case.naive * effect };
        learning::error(self.kind(), case.base, forecast, case.actual, self.laws())
    }

    /// The expectation that would have been least wrong where this holds, and what it would have gained there.
    pub(super) fn fit(&self, condition: &Condition, learned: &[&Case<'_>]) -> Option<(f64, f64)> {
        let under: Vec<&Case<'_>> = learned.iter().copied().filter(|case| condition.holds(case.features)).collect();
        if under.len() < CASES {
            return None;
        }
        let effect = self.least_wrong(&under)?;
        let gain: f64 = under.iter().map(|case| case.playbook - self.wrong(effect, case)).sum();
        (gain > 0.0).then_some((effect, gain))
    }

    fn least_wrong(&self, cases: &[&Case<'_>]) -> Option<f64> {
        let (kind, laws) = (self.kind(), self.laws());
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

    /// Tests an idea on cases it has not seen: it must surely do better than the playbook as it is, and no worse when
    /// some of its input is late or blurred.
    pub(super) fn test(
        &self,
        condition: &Condition,
        effect: f64,
        origin: Origin,
        held_out: &[&Case<'_>],
    ) -> Option<Staged> {
        let mut dice = Dice::of_night(self.life, effect.to_bits());
        let mut gains = Vec::with_capacity(held_out.len());
        let (mut usual, mut episodes, mut changes, mut seed) = (0.0, Vec::new(), Vec::new(), u64::MAX);
        let mut disturbed = 0.0;
        let disturbances = (self.life.constitution().dream.disturbed * 1_000.0) as usize;
        for (at, case) in held_out.iter().enumerate() {
            let gain = case.playbook - self.wrong(effect, case);
            if condition.holds(case.features) {
                gains.push(gain);
                changes.push(case.change);
                usual += case.playbook;
                episodes.push(case.number);
                seed = seed.min(case.tick);
            }
            let still = match dice.below(1_000) {
                n if n >= disturbances => condition.holds(case.features),
                n if n < disturbances / 3 => at > 0 && condition.holds(held_out[at - 1].features),
                _ => condition.holds(&blurred(case.features, &mut dice)),
            };
            disturbed += if still { gain } else { 0.0 };
        }
        if disturbed <= 0.0 {
            return None;
        }
        let (mean, _) = surely(&gains, CASES)?;
        let stance = match surely(&changes, CASES) {
            _ if self.kind() != DomainKind::Direction => Stance::Watch,
            Some((up, _)) if up > self.life.execution().round_trip() => Stance::Add,
            _ => match surely(&changes.iter().map(|change| -change).collect::<Vec<_>>(), CASES) {
                Some((down, _)) if down > self.life.execution().one_way() => Stance::Reduce,
                _ => Stance::Watch,
            },
        };
        let (kind, tick) = (self.kind(), self.life.tick());
        let mut heuristic =
            Heuristic::new(0, condition.clone(), self.domain as u8, kind, stance, Provenance::Dreamt, tick);
        heuristic.effect = effect;
        episodes.truncate(KEPT_EPISODES);
        let utility = if usual > 0.0 { mean * gains.len() as f64 / usual } else { 0.0 };
        Some(Staged::new(heuristic, origin, utility, (episodes, seed), self.life))
    }

    /// The newest lived through again by a playbook that has forgotten what it had learned: if that surely does better
    /// than it did, it had better learn again. Several beginnings are tried, since it is not known when the world
    /// turned.
    pub(super) fn relearned(&self, looked_at: &mut u32) -> Option<Revision> {
        let (kind, laws, life) = (self.kind(), self.laws(), self.life);
        let in_use = life
            .playbook()
            .iter()
            .enumerate()
            .filter(|(_, h)| usize::from(h.domain) == self.domain && h.voice && h.blend.is_none());
        let fresh: Vec<(u8, Heuristic)> = in_use.map(|(slot, h)| (slot as u8, forgetful(h, kind))).collect();
        let judged = self.all.partition_point(|case| case.tick <= life.dreams().settled[self.domain]);
        let open = &self.all[judged..];
        for newest in [15, 30, 60, 120] {
            let cases = &open[open.len().saturating_sub(newest)..];
            if cases.len() < newest {
                return None;
            }
            *looked_at += 1;
            let mut fresh = fresh.clone();
            let (mut stretches, mut until): (Vec<(f64, f64)>, u64) = (Vec::new(), 0);
            let mut open: VecDeque<&Case<'_>> = VecDeque::new();
            for case in cases {
                // An answer that was not known yet when this was lived is not known here either.
                while let Some(past) = open.pop_front_if(|past| !laws.honest || past.tick + self.ahead <= case.tick) {
                    self.learn(past, &mut fresh);
                }
                let awake = |h: &Heuristic| h.condition.holds(case.features);
                let voices = fresh.iter().map(|(_, h)| h).filter(|h| awake(h));
                let together = learning::together(kind, case.naive, voices, laws);
                if case.tick >= until {
                    stretches.push((0.0, 0.0));
                    until = case.tick + self.ahead;
                }
                let error = learning::error(kind, case.base, together, case.actual, laws);
                let stretch = stretches.last_mut()?;
                *stretch = (stretch.0 + case.claimed, stretch.1 + error);
                for (_, heuristic) in fresh.iter_mut().filter(|(_, h)| awake(h)) {
                    heuristic.said.say(case.tick, heuristic.effect);
                }
                open.push_back(case);
            }
            open.into_iter().for_each(|past| self.learn(past, &mut fresh));
            // As shares: a loud stretch says no more than a quiet one.
            let share = |(then, again): &(f64, f64)| (then - again) / (then + again).max(f64::MIN_POSITIVE);
            let shares: Vec<f64> = stretches.iter().map(share).collect();
            if let Some((utility, _)) = surely(&shares, STRETCHES) {
                let episodes = cases.iter().rev().map(|case| case.number).take(KEPT_EPISODES).collect();
                return Some(Revision::new(self.domain as u8, fresh, utility, episodes, life));
            }
        }
        None
    }

    /// Teaches the fresh heuristics the answer to a case.
    fn learn(&self, case: &Case<'_>, fresh: &mut [(u8, Heuristic)]) {
        let of_nobody = Prediction::of_nothing();
        let claim = Prediction { base: case.base, naive: case.naive, made: case.tick, ..of_nobody };
        for (_, heuristic) in fresh.iter_mut().filter(|(_, h)| h.condition.holds(case.features)) {
            heuristic.learn(self.kind(), &claim, case.actual, self.life.regimes().now, self.laws());
        }
    }
}

/// A copy of a heuristic with nothing learned.
fn forgetful(known: &Heuristic, kind: DomainKind) -> Heuristic {
    let (condition, since) = (known.condition.clone(), known.since);
    let mut fresh = Heuristic::new(known.id, condition, known.domain, kind, known.stance, known.provenance, since);
    fresh.judged = known.judged;
    fresh
}

/// Episodes a hypothesis carries with it, so that it can be traced.
pub(super) const KEPT_EPISODES: usize = 8;

/// The mean, and of how many, if it is surely above nothing.
fn surely(gains: &[f64], least: usize) -> Option<(f64, usize)> {
    let n = gains.len() as f64;
    if gains.len() < least {
        return None;
    }
    let mean = gains.iter().sum::<f64>() / n;
    let variance = gains.iter().map(|gain| (gain - mean) * (gain - mean)).sum::<f64>() / (n - 1.0);
    (mean > 0.0 && mean >= SURE * (variance / n).sqrt()).then_some((mean, gains.len()))
}

/// A tenth off, either way.
fn blurred(features: &Features, dice: &mut Dice) -> Features {
    features.iter().map(|feature| feature * (0.9 + 0.2 * dice.below(2) as f64)).collect()
}
