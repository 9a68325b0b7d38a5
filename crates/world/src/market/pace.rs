//! From a regime and relations to one bar of the simulated market: rates of a day or a year, scaled to so short a time.

use golem::time::Span;

use super::regime::{Regime, Relations};
use super::{DAY_MS, YEAR_MS};
use crate::chance::Odds;

const HOUR_MS: f64 = 3_600_000.0;

/// How strongly prices tend back to the one they began at, a year.
const HOMING_A_YEAR: f64 = 1.5;
/// A jump, in deviations of an hour.
const JUMP: f64 = 1.5;

/// How far the logarithm of volatility strays from its regime's level.
const VOLATILITY_SPREAD: f64 = 0.35;
/// How far the logarithm of gas strays from its regime's level.
const GAS_SPREAD: f64 = 0.35;
/// How far the logarithm of depth strays from its regime's level.
const DEPTH_SPREAD: f64 = 0.30;
const DEPTH_HALF_LIFE_HOURS: f64 = 2.0;

/// Regime and relations, scaled to one bar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) root_bar: f64,
    pub(super) drift: f64,
    pub(super) homing: f64,
    pub(super) momentum: f64,
    pub(super) jump: Odds,
    pub(super) jump_size: f64,
    pub(super) spike: Odds,
    pub(super) leverage: (f64, f64),
    pub(super) volatility: Pull,
    pub(super) gas: Pull,
    pub(super) depth: Pull,
}

/// A logarithm on its way back to its level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pull {
    pub(super) level: f64,
    keep: f64,
    noise: f64,
}

impl Pace {
    /// In a fair market nothing draws the price anywhere.
    pub(super) fn new(bar: Span, fair: bool, regime: Regime, relations: &Relations) -> Pace {
        let levels = regime.levels();
        let millis = bar.as_millis() as f64;
        let days = millis / DAY_MS;
        let log = |level| libm::log(level);
        // The mean of a squared log-normal lies above its middle by twice the squared spread.
        let volatility = log(levels.volatility) - VOLATILITY_SPREAD * VOLATILITY_SPREAD;
        let unless_fair = |tendency: f64| if fair { 0.0 } else { tendency };
        Pace {
            root_bar: libm::sqrt(millis / YEAR_MS),
            drift: unless_fair(levels.drift * days),
            homing: unless_fair(HOMING_A_YEAR * millis / YEAR_MS),
            momentum: unless_fair(relations.momentum + levels.momentum),
            jump: Odds::new(levels.jumps_a_day * days),
            jump_size: JUMP * libm::sqrt(HOUR_MS / millis),
            spike: Odds::new(levels.gas_spikes_a_day * days),
            leverage: (relations.leverage, libm::sqrt(1.0 - relations.leverage * relations.leverage)),
            volatility: Pull::new(volatility, relations.volatility_half_life, VOLATILITY_SPREAD, millis),
            gas: Pull::new(log(levels.gas_gwei), relations.gas_half_life, GAS_SPREAD, millis),
            depth: Pull::new(log(levels.depth), DEPTH_HALF_LIFE_HOURS, DEPTH_SPREAD, millis),
        }
    }
}

impl Pull {
    fn new(level: f64, half_life_hours: f64, spread: f64, bar_ms: f64) -> Pull {
        let keep = libm::exp(-std::f64::consts::LN_2 * bar_ms / (half_life_hours * HOUR_MS));
        Pull { level, keep, noise: spread * libm::sqrt(1.0 - keep * keep) }
    }

    pub(super) fn next(&self, value: f64, surprise: f64) -> f64 {
        self.level + (value - self.level) * self.keep + self.noise * surprise
    }
}
