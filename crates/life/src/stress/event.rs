//! What pressed, and what no longer does.

use serde::{Deserialize, Serialize};

use super::{Assessed, Evidence, Kind};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "StressEvent")]
pub enum Event {
    Raised {
        kind: Kind,
        domain: Option<u8>,
        severity: f64,
    },
    /// The condition of one that is there has begun to press again, or has eased without clearing.
    Pressed {
        kind: Kind,
        domain: Option<u8>,
        presses: bool,
    },
    Cleared(#[serde(deserialize_with = "Evidence::read")] Evidence),
    /// A cycle is over; so many in a row were in crisis.
    Cycled {
        crises: u8,
    },
    /// The circuit breaker has set aside whatever was active.
    Suspended,
    /// Something is about to be done where something once went badly.
    Warned {
        key: u64,
        domain: u8,
    },
    /// What is intended next is smaller than usual.
    Cautioned {
        key: u64,
        percent: u8,
    },
    /// What was done against a warning is over, and it was right or not.
    Heeded {
        domain: u8,
        helped: bool,
    },
    /// The golem's own word about its state, and what was made of it.
    Assessed(#[serde(with = "crate::prose")] Box<Assessed>),
    /// The oldest of what it has named was held against the world.
    Named {
        holds: bool,
    },
    Eased {
        at: u8,
    },
}
