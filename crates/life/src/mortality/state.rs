//! The state of the three clocks.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use super::phase::Phase;
use crate::constitution::Measure;
use crate::laws::Laws;
use crate::limits;
use crate::money::Usdc;
use crate::prediction::Claim;
use crate::time::{Span, Time};

/// The three pressures on a life. Not a wall clock: that one is `now`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    Economic,
    Epistemic,
    Stochastic,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vitality {
    /// The share of its funding that is left to live on: 0 at the reserve, 1 fully funded.
    pub economic: f64,
    /// Skill (epistemic fitness): one half is exactly as good as the naive forecast.
    pub epistemic: f64,
    /// Age as a share of the reference lifespan.
    pub age_factor: f64,
    pub composite: f64,
    pub phase: Phase,
    pub ticks_in_phase: u64,
    pub previous_phase: Option<Phase>,
    pub last_computed: Time,
}

impl Vitality {
    /// Fully funded, nothing shown yet: born stable; thriving is earned.
    pub(crate) fn newborn(at: Time, composite: f64) -> Vitality {
        Vitality {
            economic: 1.0,
            epistemic: 0.5,
            age_factor: 0.0,
            composite,
            phase: Phase::Stable,
            ticks_in_phase: 0,
            previous_phase: None,
            last_computed: at,
        }
    }
}

/// Credit is what a golem lives on; what it acts with is [`crate::policy::Capital`], a separate account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Purse {
    /// The yardstick of the score: the most it was ever given to live on at once.
    pub funding: Usdc,
    /// Credit left, the reserve included.
    pub credit: Usdc,
    pub given: Usdc,
    pub spent: Usdc,
    /// The cost of sending actions so far.
    pub gas: Usdc,
    pub withdrawn: Usdc,
    /// Set aside for errands that are under way, and no longer free.
    pub promised: Usdc,
    /// Cost of living not yet worth a whole micro-USDC, in micro-USDC × milliseconds ÷ day.
    pub dust: i64,
    /// Smoothed cost of a tick, in micro-USDC.
    pub burn_rate: f64,
    /// Smoothed cost of a day, in micro-USDC.
    pub burn_a_day: f64,
    /// Thirty days of age, counted.
    pub month: u64,
    /// Spent in the present thirty days.
    pub spent_this_month: Usdc,
    /// Spent in the thirty days before.
    #[serde(default)]
    pub spent_last_month: Usdc,
    /// Profit that became credit in the present thirty days, and in those before.
    #[serde(default)]
    pub earned_this_month: Usdc,
    #[serde(default)]
    pub earned_last_month: Usdc,
    /// The owner has been told that money is short.
    pub critical: bool,
}

/// Purposes that credit is kept for. Each may use its part of what is free now, so none can starve another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    Inference,
    Gas,
    Data,
    Legacy,
}

impl Purse {
    pub(crate) fn burn_gas(&mut self, gas: Usdc, age: Span, laws: &Laws) {
        self.spend(gas, age, laws);
        self.spent -= gas;
        self.gas += gas;
    }

    pub(crate) fn month_at(age: Span, laws: &Laws) -> u64 {
        age.as_millis() / Span::DAY.times(laws.month_days).as_millis()
    }

    pub(crate) fn spend(&mut self, cost: Usdc, age: Span, laws: &Laws) {
        self.turn(Self::month_at(age, laws));
        self.spent_this_month += cost;
        self.credit -= cost;
        self.spent += cost;
    }

    /// Takes in profit that became credit.
    pub(crate) fn earn(&mut self, amount: Usdc, age: Span, laws: &Laws) {
        self.turn(Self::month_at(age, laws));
        self.earned_this_month += amount;
        self.credit += amount;
    }

