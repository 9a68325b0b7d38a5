//! Events of acting: done and refused. An intent with a vote behind it follows right after that vote.

use serde::{Deserialize, Serialize};

use super::{Flight, Permit, Refusal};
use crate::money::Usdc;
use crate::time::Time;
use crate::world::{Outcome, Quote};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "PolicyEvent")]
pub enum Event {
    Refused {
        rule: Refusal,
    },
    Voted {
        key: u64,
        domain: u8,
        gain: f64,
        lower: f64,
        voters: u64,
    },
    Intended(Box<Flight>),
    /// The previewed action is large enough to wait for its owner's word.
    ApprovalSought {
        key: u64,
        quote: Quote,
        until: Time,
    },
    Approved {
        key: u64,
        deadline: Time,
    },
    Granted {
        permit: Box<Permit>,
        quote: Quote,
        /// The cost of one way by this preview, as a share.
        cost: f64,
    },
    Denied {
        key: u64,
        rule: Refusal,
        cost: Option<f64>,
    },
    /// The world has the action and will say later what became of it.
    Sent {
        key: u64,
    },
    Settled {
        key: u64,
        outcome: Outcome,
    },
    Abandoned {
        key: u64,
    },
    /// The result of an action beside its preview, and the cost of sending it.
    Verified {
        key: u64,
        quoted: Usdc,
        actual: Usdc,
        gas: Usdc,
    },
    Renewed {
        until: Time,
    },
    Stopped,
    /// The highest worth, reached at a bar that was not the newest.
    Topped {
        worth: Usdc,
    },
    Harvested {
        amount: Usdc,
    },
    /// A state of its world that its owner would rather avoid has begun, or is over.
    Avoided {
        holds: bool,
    },
}
