//! Blends: a value expected to be like several features at once, in shares that are learned.
//!
//! A blend learns how much each feature's distance from the last value foretells where the value goes, all of them as
//! logarithms: a value twice the last and one half of it are equally far away. The shares are found by least squares,
//! one answer at a time, beginning from what a blend was told and as sure as it was said to be. Answers that share time
//! with each other count for one between them.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::laws::Laws;
use crate::limits;
use crate::world::Features;

/// How far, as a logarithm, anything is taken to be from the last value.
const FURTHEST: f64 = 3.0;
/// Shares beyond these are a mistake or a trap.
const SHARES: (f64, f64) = (-2.0, 2.0);
/// How sure a blend is of shares it was not told, in answers that share no time.
pub(crate) const UNSURE: f64 = 40.0;
/// The surest that a blend can be.
pub(crate) const SUREST: f64 = 10_000.0;
/// Distances are kept in so many steps to one: finer than any of them is known, and short to write down.
const STEPS: f64 = 4_096.0;
/// The distance of a feature that is not above zero and has no logarithm.
const NOWHERE: i16 = i16::MIN;

const COEFFICIENTS: usize = limits::TERMS + 1;

/// A blend in words: which features, in which shares, and how sure that is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mix {
    pub terms: ArrayVec<Term, { limits::TERMS }>,
    /// Sureness, as the number of answers that share no time it is worth.
    pub sure: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    pub feature: u8,
    /// The feature's share; what is not shared out is the last value's.
    pub share: f64,
}

/// A blend as it is kept: what it has learned, and what it said of claims that are still open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blend {
    pub features: ArrayVec<u8, { limits::TERMS }>,
    /// The logarithm of a factor on everything, then a share for each feature.
    coefficients: ArrayVec<f64, COEFFICIENTS>,
    /// The covariance of the coefficients: the lower half of a matrix, row by row.
    spread: ArrayVec<f64, { triangle(COEFFICIENTS, 0) }>,
    asked: VecDeque<Asked>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Asked {
    /// The last bits of the tick.
    tick: u16,
    /// Where the blend expected the value to go, as a logarithm.
    way: f32,
    far: Far,
}

/// How far each feature of a blend was from the last value, in steps.
pub(crate) type Far = ArrayVec<i16, { limits::TERMS }>;

impl Mix {
    /// A mix of equal shares, and unsure of them.
    pub fn even(features: impl IntoIterator<Item = u8>) -> Mix {
        let features: ArrayVec<u8, { limits::TERMS }> = features.into_iter().take(limits::TERMS).collect();
        let share = 1.0 / (features.len() + 1) as f64;
        Mix { terms: features.into_iter().map(|feature| Term { feature, share }).collect(), sure: UNSURE }
    }

    /// Refuses a mix that no golem could hold, with the reason.
    pub(crate) fn check(&self, features: usize) -> Result<(), String> {
        for (at, term) in self.terms.iter().enumerate() {
            if usize::from(term.feature) >= features {
                return Err(format!("no feature {}", term.feature));
            }
            if self.terms[..at].iter().any(|other| other.feature == term.feature) {
                return Err("a feature stands in it twice".to_owned());
            }
            if !(SHARES.0..=SHARES.1).contains(&term.share) {
                return Err(format!("found a share of {}, expected one from {} to {}", term.share, SHARES.0, SHARES.1));
            }
        }
        if self.terms.is_empty() || !(1.0..=SUREST).contains(&self.sure) {
            return Err(format!(
                "found {} terms and {} sure, expected one at least and 1 to {SUREST}",
                self.terms.len(),
                self.sure
            ));
        }
        Ok(())
    }
}

