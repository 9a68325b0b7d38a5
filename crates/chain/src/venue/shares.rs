//! Shares of a pool's liquidity between two prices: what giving it and taking it back is called on the chain, what it would come
//! to, and what a share is worth.

use alloy_primitives::{B256, U256};
use alloy_sol_types::SolCall;

use super::{Range, Venue};
use crate::Error;
use crate::contracts::{Pool, Purse, Token};
use crate::rpc::Block;

/// How far the thing may fall until it is done, as a part of its price, without being too little of it.
const FALLS: f64 = 0.01;
/// No order has this number: what is only tried goes by it.
const TRIED: u64 = u64::MAX;

impl Venue {
    /// What the purse is told of an order: millionths of a share, the most paid or the least received, and when it is over.
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

    /// What it would come to in millionths of a dollar: it is tried, with everything that may leave.
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

    /// The purse gives liquidity where its owner has written down that it does, or it is not asked to.
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
             setRange, or writes down what is so",
            range.lower, range.upper
        )))
    }
}

impl Range {
    /// The roots of the prices between which it is, of the second of the pool's tokens for the first.
    fn roots(&self) -> (f64, f64) {
        let root = |tick: i32| 1.0001_f64.powf(f64::from(tick) / 2.0);
        (root(self.lower), root(self.upper))
    }

    /// How much of either token so much liquidity is, at this root of the price.
    fn tokens(&self, liquidity: f64, root: f64) -> (f64, f64) {
        let (low, high) = self.roots();
        let root = root.clamp(low, high);
        (liquidity * (1.0 / root - 1.0 / high), liquidity * (root - low))
    }

    /// How much of the thing to have for so much liquidity, if it falls a little until then; what is too much is sold again.
    fn thing(&self, liquidity: f64, root_x96: f64, thing_first: bool) -> U256 {
        let root = root_x96 / 2_f64.powi(96);
        let thing = if thing_first {
            self.tokens(liquidity, root * (1.0 - FALLS).sqrt()).0
        } else {
            self.tokens(liquidity, root / (1.0 - FALLS).sqrt()).1
        };
        // And a trace more, for what gets lost in the last digits.
        U256::saturating_from((thing * (1.0 + 1e-6)).ceil() + 1.0)
    }

    /// Dollars that a share is worth where one of the thing is worth so many, without what it has earned.
    pub fn worth(&self, price: f64, place: &super::Place) -> f64 {
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
