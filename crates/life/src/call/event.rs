//! What was set aside for calls, and what they came to.

use serde::{Deserialize, Serialize};

use super::{Denied, Runaway};
use crate::money::Usdc;
use crate::mortality::phase::Tier;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "CallEvent")]
pub enum Event {
    /// The sum is set aside from here on. `again` is by what the same call would be known if it were made again;
    /// `alike` is the same for calls that ask the same.
    Reserved { key: u64, most: Usdc, tier: Tier, again: Option<u64>, alike: u64 },
    /// What was paid for it; `over` is what was billed beyond that and could not be paid.
    Settled { key: u64, cost: Usdc, over: Usdc, how: How, used: Used },
    /// So many were not let through, the last for this. The same reason is told once in a while.
    Refused { by: Denied, times: u32 },
    /// From here on none is let through until its owner says yes to what has this key.
    Held { key: u64, by: Runaway, times: u32, sum: Usdc },
    /// The owner said yes.
    Released { key: u64 },
    /// The tokens of a call under way are of these kinds; it is settled next.
    Counted { key: u64, kinds: Kinds },
    /// So many tokens are set aside for it, beside the sum.
    TokensReserved { key: u64, tokens: u64 },
}

/// How it is known what a call cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Whoever answered said what was used.
    Told,
    /// Nobody was asked, or whoever was did nothing: it cost nothing.
    Nothing,
    /// Nobody said: what was seen of it could have cost this much at most.
    Cut,
    /// The process that made it is no more: all that was set aside.
    Lost,
}

/// What a call used, as far as anybody said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    pub model: String,
    pub input: u32,
    pub output: u32,
    /// Milliseconds from the first byte to the last.
    pub took: u32,
}

/// Tokens that are counted in what a call used, by what is special about them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kinds {
    /// Of what went in, read from a cache.
    pub cached: u32,
    /// Of what went in, written to one.
    pub written: u32,
    /// Of what came out, thought and not said.
    pub thought: u32,
}
