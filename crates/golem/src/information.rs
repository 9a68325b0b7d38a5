//! How much of what comes is in what was said: mutual information by the nearest neighbours of each pair, after
//! Kraskov, Stögbauer and Grassberger. It assumes no shape of the relation, and is given in bits. Nothing depends on
//! it: it is only read off a journal.

use std::collections::VecDeque;

use life::event::{Event, Record};
use life::rule::learning::met;
use life::world::Values;
use life::{Life, mortality, prediction, rule};
use serde::Serialize;

/// Neighbours looked at: few follow a fine relation, many waver less.
pub const NEIGHBOURS: usize = 5;
/// Pairs one estimate is taken from.
pub const WINDOW: usize = 1_000;
/// Ticks between two estimates.
pub const STRIDE: u64 = 500;
/// The fewest pairs that say anything.
const LEAST: usize = 50;
/// The fewest pairs of a life that make a window.
const FIRST: usize = WINDOW / 4;
/// The noise of an estimate around zero, in bits.
const NOISE: f64 = 0.05;
/// The share of the most bits there ever were below which a golem is decoupled.
const DECOUPLED: f64 = 0.2;
/// The factor from earlier windows to the newest from which a golem is overfitted.
const OVERFITTED: f64 = 3.0;

/// The mutual information of two numbers of which these are pairs, in bits; none if there are too few, or if one of the
/// two never changes. Estimates below zero are noise and count as zero.
pub fn mutual(pairs: &[(f64, f64)], neighbours: usize) -> Option<f64> {
    let n = pairs.len();
    if n < LEAST.max(neighbours + 1) || pairs.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return None;
    }
    let xs = sorted(pairs.iter().map(|(x, _)| *x));
    let ys = sorted(pairs.iter().map(|(_, y)| *y));
    if xs[0] == xs[n - 1] || ys[0] == ys[n - 1] {
        return Some(0.0);
    }
    let mut by_x: Vec<(f64, f64)> = pairs.to_vec();
    by_x.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    let mut nearest = Vec::with_capacity(neighbours + 1);
    for (at, (x, y)) in by_x.iter().enumerate() {
        let radius = reach(&by_x, at, neighbours, &mut nearest);
        sum += digamma(1.0 + within(&xs, *x, radius) as f64) + digamma(1.0 + within(&ys, *y, radius) as f64);
    }
    let nats = digamma(n as f64) + digamma(neighbours as f64) - sum / n as f64;
    Some((nats / std::f64::consts::LN_2).max(0.0))
}

fn sorted(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = numbers.collect();
    all.sort_by(f64::total_cmp);
    all
}

/// How far the last of the nearest neighbours is, by the larger of both distances. It searches outwards along x, until
/// no point further out can be nearer.
fn reach(by_x: &[(f64, f64)], at: usize, neighbours: usize, nearest: &mut Vec<f64>) -> f64 {
    nearest.clear();
    let (x, y) = by_x[at];
    let (mut left, mut right) = (at, at + 1);
    loop {
        let to_left = if left > 0 { x - by_x[left - 1].0 } else { f64::INFINITY };
        let to_right = by_x.get(right).map_or(f64::INFINITY, |other| other.0 - x);
        let (along, other) = if to_left <= to_right {
            left = left.saturating_sub(1);
            (to_left, left)
        } else {
            right += 1;
            (to_right, right - 1)
        };
        if nearest.len() == neighbours && along >= nearest[neighbours - 1] || along == f64::INFINITY {
            return nearest.last().copied().unwrap_or(0.0);
        }
        let far = along.max((by_x[other].1 - y).abs());
        let place = nearest.partition_point(|known| *known <= far);
        nearest.insert(place, far);
        nearest.truncate(neighbours);
    }
}

/// How many others are nearer than this.
fn within(all: &[f64], here: f64, radius: f64) -> usize {
    let near = |other: f64| (other - here).abs() < radius;
    let at = all.partition_point(|other| *other < here);
    let from = all[..at].partition_point(|other| !near(*other));
    let to = at + all[at..].partition_point(|other| near(*other));
    (to - from).saturating_sub(1)
}

