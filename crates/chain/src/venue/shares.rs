//! Shares of a pool's liquidity between two prices: the calls that give liquidity and take it back, their quotes, and
//! the worth of a share.

use alloy_primitives::{B256, U256};
use alloy_sol_types::SolCall;

use super::{Range, Venue};
use crate::Error;
use crate::contracts::{Pool, Purse, Token};
use crate::rpc::Block;

/// The fall of the thing's price, as a part of it, that an order for liquidity leaves room for.
const FALLS: f64 = 0.01;
/// The number under which calls are only tried; no order has it.
const TRIED: u64 = u64::MAX;

impl Venue {
    /// The call to the purse for an order: millionths of a share, the most paid or the least received, and the
    /// deadline.
    pub(super) fn share_call(
        &self,
        range: Range,
        buys: bool,
        id: B256,
        (units, bound, deadline): (i64, U256, U256),
        at: &Block,
    ) -> Result<Vec<u8>, Error> {
        let too_much = |_| Error::Wrong("more liquidity than a pool can count".to_owned());
        let amount = u128::try_from(self.unit.parts(units)).map_err(too_much)?;
        if !buys {
            return Ok(Purse::withdrawCall { id, amount, least: bound, deadline }.abi_encode());
        }
        let slot = self.ask(self.place.pool, &Pool::slot0Call {}, at)?;
        let units = range.thing(amount as f64, f64::from(U256::from(slot.sqrtPriceX96)), self.thing_first);
        Ok(Purse::provideCall { id, amount, units, most: bound, deadline }.abi_encode())
    }

    /// The quote of an order in millionths of a dollar: the call is tried, with everything that may leave.
    pub(super) fn share_quoted(&self, range: Range, buys: bool, units: i64, at: &Block) -> Result<i64, Error> {
        let (owner, token) = (self.place.purse, self.place.money);
        let bound = if buys {
            let left = self.ask(owner, &Purse::leftCall { token }, at)?;
            left.min(self.ask(token, &Token::balanceOfCall { owner }, at)?)
        } else {
            U256::from(1)
        };
        let call = self.share_call(range, buys, self.name_of(TRIED), (units, bound, U256::MAX), at)?;
        let told = self.chain.tried(self.signer.address(), owner, &call, self.gas(), at)?;
        let told = U256::try_from_be_slice(&told).ok_or_else(|| Error::Wrong(format!("{owner} answers nothing")))?;
        Ok(if buys { self.money.up(told) } else { self.money.down(told) })
    }

    /// Checks that the purse gives liquidity in the range that chain.json has.
    pub fn check_range(&self) -> Result<(), Error> {
        let Some(range) = self.place.range else { return Ok(()) };
        let (purse, head) = (self.place.purse, self.chain.head()?);
        let lower = self.ask(purse, &Purse::lowerCall {}, &head)?.as_i32();
        let upper = self.ask(purse, &Purse::upperCall {}, &head)?.as_i32();
        if (lower, upper) == (range.lower, range.upper) {
            return Ok(());
        }
        Err(Error::Wrong(format!(
            "the purse {purse} gives liquidity from {lower} to {upper}, and chain.json says from {} to {}; its owner calls \
            setRange, or corrects chain.json",
            range.lower, range.upper
        )))
    }
}

impl Range {
    /// The roots of the range's prices, of the first of the pool's tokens in the second.
    fn roots(&self) -> (f64, f64) {
        let root = |tick: i32| 1.0001_f64.powf(f64::from(tick) / 2.0);
        (root(self.lower), root(self.upper))
    }

    /// The amounts of both tokens in so much liquidity, at this root of the price.
    fn tokens(&self, liquidity: f64, root: f64) -> (f64, f64) {
        let (low, high) = self.roots();
        let root = root.clamp(low, high);
        (liquidity * (1.0 / root - 1.0 / high), liquidity * (root - low))
    }

    /// The amount of the thing to provide for so much liquidity, even if its price falls a little meanwhile; the rest
    /// is sold again.
    fn thing(&self, liquidity: f64, root_x96: f64, thing_first: bool) -> U256 {
        let root = root_x96 / 2_f64.powi(96);
        let thing = if thing_first {
            self.tokens(liquidity, root * (1.0 - FALLS).sqrt()).0
        } else {
            self.tokens(liquidity, root / (1.0 - FALLS).sqrt()).1
        };
        // A trace more, for rounding in the last digits.
        U256::saturating_from((thing * (1.0 + 1e-6)).ceil() + 1.0)
    }

    /// The worth of a share in dollars at this price of the thing, without the fees it has earned.
    pub fn worth(&self, price: f64, place: &super::VenuePlace) -> f64 {
        let power = |decimals: u8| 10_f64.powi(i32::from(decimals));
        let (thing, money) = (power(place.thing_decimals), power(place.money_decimals));
        let liquidity = self.each as f64 * 1e6;
        // In the smallest parts of each, as the pool counts.
        let (things, moneys) = if place.thing < place.money {
            self.tokens(liquidity, (price * money / thing).sqrt())
        } else {
            let (moneys, things) = self.tokens(liquidity, (thing / (price * money)).sqrt());
            (things, moneys)
        };
        things / thing * price + moneys / money
    }
}
