//! What was done and what was refused. What is intended with a vote behind it is intended right after it.

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
    /// What was previewed is large enough to wait for its owner's word.
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
        /// What one way costs by this preview, as a share.
        cost: f64,
    },
    Denied {
        key: u64,
        rule: Refusal,
        cost: Option<f64>,
    },
    /// The world has it and will say later what became of it.
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
    /// What an action came to beside what its preview said, and what sending it cost.
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
    /// It was worth this much at a bar that was not the newest.
    Topped {
        worth: Usdc,
    },
    Harvested {
        amount: Usdc,
    },
}