/// The derivative of the logarithm of the gamma function, for numbers from one up.
fn digamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let (inverse, square) = (1.0 / x, 1.0 / (x * x));
    let series = square
        * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0))));
    sum + libm::log(x) - 0.5 * inverse - series
}

/// Claims of a life and what came of them, as it goes.
#[derive(Clone, Debug, Default)]
pub struct ClaimLog {
    /// Open claims of each domain: the value when the claim was made, the naive forecast, and how far from it the claim
    /// went.
    open: Vec<VecDeque<(f64, f64, f64)>>,
    pairs: Vec<VecDeque<(f64, f64)>>,
    values: Values,
    pub windows: Vec<Window>,
}

/// Information in the last claims, at one moment of a life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Window {
    pub tick: u64,
    /// Vitality of the golem then.
    pub vitality: f64,
    /// Bits in all domains together.
    pub bits: f64,
    /// Bits a tick: claims that share time with each other tell it once between them.
    pub bits_a_tick: f64,
}

impl ClaimLog {
    /// Takes in one record, and the life after it.
    pub fn hear(&mut self, record: &Record, life: &Life) {
        let domains = &life.birth().world.domains;
        self.open.resize_with(domains.len(), VecDeque::new);
        self.pairs.resize_with(domains.len(), VecDeque::new);
        for event in &record.events {
            match event {
                Event::Prediction(prediction::Event::Sensed { values, .. }) => self.values.clone_from(values),
                Event::Rule(rule::Event::Predicted { domain, naive, far, .. }) => {
                    let at = usize::from(*domain);
                    let base = self.values.get(at).copied().unwrap_or(*naive);
                    self.open[at].push_back((base, *naive, f64::from(*far)));
                }
                Event::Rule(rule::Event::Voided { domain }) => drop(self.open[usize::from(*domain)].pop_front()),
                Event::Rule(rule::Event::Scored { domain, actual }) => {
                    let at = usize::from(*domain);
                    if let Some((base, naive, far)) = self.open[at].pop_front() {
                        self.pairs[at].push_back((far, met(domains[at].kind, base, *actual) - naive));
                        if self.pairs[at].len() > WINDOW {
                            self.pairs[at].pop_front();
                        }
                    }
                }
                Event::Mortality(mortality::Event::VitalityUpdated { .. }) if life.tick().is_multiple_of(STRIDE) => {
                    self.estimate(life);
                }
                _ => {}
            }
        }
    }

    fn estimate(&mut self, life: &Life) {
        let (mut bits, mut bits_a_tick, mut told) = (0.0, 0.0, false);
        for (domain, pairs) in self.pairs.iter_mut().enumerate().filter(|(_, pairs)| pairs.len() >= FIRST) {
            if let Some(more) = mutual(pairs.make_contiguous(), NEIGHBOURS) {
                bits += more;
                bits_a_tick += more / f64::from(life.looks_ahead(domain));
                told = true;
            }
        }
        if told {
            let vitality = life.vitality().composite;
            self.windows.push(Window { tick: life.tick(), vitality, bits, bits_a_tick });
        }
    }

    /// The sign that the newest window gives beside those before it, if any.
    pub fn sign(&self) -> Option<Sign> {
        let bits: Vec<f64> = self.windows.iter().map(|window| window.bits).collect();
        sign(&bits, self.windows.last()?.vitality)
    }
}

/// A sign of trouble in the windows of one life, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// The golem looks well, and its claims have next to nothing to do with what comes any more.
    Decoupled,
    /// The golem's claims went with the world as it was, and no longer do.
    Overfitted,
}

/// The sign of a series of bits: below a share of the most there ever were, while it still looks well; or far fewer
/// lately than before.
pub fn sign(bits: &[f64], vitality: f64) -> Option<Sign> {
    let (last, earlier) = bits.split_last()?;
    let most = earlier.iter().copied().fold(0.0, f64::max);
    if most < NOISE {
        return None;
    }
    if vitality > 0.5 && *last < DECOUPLED * most {
        return Some(Sign::Decoupled);
    }
    let past = earlier.iter().sum::<f64>() / earlier.len() as f64;
    (past > NOISE && past > OVERFITTED * last).then_some(Sign::Overfitted)
}
