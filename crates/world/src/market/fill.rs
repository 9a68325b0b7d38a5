//! How an order meets a market. A quote knows the last close, the spread and the fee; a fill also meets
//! the depth of the market, which no quote shows and which never works in the golem's favour. Amounts are
//! whole micro-USDC, rounded against the golem, and no order is filled at a bar's high or low.

use golem::Usdc;
use golem::world::{Effect, Outcome, Quote};

use crate::Order;
use crate::chance::{fraction, mix};

const BUY: u8 = 0;
const SELL: u8 = 1;
/// Actions of a market, in the order of the numbers above.
pub(super) const ACTIONS: [(&str, Effect); 2] = [("buy", Effect::Adds), ("sell", Effect::Reduces)];

const FEE_BPS: i128 = 5;
const HALF_SPREAD_PPM: i128 = 200;
/// Taking as much as the depth moves the fill by one per cent.
const DEPTH_PPM: f64 = 10_000.0;
/// The cost of being late at worst, in millionths.
const LATE_PPM: f64 = 100.0;
/// The slippage beyond which an order is refused, in millionths.
const MOST_PPM: f64 = 200_000.0;

const MILLION: i128 = 1_000_000;

/// The market as an order finds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Venue {
    /// Last close of a whole unit.
    pub(super) unit: Usdc,
    /// Dollars that move the market by one per cent.
    pub(super) depth: f64,
    /// Millionths of a unit that the golem holds; it cannot sell more.
    pub(super) held: i64,
    /// Sets this market's luck apart from another's.
    pub(super) salt: u64,
}

impl Venue {
    pub(super) fn quote(&self, order: &Order) -> Option<Quote> {
        let (cash, fee) = self.settle(order, HALF_SPREAD_PPM)?;
        Some(Quote { cash, fee, gas: Usdc::ZERO })
    }

    pub(super) fn fill(&self, key: u64, order: &Order) -> Option<Outcome> {
        let (cash, fee) = self.settle(order, HALF_SPREAD_PPM + self.slippage(key, order)?)?;
        let units = if order.action == BUY { order.units } else { -order.units };
        Some(Outcome { units, cash, fee, gas: Usdc::ZERO })
    }

    /// Cash and fee at so many millionths away from the close.
    fn settle(&self, order: &Order, away: i128) -> Option<(Usdc, Usdc)> {
        let gross = self.gross(order)?;
        let cash = match order.action {
            BUY => -up(gross * (MILLION + away), MILLION * MILLION),
            SELL if order.units <= self.held => gross * (MILLION - away) / (MILLION * MILLION),
            _ => return None,
        };
        let fee = up(cash.abs() * FEE_BPS, 10_000);
        Some((Usdc::micros(i64::try_from(cash).ok()?), Usdc::micros(i64::try_from(fee).ok()?)))
    }

    /// Millionths of a micro-USDC at the last close; `None` if no account could carry it.
    fn gross(&self, order: &Order) -> Option<i128> {
        let gross = i128::from(self.unit.as_micros()) * i128::from(order.units);
        (gross > 0 && gross <= i128::from(Usdc::MOST.as_micros()) * MILLION / 2).then_some(gross)
    }

    fn slippage(&self, key: u64, order: &Order) -> Option<i128> {
        let dollars = self.gross(order)? as f64 / 1e12;
        let luck = fraction(mix(self.salt ^ mix(key)));
        let ppm = DEPTH_PPM * dollars / self.depth * (0.5 + luck) + LATE_PPM * luck;
        (ppm <= MOST_PPM).then_some(ppm as i128)
    }
}

fn up(amount: i128, divisor: i128) -> i128 {
    (amount + divisor - 1) / divisor
}

#[cfg(test)]
mod tests {
    use super::*;

    fn venue() -> Venue {
        Venue { unit: Usdc::dollars(2_000), depth: 1e6, held: 5_000_000, salt: 9 }
    }

    fn order(action: u8, units: i64) -> Order {
        Order::open(action, units)
    }

    fn quoted(cash: i64, fee: i64) -> Quote {
        Quote { cash: Usdc::micros(cash), fee: Usdc::micros(fee), gas: Usdc::ZERO }
    }

    #[test]
    fn a_quote_is_the_close_with_spread_and_fee() {
        let quote = |action| venue().quote(&order(action, 500_000)).unwrap();
        assert_eq!(quote(BUY), quoted(-1_000_200_000, 500_100));
        assert_eq!(quote(SELL), quoted(999_800_000, 499_900));
    }

    #[test]
    fn every_fraction_is_rounded_against_the_golem() {
        let cheap = Venue { unit: Usdc::micros(3), ..venue() };
        assert_eq!(cheap.quote(&order(BUY, 1)).unwrap(), quoted(-1, 1));
        assert_eq!(cheap.quote(&order(SELL, 1)).unwrap(), quoted(0, 0));
    }

    #[test]
    fn a_fill_is_never_better_than_its_quote_and_worse_with_size() {
        let away = |action, units, key| {
            let quote = venue().quote(&order(action, units)).unwrap();
            let fill = venue().fill(key, &order(action, units)).unwrap();
            let worse = (quote.cash - fill.cash).as_f64() / quote.cash.as_f64().abs();
            assert!(worse >= 0.0);
            worse
        };
        for key in 0..100 {
            for action in [BUY, SELL] {
                let small = away(action, 1_000, key);
                let large = away(action, 5_000_000, key);
                assert!(small <= 110e-6, "{small}");
                assert!(large >= small + 40e-6, "{small} {large}");
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = [
            order(BUY, 0),
            order(BUY, -1),
            order(SELL, -1),
            order(BUY, i64::MAX),
            order(BUY, i64::MIN),
            order(SELL, 5_000_001),
            order(7, 1_000),
        ];
        for order in refused {
            assert_eq!(venue().quote(&order), None, "{order:?}");
            assert_eq!(venue().fill(1, &order), None, "{order:?}");
        }
        assert_eq!(Venue { unit: Usdc::ZERO, ..venue() }.fill(1, &order(BUY, 1_000)), None);
        assert_eq!(Venue { depth: 0.0, ..venue() }.fill(1, &order(BUY, 1_000)), None);
        assert_eq!(venue().fill(1, &order(BUY, 50_000_000_000)), None);
    }
}