    /// Begins another thirty days, if these are others.
    fn turn(&mut self, month: u64) {
        if month != self.month {
            let next = month == self.month + 1;
            self.spent_last_month = if next { self.spent_this_month } else { Usdc::ZERO };
            self.earned_last_month = if next { self.earned_this_month } else { Usdc::ZERO };
            (self.spent_this_month, self.earned_this_month) = (Usdc::ZERO, Usdc::ZERO);
            self.month = month;
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epistemic {
    pub domains: ArrayVec<Domain, { limits::DOMAINS }>,
    pub peak: f64,
    pub senescence: Senescence,
    /// Ticks in a row in which every domain merely echoed the naive forecast.
    pub echoed: u64,
    /// Tick at which fitness fell below the warning level.
    pub declining_since: Option<u64>,
    /// Tick of the last claim that beat the naive forecast.
    pub last_success: u64,
}

/// Decayed errors on the same questions: the golem's and the naive forecast's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Domain {
    pub error: f64,
    pub naive_error: f64,
    /// How far the forecasts were from naive.
    pub distance: f64,
    /// Resolved claims, decayed like the errors.
    pub weight: f64,
    pub resolved: u64,
    /// The last pairs (predicted, actual), newest first, only where fitness is measured as R².
    pub pairs: Vec<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Senescence {
    Sound,
    /// Fitness is below the threshold, with time left to recover.
    Grace {
        since: u64,
    },
    Senescent {
        since: u64,
    },
}

impl Epistemic {
    pub(crate) fn new(domains: usize) -> Epistemic {
        Epistemic {
            domains: (0..domains).map(|_| Domain::default()).collect(),
            peak: 0.0,
            senescence: Senescence::Sound,
            echoed: 0,
            declining_since: None,
            last_success: 0,
        }
    }

    /// Fades the record by a tick: what was shown long ago counts for less.
    pub(crate) fn fade(&mut self, window: f64) {
        let keep = 1.0 - 1.0 / window;
        self.domains.iter_mut().for_each(|domain| domain.keep(keep));
    }

    pub(crate) fn resolve(&mut self, claim: &Claim, actual: f64, tick: u64, measure: Measure, pairs_kept: usize) {
        let (error, naive_error) = ((claim.value - actual).abs(), (claim.naive - actual).abs());
        let domain = usize::from(claim.domain);
        self.score(domain, error, naive_error, (claim.value - claim.naive).abs(), tick);
        if measure == Measure::R2 {
            self.pair(domain, claim.value, actual, pairs_kept);
        }
    }

    /// Adds one more pair for R², the oldest giving way.
    pub(crate) fn pair(&mut self, domain: usize, predicted: f64, actual: f64, kept: usize) {
        let pairs = &mut self.domains[domain].pairs;
        pairs.insert(0, (predicted, actual));
        pairs.truncate(kept);
    }

    /// Scores a claim by its error beside the naive forecast's.
    pub(crate) fn score(&mut self, domain: usize, error: f64, naive_error: f64, distance: f64, tick: u64) {
        self.domains[domain].score(error, naive_error, distance);
        if error < naive_error {
            self.last_success = tick;
        }
    }
}

impl Domain {
    pub(crate) fn score(&mut self, error: f64, naive_error: f64, distance: f64) {
        self.error += error;
        self.naive_error += naive_error;
        self.distance += distance;
        self.weight += 1.0;
        self.resolved += 1;
    }

    pub(crate) fn fade(&mut self, window: f64) {
        self.keep(1.0 - 1.0 / window);
    }

    fn keep(&mut self, keep: f64) {
        self.error *= keep;
        self.naive_error *= keep;
        self.distance *= keep;
        self.weight *= keep;
    }

    /// Skill: 0 as good as naive, 1 perfect, negative worse.
    pub fn skill(&self) -> f64 {
        if self.naive_error > 0.0 {
            1.0 - self.error / self.naive_error
        } else if self.error > 0.0 {
            -1.0
        } else {
            0.0
        }
    }

    pub(super) fn fitness(&self, measure: Measure, laws: &Laws) -> Option<f64> {
        match measure {
            Measure::Skill => (self.weight >= laws.domain_minimum).then(|| from_skill(self.skill(), laws)),
            Measure::R2 => r_squared(&self.pairs, laws),
        }
    }

    pub fn echoes(&self, laws: &Laws) -> bool {
        self.weight < laws.domain_minimum || self.distance < laws.echo * self.naive_error
    }
}

/// Fitness from skill: a small real edge is visible, and being wrong by half as much again as naive is hopeless.
pub(crate) fn from_skill(skill: f64, laws: &Laws) -> f64 {
    if skill >= 0.0 { 0.5 + 0.5 * skill.min(1.0).sqrt() } else { 0.5 - 0.5 * (-skill / laws.hopeless).min(1.0) }
}

fn r_squared(pairs: &[(f64, f64)], laws: &Laws) -> Option<f64> {
    if pairs.len() < laws.pairs_needed {
        return None;
    }
    let n = pairs.len() as f64;
    let mean = pairs.iter().map(|(_, actual)| actual).sum::<f64>() / n;
    let residual: f64 = pairs.iter().map(|(p, a)| (a - p) * (a - p)).sum();
    let total: f64 = pairs.iter().map(|(_, a)| (a - mean) * (a - mean)).sum();
    Some(if total > 0.0 { (1.0 - residual / total).max(0.0) } else { laws.fitness_unknown })
}

/// A sharp but smooth step around `center`.
pub fn sigmoid(x: f64, center: f64, steepness: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-steepness * (x - center)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::laws;

    #[test]
    fn one_half_is_exactly_as_good_as_naive() {
        let laws = laws(1).unwrap();
        for (skill, fitness) in
            [(0.0, 0.5), (1.0, 1.0), (0.04, 0.6), (0.25, 0.75), (-0.05, 0.45), (-0.25, 0.25), (-0.5, 0.0), (-9.0, 0.0)]
        {
            assert!((from_skill(skill, laws) - fitness).abs() < 1e-12, "{skill}");
        }
    }

    #[test]
    fn r_squared_is_the_documents() {
        let laws = laws(1).unwrap();
        let pairs = |error: f64| (0..20).map(|i| (f64::from(i) + error, f64::from(i))).collect::<Vec<_>>();
        assert_eq!(r_squared(&pairs(0.0)[..9], laws), None, "too few to judge");
        assert_eq!(r_squared(&pairs(0.0), laws), Some(1.0));
        assert_eq!(r_squared(&pairs(100.0), laws), Some(0.0));
        assert_eq!(r_squared(&[(1.0, 5.0); 12], laws), Some(0.5), "nothing varied");
    }
}
