//! The bars of a pool: its exchanges, folded. Only blocks that are deep enough are read, so no bar is ever taken back;
//! a reader that was away reads on from where it was.

use alloy_primitives::U256;
use alloy_sol_types::SolEvent;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Error;
use crate::contracts::Pool;
use crate::rpc::{Block, Endpoints, Log};
use crate::venue::VenuePlace;

/// The lowest and the highest price of a bar, in dollars.
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
    /// Volume, in units of the thing.
    pub volume: f64,
    /// The price of a unit of gas at the last exchange, in wei.
    pub gas: f64,
}

impl Bar {
    /// The bar as a golem sees it: dollars for the thing, or for a share of liquidity where shares are traded.
    pub fn told(self, place: &VenuePlace) -> Bar {
        let Some(range) = place.range else { return self };
        let worth = |price: f64| range.worth(price, place);
        let [open, high, low, close] = [self.open, self.high, self.low, self.close].map(worth);
        // Rounding may turn a tiny rise into a fall.
        let (high, low) = (high.max(open).max(close), low.min(open).min(close));
        Bar { open, high, low, close, ..self }
    }
}

/// A reader's place in a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// Seconds of one bar.
    pub bar: u64,
    /// The first block that has not been read.
    pub next: u64,
    /// The bar under way; none before the first exchange.
    pub open: Option<Bar>,
}

impl Watch {
    /// A reader that begins at this block.
    pub fn new(bar: u64, from: u64) -> Watch {
        Watch { bar: bar.max(1), next: from, open: None }
    }

    /// Reads on; returns every bar that has ended since, oldest first.
    pub fn read(&mut self, chain: &Endpoints, place: &VenuePlace) -> Result<Vec<Bar>, Error> {
        let head = chain.head()?;
        let deep = chain.block(head.number.saturating_sub(place.depth))?;
        let mut told = Vec::new();
        // A failed read leaves everything unchanged.
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

    fn take(&mut self, log: &Log, at: &Block, place: &VenuePlace, told: &mut Vec<Bar>) -> Result<(), Error> {
        let swap = Pool::Swap::decode_raw_log(log.topics.iter().copied(), &log.data)
            .map_err(|why| Error::Wrong(format!("an event of the pool cannot be read: {why}")))?;
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

    /// Ends the bars that are over by this time; a bar without an exchange stays at the last close.
    fn turn_to(&mut self, time: u64, told: &mut Vec<Bar>) {
        while let Some(bar) = self.open.filter(|bar| time >= bar.opened + self.bar) {
            told.push(bar);
            let (opened, close, gas) = (bar.opened + self.bar, bar.close, bar.gas);
            self.open = Some(Bar { opened, open: close, high: close, low: close, close, volume: 0.0, gas });
        }
    }
}

/// Dollars for one of the thing.
fn price(root: U256, place: &VenuePlace) -> f64 {
    let ratio = (f64::from(root) / 2_f64.powi(96)).powi(2);
    let scale = 10_f64.powi(i32::from(place.thing_decimals) - i32::from(place.money_decimals));
    let price = if place.thing < place.money { ratio * scale } else { scale / ratio };
    // In a pool that is empty the price can be anything at all.
    price.clamp(PRICES.0, PRICES.1)
}
