//! Whoever else is in the pool of a chain on which nothing is real: they follow from a seed. Prices wander, turn back when they
//! have gone far, and go on for a while after a burst: there is something to find out.

use chain::U256;
use chain::devnet::Devnet;
use serde_json::json;

/// Dollars that an ordinary trade is about.
const USUAL: u64 = 1_500;
/// How far they let the price be carried off, in dollars that went in.
const FAR: i64 = 120_000;
/// How long a burst goes on afterwards, in trades.
const AFTER: u32 = 24;
/// What a unit of gas usually costs, in wei.
const GAS: i64 = 50_000_000;

pub(crate) struct Traders {
    state: u64,
    /// Dollars that went in, less those that came out.
    carried: i64,
    /// Which way it goes on, and for how long.
    after: Option<(bool, u32)>,
    /// What a unit of gas costs, in wei.
    gas: i64,
}

impl Traders {
    pub(crate) fn new(seed: u64) -> Traders {
        Traders { state: seed, carried: 0, after: None, gas: GAS }
    }

    /// Splitmix.
    fn below(&mut self, n: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    /// What the next of them does: whether it buys, and for how many dollars.
    fn next(&mut self) -> (bool, u64) {
        let size = USUAL / 4 + self.below(USUAL);
        if self.after.is_none() && self.below(90) == 0 {
            let up = self.below(2) == 0;
            self.after = Some((up, AFTER));
            return (up, USUAL * 12);
        }
        // Of a hundred: those who go on after a burst, or who think that it has gone far enough.
        let buyers = match self.after {
            Some((up, _)) => {
                if up {
                    75
                } else {
                    25
                }
            }
            None => 50 - (self.carried * 40 / FAR).clamp(-40, 40),
        };
        self.after = self.after.and_then(|(up, left)| Some((up, left.checked_sub(1)?)));
        (self.below(100) < buyers as u64, size)
    }

    /// What gas costs in the next block: it wanders, and is dearer while there is a burst.
    fn fee(&mut self) -> i64 {
        let usual = if self.after.is_some() { 3 * GAS } else { GAS };
        let step = (usual - self.gas) / 16 + self.gas / 100 * (self.below(17) as i64 - 8);
        self.gas = (self.gas + step).clamp(GAS / 10, 10 * GAS);
        self.gas
    }

    pub(crate) fn trade(&mut self, net: &Devnet) -> Result<(), chain::Error> {
        // Left alone, empty blocks would make it worth nothing within minutes.
        net.wire().ask("anvil_setNextBlockBaseFeePerGas", json!([format!("{:#x}", self.fee())]))?;
        let (buys, dollars) = self.next();
        self.carried += if buys { dollars as i64 } else { -(dollars as i64) };
        // At about two thousand dollars an ether.
        let amount = if buys {
            U256::from(dollars * 1_000_000)
        } else {
            U256::from(dollars) * U256::from(500_000_000_000_000_u64)
        };
        net.trade_soon(buys, amount)
    }
}
