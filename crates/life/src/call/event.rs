//! Events of calls: sums set aside, settled and refused.

use serde::{Deserialize, Serialize};

use super::{CallOrigin, Denied, Runaway};
use crate::money::Usdc;
use crate::mortality::phase::Tier;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "CallEvent")]
pub enum Event {
    /// The sum is set aside from here on. `again` marks a retry of the same call; `alike` marks all calls that ask the
    /// same.
    Reserved { key: u64, most: Usdc, tier: Tier, again: Option<u64>, alike: u64 },
    /// The call was paid with `cost`; `over` is what was billed beyond that and could not be paid.
    Settled { key: u64, cost: Usdc, over: Usdc, how: How, used: Used },
    /// So many calls were refused, the last for this reason. A reason is recorded only once in a while.
    Refused { by: Denied, times: u32 },
    /// From here on no call is let through until the owner says yes to this key.
    Held { key: u64, by: Runaway, times: u32, sum: Usdc },
    /// The owner said yes.
    Released { key: u64 },
    /// The tokens of a call under way are of these kinds; it is settled next.
    Counted { key: u64, kinds: Kinds },
    /// So many tokens are set aside for it, beside the sum.
    TokensReserved { key: u64, tokens: u64 },
    /// The call comes from this session, sub-agent and tool.
    Attributed { key: u64, origin: Box<CallOrigin> },
}

/// The source of a call's cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The provider said what was used.
    Told,
    /// No provider was reached, or it did nothing: the call cost nothing.
    Nothing,
    /// The provider did not say: what was seen of the answer could have cost this much at most.
    Cut,
    /// The process that made the call is gone: all that was set aside.
    Lost,
}

/// The model and tokens of a call, as far as its provider said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    pub model: String,
    pub input: u32,
    pub output: u32,
    /// Milliseconds from the first byte to the last.
    pub took: u32,
}

/// Special kinds of the tokens that a call used, which are counted among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kinds {
    /// Input tokens read from a cache.
    pub cached: u32,
    /// Input tokens written to a cache.
    pub written: u32,
    /// Output tokens of thinking, which are not part of the answer.
    pub thought: u32,
}
