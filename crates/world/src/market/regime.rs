//! The weather of the simulated market. Regimes are named and set levels: how much prices move, where
//! gas and depth tend to. Relations say how one observable follows from another; when they change, what
//! a golem has learned becomes wrong although nothing looks different.

use std::fmt;

use serde::Serialize;

use crate::chance::Chance;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Regime {
    Calm,
    TrendingUp,
    TrendingDown,
    Choppy,
    Crisis,
}

/// The levels a regime pulls everything towards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels {
    /// How long the regime lasts on average.
    pub(crate) days: f64,
    /// Volatility as a fraction a year.
    pub(crate) volatility: f64,
    /// Expected return a day.
    pub(crate) drift: f64,
    /// Momentum, added to the market's own.
    pub(crate) momentum: f64,
    pub(crate) jumps_a_day: f64,
    pub(crate) gas_gwei: f64,
    pub(crate) gas_spikes_a_day: f64,
    /// Dollars that move the market by one per cent.
    pub(crate) depth: f64,
}

impl Regime {
    pub const ALL: [Regime; 5] =
        [Regime::Calm, Regime::TrendingUp, Regime::TrendingDown, Regime::Choppy, Regime::Crisis];

    /// The odds of the first regime: roughly the share of time a market is in each later.
    const FIRST: [f64; 5] = [0.50, 0.19, 0.15, 0.13, 0.03];

    /// The odds of the next regime.
    pub(crate) const fn onward(self) -> [f64; 5] {
        match self {
            Regime::Calm => [0.00, 0.35, 0.30, 0.30, 0.05],
            Regime::TrendingUp => [0.45, 0.00, 0.15, 0.30, 0.10],
            Regime::TrendingDown => [0.35, 0.15, 0.00, 0.30, 0.20],
            Regime::Choppy => [0.40, 0.25, 0.25, 0.00, 0.10],
            Regime::Crisis => [0.15, 0.15, 0.25, 0.45, 0.00],
        }
    }

    pub(crate) const fn levels(self) -> Levels {
        let calm = Levels {
            days: 8.0,
            volatility: 0.40,
            drift: 0.0,
            momentum: 0.0,
            jumps_a_day: 0.1,
            gas_gwei: 15.0,
            gas_spikes_a_day: 0.5,
            depth: 8e6,
        };
        match self {
            Regime::Calm => calm,
            Regime::TrendingUp => Levels {
                days: 5.0,
                volatility: 0.55,
                drift: 0.008,
                momentum: 0.05,
                jumps_a_day: 0.2,
                gas_gwei: 30.0,
                gas_spikes_a_day: 1.0,
                depth: 7e6,
            },
            Regime::TrendingDown => Levels {
                days: 4.0,
                volatility: 0.70,
                drift: -0.008,
                momentum: 0.05,
                jumps_a_day: 0.3,
                gas_gwei: 22.0,
                gas_spikes_a_day: 1.0,
                depth: 5e6,
            },
            Regime::Choppy => {
                Levels { days: 4.0, volatility: 0.90, momentum: -0.10, jumps_a_day: 0.5, depth: 4e6, ..calm }
            }
            Regime::Crisis => Levels {
                days: 1.5,
                volatility: 2.00,
                drift: -0.015,
                momentum: 0.0,
                jumps_a_day: 1.0,
                gas_gwei: 90.0,
                gas_spikes_a_day: 4.0,
                depth: 0.6e6,
            },
        }
    }

    pub(crate) fn first(chance: &mut Chance) -> Regime {
        pick(&Regime::FIRST, chance.uniform())
    }

    pub(crate) fn next(self, chance: &mut Chance) -> Regime {
        pick(&self.onward(), chance.uniform())
    }
}

fn pick(weights: &[f64; 5], at: f64) -> Regime {
    let mut left = at;
    for (regime, weight) in Regime::ALL.into_iter().zip(weights) {
        if left < *weight {
            return regime;
        }
        left -= weight;
    }
    // Only a sum rounded below one leads here.
    Regime::Choppy
}

impl fmt::Display for Regime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Regime::Calm => "calm",
            Regime::TrendingUp => "trending up",
            Regime::TrendingDown => "trending down",
            Regime::Choppy => "choppy",
            Regime::Crisis => "crisis",
        })
    }
}

/// How the next bar follows from this one. Leads are in deviations of the next return.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Relations {
    /// The part of a return that comes again; negative: the part that reverses.
    pub momentum: f64,
    /// The effect of a surprise in volume on the next return.
    pub volume_lead: f64,
    /// The effect of a surprise in gas on the next return.
    pub gas_lead: f64,
    /// Whether volatility rises with prices or against them.
    pub leverage: f64,
    /// Hours until half of a deviation in volatility is gone.
    pub volatility_half_life: f64,
    /// Hours until half of a deviation in gas is gone.
    pub gas_half_life: f64,
}

impl Relations {
    pub(crate) fn draw(chance: &mut Chance) -> Relations {
        Relations {
            momentum: chance.either_way(0.08, 0.35),
            volume_lead: chance.either_way(0.04, 0.20),
            gas_lead: chance.either_way(0.04, 0.20),
            leverage: chance.either_way(0.20, 0.60),
            volatility_half_life: chance.between(0.5, 4.0),
            gas_half_life: chance.between(0.2, 4.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regimes_lead_somewhere_else_and_their_odds_add_up() {
        for regime in Regime::ALL {
            let onward = regime.onward();
            assert_eq!(onward[regime as usize], 0.0, "{regime} leads to itself");
            assert!((onward.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{regime}");
        }
        assert!((Regime::FIRST.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn no_draw_makes_returns_explode() {
        let mut chance = Chance::new(3, 0);
        for _ in 0..10_000 {
            let relations = Relations::draw(&mut chance);
            for regime in Regime::ALL {
                assert!((relations.momentum + regime.levels().momentum).abs() < 0.5);
            }
        }
    }
}
