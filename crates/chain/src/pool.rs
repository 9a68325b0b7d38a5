//! What a pool shows: its exchanges, folded into bars. Only blocks that are deep enough are told of, so nothing that was told is
//! taken back; whoever was away reads on from where it was.

use alloy_primitives::U256;
use alloy_sol_types::SolEvent;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Error;
use crate::contracts::Pool;
use crate::rpc::{Block, Endpoints, Log};
use crate::venue::Place;

/// Nothing is told of prices beyond these, in dollars.
const PRICES: (f64, f64) = (1e-6, 1e8);

/// One stretch of a pool's time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// Seconds since the epoch.
    pub opened: u64,
    /// Dollars for one of the thing.
    pub open: f64,
    pub high: f64,
    pub low: f64,
    pub close: f64,
    /// Of the thing.
    pub volume: f64,
    /// What a unit of gas cost at its last exchange, in wei.
    pub gas: f64,
}

impl Bar {
    /// As it is told to whoever trades there: dollars for the thing, or for a share of liquidity where that is traded.
    pub fn told(self, place: &Place) -> Bar {
        let Some(range) = place.range else { return self };
        let worth = |price: f64| range.worth(price, place);
        let [open, high, low, close] = [self.open, self.high, self.low, self.close].map(worth);
        // What rises by next to nothing may come out lower by less than that.
        let (high, low) = (high.max(open).max(close), low.min(open).min(close));
        Bar { open, high, low, close, ..self }
    }
}

/// Where somebody is who reads a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// Seconds of one bar.
    pub bar: u64,
    /// The first block that has not been read.
    pub next: u64,
    /// The bar that is not over yet; none before the first exchange.
    pub open: Option<Bar>,
}

impl Watch {
    /// From this block on.
    pub fn new(bar: u64, from: u64) -> Watch {
        Watch { bar: bar.max(1), next: from, open: None }
    }

    /// Every bar that has come to its end since, oldest first.
    pub fn read(&mut self, chain: &Endpoints, place: &Place) -> Result<Vec<Bar>, Error> {
        let head = chain.head()?;
        let deep = chain.block(head.number.saturating_sub(place.depth))?;
        let mut told = Vec::new();
        // Whatever cannot be read leaves everything as it was.
        let mut ahead = self.clone();
        while ahead.next <= deep.number {
            let to = deep.number.min(ahead.next + chain.span() - 1);
            let logs = chain.logs(place.pool, json!([Pool::Swap::SIGNATURE_HASH]), ahead.next, to)?;
            let mut block: Option<Block> = None;
            for log in &logs {
                let at = match block.filter(|block| block.number == log.block) {
                    Some(block) => block,
                    None => chain.block(log.block)?,
                };
                block = Some(at);
                ahead.take(log, &at, place, &mut told)?;
            }
            ahead.next = to + 1;
        }
        ahead.turn_to(deep.time, &mut told);
        *self = ahead;
        Ok(told)
    }

    fn take(&mut self, log: &Log, at: &Block, place: &Place, told: &mut Vec<Bar>) -> Result<(), Error> {
        let swap = Pool::Swap::decode_raw_log(log.topics.iter().copied(), &log.data)
            .map_err(|why| Error::Wrong(format!("the pool says what nobody understands: {why}")))?;
        let price = price(U256::from(swap.sqrtPriceX96), place);
        let thing = if place.thing < place.money { swap.amount0 } else { swap.amount1 };
        let volume = f64::from(thing.unsigned_abs()) / 10_f64.powi(i32::from(place.thing_decimals));
        self.turn_to(at.time, told);
        let opened = at.time - at.time % self.bar;
        let bar = self.open.get_or_insert(Bar {
            opened,
            open: price,
            high: price,
            low: price,
            close: price,
            volume: 0.0,
            gas: at.base_fee as f64,
        });
        (bar.high, bar.low, bar.close) = (bar.high.max(price), bar.low.min(price), price);
        (bar.volume, bar.gas) = (bar.volume + volume, at.base_fee as f64);
        Ok(())
    }

    /// Time goes on: bars end, and those in which nobody exchanged anything stand where the one before closed.
    fn turn_to(&mut self, time: u64, told: &mut Vec<Bar>) {
        while let Some(bar) = self.open.filter(|bar| time >= bar.opened + self.bar) {
            told.push(bar);
            let (opened, close, gas) = (bar.opened + self.bar, bar.close, bar.gas);
            self.open = Some(Bar { opened, open: close, high: close, low: close, close, volume: 0.0, gas });
        }
    }
}

/// Dollars for one of the thing.
fn price(root: U256, place: &Place) -> f64 {
    let ratio = (f64::from(root) / 2_f64.powi(96)).powi(2);
    let scale = 10_f64.powi(i32::from(place.thing_decimals) - i32::from(place.money_decimals));
    let price = if place.thing < place.money { ratio * scale } else { scale / ratio };
    // Where nobody has anything left to exchange a pool's price is anything at all.
    price.clamp(PRICES.0, PRICES.1)
}
