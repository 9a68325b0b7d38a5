//! Events of stressors.

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
    /// The condition of an active stressor has begun to press again, or has eased without clearing.
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
    /// The circuit breaker has set aside all active stressors.
    Suspended,
    /// The golem is about to act where something once went badly.
    Warned {
        key: u64,
        domain: u8,
    },
    /// The next intent is smaller than usual.
    Cautioned {
        key: u64,
        percent: u8,
    },
    /// Exposure taken up against a warning is over, and the warning was right or not.
    Heeded {
        domain: u8,
        helped: bool,
    },
    /// The golem's own word about its state, and its outcome.
    Assessed(#[serde(with = "crate::prose")] Box<Assessed>),
    /// The oldest stressor it has named was checked against the world.
    Named {
        holds: bool,
    },
    Eased {
        at: u8,
    },
}
