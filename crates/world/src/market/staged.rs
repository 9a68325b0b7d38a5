//! Markets staged for an experiment, where it is known what can be learned and when that stops being true.
//! Bursts plant the one pattern in returns that are otherwise unpredictable; a tide makes volatility and gas
//! turn back at first, and from a set day on go further. Both leave the chance of the natural market alone.

use std::f64::consts::TAU;

use crate::chance::{Chance, Odds};

/// How long the price drifts after a burst.
pub(super) const DRIFT_BARS: u32 = 24;
/// Bars from one burst to the next, on average.
const BETWEEN_BURSTS: f64 = 150.0;
/// The return added by a burst to its own bar, in deviations.
pub(super) const BURST_RETURN: f64 = 2.0;
/// The surprise that makes a bar's volume six times what it is without one: 6 − 1 ⁄ 6.
pub(super) const BURST_VOLUME: f64 = 35.0 / 6.0;

/// Bars of one swing of volatility, so that a day of 24 bars is followed by its opposite.
const VOLATILITY_PERIOD: f64 = 48.0;
/// Bars of one swing of gas, which is claimed about one bar ahead.
const GAS_PERIOD: f64 = 2.0;
/// How many times as long a swing takes after the flip.
const LONGER: f64 = 4.0;
/// How far the logarithm of volatility swings either way.
const VOLATILITY_SWING: f64 = 1.2;
/// How far the logarithm of gas swings either way.
const GAS_SWING: f64 = 0.3;

/// Bursts of volume, each followed by a drift the way its own bar went.
#[derive(Clone, Debug)]
pub(super) struct Bursts {
    odds: Odds,
    /// The drift of a bar after a burst.
    drift: f64,
    /// Up or down, while there is drift left.
    way: f64,
    left: u32,
    chance: Chance,
}

impl Bursts {
    /// The bursts of a market; `None` where there would be nothing to gain.
    pub(super) fn new(seed: u64, edge_bps: u32) -> Option<Bursts> {
        (edge_bps > 0).then(|| Bursts {
            // A burst waits until the drift of the last one is over, so that every burst pays in full.
            odds: Odds::new(1.0 / (BETWEEN_BURSTS - f64::from(DRIFT_BARS))),
            drift: f64::from(edge_bps) / 10_000.0 / f64::from(DRIFT_BARS),
            way: 0.0,
            left: 0,
            chance: Chance::new(seed, 4),
        })
    }

    /// The return of the next bar due to the last burst.
    pub(super) fn expected(&self) -> f64 {
        if self.left > 0 { self.way * self.drift } else { 0.0 }
    }

    /// Goes on to the next bar; returns the direction of its burst, if there is one.
    pub(super) fn next(&mut self) -> Option<f64> {
        if self.left > 0 {
            self.left -= 1;
            return None;
        }
        self.chance.happens(self.odds).then(|| {
            self.left = DRIFT_BARS;
            self.way = self.chance.either_way(1.0, 1.0);
            self.way
        })
    }
}

/// How far volatility and gas are from where they would be without a tide, as logarithms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Swing {
    pub(super) volatility: f64,
    pub(super) gas: f64,
}

/// A swing that is short first and long from the flip on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tide {
    /// In bars from the beginning.
    flip: f64,
}

impl Tide {
    pub(super) fn new(flip_bars: f64) -> Tide {
        Tide { flip: flip_bars }
    }

    /// The swing so many bars from the beginning.
    pub(super) fn at(&self, bars: f64) -> Swing {
        // In bars as they count before the flip, so that nothing leaps when it comes.
        let gone = bars.min(self.flip) + (bars - self.flip).max(0.0) / LONGER;
        let turn = |period: f64| TAU * (gone % period) / period;
        Swing {
            volatility: VOLATILITY_SWING * libm::sin(turn(VOLATILITY_PERIOD)),
            // Highest at the first bar: a sine of two bars would be zero at each.
            gas: GAS_SWING * libm::cos(turn(GAS_PERIOD)),
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