impl Blend {
    pub(crate) fn new(mix: &Mix, effect: f64) -> Blend {
        let first = std::iter::once(libm::log(effect.max(f64::MIN_POSITIVE)).clamp(-FURTHEST, FURTHEST));
        let coefficients: ArrayVec<f64, COEFFICIENTS> = first.chain(mix.terms.iter().map(|term| term.share)).collect();
        let mut spread = ArrayVec::new();
        for row in 0..coefficients.len() {
            spread.extend((0..row).map(|_| 0.0));
            spread.push(1.0 / mix.sure);
        }
        let features = mix.terms.iter().map(|term| term.feature).collect();
        Blend { features, coefficients, spread, asked: VecDeque::new() }
    }

    /// The mix that the blend has learned by now.
    pub fn mix(&self) -> Mix {
        let terms = self
            .features
            .iter()
            .zip(&self.coefficients[1..])
            .map(|(feature, share)| Term { feature: *feature, share: share.clamp(SHARES.0, SHARES.1) });
        let unsure = (0..self.coefficients.len()).map(|at| self.spread[triangle(at, at)]).fold(0.0, f64::max);
        Mix { terms: terms.collect(), sure: (1.0 / unsure).clamp(1.0, SUREST) }
    }

    /// Whether the blend is of the very same features.
    pub fn is_of(&self, mix: &Mix) -> bool {
        self.features.len() == mix.terms.len() && mix.terms.iter().all(|term| self.features.contains(&term.feature))
    }

    /// Whether all its features exist, and all its figures are numbers.
    pub fn is_sound(&self, features: usize) -> bool {
        let n = self.features.len() + 1;
        let whole = self.coefficients.len() == n && self.spread.len() == triangle(n, 0) && self.asked.is_empty();
        let known = !self.features.is_empty() && self.features.iter().all(|feature| usize::from(*feature) < features);
        whole && known && self.coefficients.iter().chain(&self.spread).all(|number| number.is_finite())
    }

    /// The factor on everything.
    pub(crate) fn factor(&self) -> f64 {
        libm::exp(self.coefficients[0])
    }

    /// How far its features were from the last value; none if one of them has no distance.
    pub(crate) fn far(&self, terms: &Terms) -> Option<Far> {
        self.features.iter().map(|feature| terms.get(*feature)).collect()
    }

    /// Where it expects the value to go from the last, as a logarithm.
    pub(crate) fn way(&self, far: &Far) -> f64 {
        let way: f64 = self.coefficients.iter().zip(inputs(far)).map(|(share, far)| share * far).sum();
        way.clamp(-FURTHEST, FURTHEST)
    }

    /// Remembers the blend's forecast for a claim until the answer is in.
    pub(crate) fn ask(&mut self, tick: u64, far: Far) {
        if self.asked.len() >= limits::OPEN {
            self.asked.pop_front();
        }
        let way = self.way(&far) as f32;
        self.asked.push_back(Asked { tick: tick as u16, way, far });
    }

    /// Where it expected the value to go when this claim was made, and by what.
    pub(crate) fn asked(&mut self, tick: u64) -> Option<(f64, Far)> {
        let age = |asked: &Asked| (tick as u16).wrapping_sub(asked.tick) as i16;
        while self.asked.front().is_some_and(|asked| age(asked) > 0) {
            self.asked.pop_front();
        }
        self.asked.pop_front_if(|asked| age(asked) == 0).map(|asked| (f64::from(asked.way), asked.far))
    }

    pub(super) fn forget_open(&mut self) {
        self.asked.clear();
    }

