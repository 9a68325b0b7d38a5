//! Signs: bars that stand out in a market in which nothing else leads to the next return. There are three kinds: a burst
//! of volume, a spike of gas, and depth that is gone for a bar. Each shows about as often as the others, up or down. One
//! of them leads somewhere: after it the price drifts the way its bar went. That is the market's edge, and after a set
//! time it moves on to another sign, which nothing tells but what follows.
//!
//! All signs keep a chance of their own, so they show in the same bars whatever the edge is worth and however often it
//! moves.

use golem::time::{Span, Time};
use golem::world::Manifest;

use super::staged::{BURST_VOLUME, DRIFT_BARS};
use super::{START, features, manifest};
use crate::chance::{Chance, Odds};

/// Bars from one sign to the next of its kind, on average.
const BETWEEN_SIGNS: f64 = 100.0;
/// The return added by a sign to its own bar, in deviations.
pub(super) const SIGN_RETURN: f64 = 2.0;
/// The logarithm of how many times its usual price gas costs in the bar of a sign: four times.
const SPIKE: f64 = 2.0 * std::f64::consts::LN_2;
/// The logarithm of how many times less depth there is in the bar of a sign: five times.
const DRAIN: f64 = 1.609_437_912_434_100_3;
/// The stream of chance of the first sign; each other sign has one of its own.
const STREAM: u64 = 7;

/// Heuristics to begin with, where there are signs in gas and depth.
const INSTINCTS: &str = "\
when gas_ratio > 3 and ret_1 < 0 expect direction over 24
when gas_ratio > 3 and ret_1 > 0 expect direction over 24
when liquidity < 0.4 and ret_1 < 0 expect direction over 24
when liquidity < 0.4 and ret_1 > 0 expect direction over 24
";

/// A bar that stands out, by what does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Volume,
    Gas,
    Depth,
}

impl Sign {
    const ALL: [Sign; 3] = [Sign::Volume, Sign::Gas, Sign::Depth];
}

/// The edge of a market: what following it is worth, and how long it stays where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeConfig {
    /// The drift after a sign that leads somewhere, in basis points; at 0 there is no drift.
    pub bps: u32,
    /// Days until the edge moves on to another sign; 0 is never.
    pub move_days: f64,
}

impl EdgeConfig {
    /// The edge where nothing else is said: three times what going in and out costs.
    pub const USUAL: u32 = 45;
}

/// The manifest of a market with signs. In place of the two heuristics about volume twice the usual, which are awake at
/// any stir, there are some about the other signs.
pub(super) fn signed_manifest(edge: EdgeConfig, bar: Span) -> Manifest {
    let plain = manifest(if edge.bps > 0 { "market with an edge" } else { "fair market" }, bar, "ETH", true);
    let kept = plain.instincts.into_iter().filter(|text| !text.starts_with("when volume_ratio > 2 "));
    let instincts = kept.chain(features::instincts(INSTINCTS, bar)).collect();
    Manifest { instincts, ..plain }
}

/// All signs of a market.
#[derive(Clone, Debug)]
pub(super) struct Signs {
    kinds: [Showing; Sign::ALL.len()],
    leads: usize,
    /// The drift of a bar after a sign that leads somewhere.
    drift: f64,
    bars: u64,
    /// Bars until the edge moves on; 0 is never.
    stays: u64,
    chance: Chance,
}

/// One kind of sign.
#[derive(Clone, Debug)]
struct Showing {
    /// Bars until it may show again; while there are any, the price drifts after one that leads somewhere.
    left: u32,
    way: f64,
    /// Whether the last one led somewhere: one that showed before the edge moved on pays in full.
    led: bool,
    chance: Chance,
}

/// The signs of one bar.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct BarSigns {
    /// The return they add to it, in signs.
    pub(super) way: f64,
    /// The surprise in its volume, where that is one.
    pub(super) volume: Option<f64>,
    /// How far its gas and its depth are from where they would be, as logarithms.
    pub(super) gas: f64,
    pub(super) depth: f64,
}

impl Signs {
    pub(super) fn new(seed: u64, edge: EdgeConfig, bar_ms: f64) -> Signs {
        let kind = |at| Showing { left: 0, way: 0.0, led: false, chance: Chance::new(seed, STREAM + at as u64) };
        let kinds = std::array::from_fn(kind);
        let mut chance = Chance::new(seed, STREAM + kinds.len() as u64);
        Signs {
            leads: below(&mut chance, kinds.len()),
            kinds,
            drift: f64::from(edge.bps) / 10_000.0 / f64::from(DRIFT_BARS),
            bars: 0,
            stays: stays(edge, bar_ms),
            chance,
        }
    }

    /// The sign that leads somewhere now.
    pub(super) fn leads(&self) -> Sign {
        Sign::ALL[self.leads]
    }

    /// The return of the next bar due to the signs before it.
    pub(super) fn expected(&self) -> f64 {
        self.kinds.iter().filter(|kind| kind.led && kind.left > 0).map(|kind| kind.way * self.drift).sum()
    }

    /// Goes on to the next bar; returns its signs.
    pub(super) fn next(&mut self) -> BarSigns {
        let odds = Odds::new(1.0 / (BETWEEN_SIGNS - f64::from(DRIFT_BARS)));
        let mut shown = BarSigns::default();
        for (at, kind) in self.kinds.iter_mut().enumerate() {
            if kind.left > 0 {
                kind.left -= 1;
                continue;
            }
            if !kind.chance.happens(odds) {
                continue;
            }
            (kind.left, kind.led) = (DRIFT_BARS, at == self.leads);
            kind.way = kind.chance.either_way(1.0, 1.0);
            shown.way += kind.way;
            match Sign::ALL[at] {
                Sign::Volume => shown.volume = Some(BURST_VOLUME),
                Sign::Gas => shown.gas = SPIKE,
                Sign::Depth => shown.depth = -DRAIN,
            }
        }
        self.bars += 1;
        if self.stays > 0 && self.bars.is_multiple_of(self.stays) {
            let others = self.kinds.len() - 1;
            self.leads = (self.leads + 1 + below(&mut self.chance, others)) % self.kinds.len();
        }
        shown
    }
}

/// The times at which an edge moves on, within the first so many bars.
pub(crate) fn moves(edge: EdgeConfig, bar_ms: u64, bars: u64) -> Vec<Time> {
    let stays = stays(edge, bar_ms as f64);
    let each = |nth| START + Span::millis(nth * stays * bar_ms);
    if stays == 0 || edge.bps == 0 { Vec::new() } else { (1..=bars / stays).map(each).collect() }
}

fn stays(edge: EdgeConfig, bar_ms: f64) -> u64 {
    let bars = edge.move_days * super::DAY_MS / bar_ms;
    if bars > 0.0 { (bars.round() as u64).max(1) } else { 0 }
}

fn below(chance: &mut Chance, n: usize) -> usize {
    ((chance.uniform() * n as f64) as usize).min(n - 1)
}

#[cfg(test)]
mod tests;
