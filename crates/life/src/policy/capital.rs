//! Capital, the money a golem acts with, to the micro-USDC; the money it lives on is
//! [`crate::mortality::economic::Purse`].

use serde::{Deserialize, Serialize};

use crate::money::Usdc;
use crate::world::Outcome;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capital {
    pub cash: Usdc,
    /// Set aside for asks under way.
    pub reserved: Usdc,
    /// Millionths of a unit held.
    pub holding: i64,
    /// The sum that the holding was acquired for.
    pub cost: Usdc,
    pub given: Usdc,
    pub withdrawn: Usdc,
    pub realised: Usdc,
    pub fees: Usdc,
    /// Profit that has become credit.
    pub harvested: Usdc,
    /// The result up to which it was shared out.
    pub shared_up_to: Usdc,
    /// The highest worth so far, for the breaker.
    pub peak: Usdc,
}

impl Capital {
    /// Worth of everything, at this worth of a unit; an absurd result is cut to the most there can be.
    pub fn worth(&self, unit: Usdc) -> Usdc {
        let whole = i128::from((self.cash + self.reserved).as_micros()) + self.held(unit);
        Usdc::micros(whole.clamp(0, i128::from(Usdc::MOST.as_micros())) as i64)
    }

    fn held(&self, unit: Usdc) -> i128 {
        // Most of the time nothing is held, and wide division is slow.
        if self.holding == 0 {
            return 0;
        }
        i128::from(unit.as_micros()) * i128::from(self.holding) / 1_000_000
    }

    /// Whether what is held is worth less than its cost by at least so much.
    pub fn has_fallen(&self, unit: Usdc, bps: u32) -> bool {
        let left = i128::from(10_000_u32.saturating_sub(bps));
        bps > 0 && self.holding > 0 && self.held(unit) * 10_000 <= i128::from(self.cost.as_micros()) * left
    }

    /// The worth of a unit at which what is held has fallen so far; none if nothing is held or there is no stop.
    pub fn stop(&self, bps: u32) -> Option<Usdc> {
        if bps == 0 || self.holding <= 0 {
            return None;
        }
        let left = i128::from(self.cost.as_micros()) * i128::from(10_000_u32.saturating_sub(bps)) / 10_000;
        let unit = left * 1_000_000 / i128::from(self.holding);
        Some(Usdc::micros(unit.min(i128::from(Usdc::MOST.as_micros())) as i64))
    }

    /// Moves the peak along with money given or taken, which is neither gain nor loss: the fall from it stays the same
    /// share.
    pub(crate) fn rescale_peak(&mut self, change: Usdc, unit: Usdc) {
        let before = self.worth(unit).as_micros();
        let after = before + change.as_micros();
        let scaled = if before > 0 {
            i128::from(self.peak.as_micros()) * i128::from(after) / i128::from(before)
        } else {
            i128::from(after)
        };
        self.peak = Usdc::micros(scaled.clamp(0, i128::from(Usdc::MOST.as_micros())) as i64);
    }

    pub(crate) fn settle(&mut self, outcome: &Outcome) {
        self.cash += outcome.cash - outcome.fee;
        self.fees += outcome.fee;
        if outcome.units >= 0 {
            self.cost -= outcome.cash;
        } else {
            let released = self.cost.share(-outcome.units, self.holding.max(1));
            self.cost -= released;
            self.realised += outcome.cash - released;
        }
        self.holding += outcome.units;
    }

    /// Gains and losses that are no longer in question, fees paid.
    pub fn result(&self) -> Usdc {
        self.realised - self.fees
    }

    /// The part of a new high of the result that becomes credit.
    pub fn harvest(&self, bps: u32) -> Usdc {
        let new = self.result() - self.shared_up_to;
        if new.is_positive() { new.share(i64::from(bps), 10_000).min(self.cash).max(Usdc::ZERO) } else { Usdc::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_stop_is_where_it_stops() {
        for (holding, cost, bps, stop) in [
            (1_000_000, 100, 1_000, Some(90)),
            (2_000_000, 100, 1_000, Some(45)),
            (250_000, 100, 2_500, Some(300)),
            (1_000_000, 100, 10_000, Some(0)),
            (1_000_000, 100, 0, None),
            (0, 0, 1_000, None),
        ] {
            let capital = Capital { holding, cost: Usdc::dollars(cost), ..Capital::default() };
            let said = capital.stop(bps);
            assert_eq!(said, stop.map(Usdc::dollars), "{holding} for {cost}");
            if let Some(stop) = said {
                assert!(capital.has_fallen(stop, bps) && !capital.has_fallen(stop + Usdc::dollars(1), bps));
            }
        }
    }
}