    /// Learns from one answer: where the value went, when its features were so far from it. As many claims as look
    /// ahead over the same time count for one between them.
    pub(crate) fn learn(&mut self, far: &Far, last: f64, actual: f64, ahead: u32, laws: &Laws) {
        if !(last > 0.0 && actual > 0.0) {
            return;
        }
        let went = libm::log(actual / last).clamp(-FURTHEST, FURTHEST);
        let n = self.coefficients.len();
        let input: ArrayVec<f64, COEFFICIENTS> = inputs(far).collect();
        let mut pull = [0.0; COEFFICIENTS];
        for row in 0..n {
            for column in 0..row {
                let both = self.spread[triangle(row, column)];
                pull[row] += both * input[column];
                pull[column] += both * input[row];
            }
            pull[row] += self.spread[triangle(row, row)] * input[row];
        }
        let (mut doubt, mut missed) = (f64::from(ahead.max(1)), went);
        for at in 0..n {
            doubt += input[at] * pull[at];
            missed -= self.coefficients[at] * input[at];
        }
        for (coefficient, pull) in self.coefficients.iter_mut().zip(&pull) {
            *coefficient = (*coefficient + pull * (missed / doubt)).clamp(-FURTHEST, FURTHEST);
        }
        let widest = (0..n).map(|at| self.spread[triangle(at, at)]).fold(0.0, f64::max);
        // A feature that is not seen for long is not forgotten without end.
        let keep = if widest < 1.0 / laws.blend_least {
            1.0 - 1.0 / (laws.blend_memory * f64::from(ahead.max(1)))
        } else {
            1.0
        };
        let (surer, wider) = (1.0 / doubt, 1.0 / keep);
        for row in 0..n {
            for column in 0..=row {
                let both = &mut self.spread[triangle(row, column)];
                *both = (*both - pull[row] * pull[column] * surer) * wider;
            }
        }
    }
}

/// Inputs of the least squares: a one for the factor, then how far each feature is.
fn inputs(far: &Far) -> impl Iterator<Item = f64> {
    std::iter::once(1.0).chain(far.iter().map(|far| f64::from(*far) * (1.0 / STEPS)))
}

/// The index of a number in the lower half of a matrix.
const fn triangle(row: usize, column: usize) -> usize {
    row * (row + 1) / 2 + column
}

/// Distances from the last value of the features that some blends are made of, in the order of features.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Features, one bit each.
    of: u32,
    far: ArrayVec<i16, { limits::FEATURES }>,
}

