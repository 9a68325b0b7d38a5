//! The traders in the pool of a devnet, from a seed. Prices wander, turn back when they have gone far, and go on for a
//! while after a burst: there is something to find out.

use chain::U256;
use chain::devnet::Devnet;
use serde_json::json;

/// The size of an ordinary trade, in dollars.
const USUAL: u64 = 1_500;
/// How far the price can be carried off before all trade against it, in dollars that went in.
const FAR: i64 = 120_000;
/// How long a burst goes on afterwards, in trades.
const AFTER: u32 = 24;
/// The usual price of a unit of gas, in wei.
const GAS: i64 = 50_000_000;

pub(crate) struct Traders {
    state: u64,
    /// Dollars that went in, less those that came out.
    carried: i64,
    /// The direction after a burst, and for how many trades it lasts.
    after: Option<(bool, u32)>,
    /// The present price of a unit of gas, in wei.
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

    /// The next trade: whether it buys, and for how many dollars.
    fn next(&mut self) -> (bool, u64) {
        let size = USUAL / 4 + self.below(USUAL);
        if self.after.is_none() && self.below(90) == 0 {
            let up = self.below(2) == 0;
            self.after = Some((up, AFTER));
            return (up, USUAL * 12);
        }
        // Buyers of a hundred: more in the direction of a burst, fewer when the price has gone far up.
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

    /// The price of gas in the next block: it wanders, and is higher while there is a burst.
    fn fee(&mut self) -> i64 {
        let usual = if self.after.is_some() { 3 * GAS } else { GAS };
        let step = (usual - self.gas) / 16 + self.gas / 100 * (self.below(17) as i64 - 8);
        self.gas = (self.gas + step).clamp(GAS / 10, 10 * GAS);
        self.gas
    }

    pub(crate) fn trade(&mut self, net: &Devnet) -> Result<(), chain::Error> {
        // Otherwise empty blocks would drive the price of gas to nothing within minutes.
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