impl Terms {
    /// Distances for some blends; none if there are no blends, or if the last value has no logarithm.
    pub fn of<'a>(blends: impl Iterator<Item = &'a Blend>, last: f64, features: &Features) -> Option<Box<Terms>> {
        let of = blends.flat_map(|blend| &blend.features).fold(0, |of, feature| of | 1 << feature);
        if of == 0 || last <= 0.0 {
            return None;
        }
        let stands = |at: &usize| of >> at & 1 == 1;
        let here = libm::log(last);
        let far = |value: f64| {
            let far = |value| (libm::log(value) - here).clamp(-FURTHEST, FURTHEST) * STEPS;
            if value > 0.0 { libm::round(far(value)) as i16 } else { NOWHERE }
        };
        let far = (0..features.len()).filter(stands).map(|at| far(features[at]));
        Some(Box::new(Terms { of, far: far.collect() }))
    }

    fn get(&self, feature: u8) -> Option<i16> {
        let before = (self.of & ((1 << feature) - 1)).count_ones() as usize;
        let stands = self.of >> feature & 1 == 1;
        self.far.get(before).copied().filter(|far| stands && *far != NOWHERE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::laws;

    /// Numbers around zero, the same every time.
    struct Noise(u64);

    impl Noise {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        }
    }

    fn blend() -> Blend {
        Blend::new(&Mix::even([3, 7]), 1.0)
    }

    fn far(blend: &Blend, last: f64, value: impl Fn(usize) -> f64) -> Option<Far> {
        let features: Features = (0..9).map(value).collect();
        blend.far(&*Terms::of(std::iter::once(blend), last, &features)?)
    }

    /// A value that goes 0.6 of the way to one feature and none of the way to another, by a tenth more than it should.
    fn taught(answers: usize) -> Blend {
        let (mut blend, mut noise) = (blend(), Noise(1));
        for _ in 0..answers {
            let (one, other) = (libm::exp(noise.next()), libm::exp(noise.next()));
            let far = far(&blend, 2.0, |feature| 2.0 * if feature == 3 { one } else { other }).unwrap();
            let actual = 2.0 * 1.1 * libm::pow(one, 0.6) * libm::exp(0.5 * noise.next());
            blend.learn(&far, 2.0, actual, 1, laws(2).unwrap());
        }
        blend
    }

    #[test]
    fn shares_are_learned_and_how_sure_they_are_grows() {
        let (little, much) = (taught(100).mix(), taught(4_000).mix());
        let share = |mix: &Mix, at: usize| mix.terms[at].share;
        assert!((share(&much, 0) - 0.6).abs() < 0.05 && share(&much, 1).abs() < 0.05, "{much:?}");
        assert!((taught(4_000).factor() - 1.1).abs() < 0.02);
        assert!((share(&little, 0) - 0.6).abs() < (1.0_f64 / 3.0 - 0.6).abs(), "{little:?}");
        assert!(UNSURE <= little.sure && little.sure < much.sure, "{} {}", little.sure, much.sure);
    }

    #[test]
    fn answers_that_share_time_count_for_one_between_them() {
        let learn = |ahead: u32, times: usize| {
            let mut blend = blend();
            let far = far(&blend, 1.0, |_| 2.0).unwrap();
            (0..times).for_each(|_| blend.learn(&far, 1.0, 3.0, ahead, laws(2).unwrap()));
            blend.mix()
        };
        let (one, day) = (learn(1, 1), learn(24, 24));
        assert!((one.terms[0].share - day.terms[0].share).abs() < 1e-3, "{one:?} {day:?}");
        assert!((one.sure - day.sure).abs() < 0.1, "{one:?} {day:?}");
    }

    #[test]
    fn nothing_in_it_runs_away_whatever_it_is_told() {
        let (mut blend, mut noise) = (blend(), Noise(2));
        for at in 0..20_000 {
            let wild = libm::exp(1_000.0 * noise.next());
            let value = [f64::MIN_POSITIVE, 1e30, 1.0, wild][at % 4];
            let Some(far) = far(&blend, 1.0, |_| value) else { continue };
            blend.learn(&far, 1.0, value, 24, laws(2).unwrap());
            assert!(blend.way(&far).is_finite());
        }
        assert!(blend.is_sound(8) && blend.mix().check(8).is_ok(), "{:?}", blend.mix());
    }

    #[test]
    fn what_has_no_logarithm_leaves_it_silent() {
        assert!(far(&blend(), 1.0, |feature| if feature == 3 { 0.0 } else { 1.0 }).is_none());
        assert!(far(&blend(), 0.0, |_| 1.0).is_none());
        let fewer: Features = (0..5).map(|_| 1.0).collect();
        let terms = Terms::of([blend()].iter(), 1.0, &fewer).unwrap();
        assert!(blend().far(&terms).is_none(), "there is no seventh");
    }

    #[test]
    fn it_is_scored_by_what_it_said_when_it_was_asked() {
        let mut blend = blend();
        let far = far(&blend, 1.0, |_| 2.0).unwrap();
        let then = blend.way(&far);
        blend.ask(5, far.clone());
        (0..100).for_each(|_| blend.learn(&far, 1.0, 8.0, 1, laws(2).unwrap()));
        assert!(blend.way(&far) > then * 1.5);
        assert_eq!(blend.asked(5).map(|(way, _)| way as f32), Some(then as f32));
        assert_eq!(blend.asked(5), None);
    }

    #[test]
    fn terms_are_told_by_feature_and_nothing_else_is() {
        let features: Features = (0..9).map(|at| libm::exp(f64::from(at) / 4.0)).collect();
        let terms = Terms::of([blend()].iter(), 1.0, &features).unwrap();
        assert_eq!(Terms::of([].iter(), 1.0, &features), None);
        assert_eq!((terms.get(3), terms.get(7), terms.get(4)), (Some(3 * 1_024), Some(7 * 1_024), None));
    }
}
