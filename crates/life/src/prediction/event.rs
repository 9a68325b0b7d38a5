//! Events of observing and claiming.

use serde::{Deserialize, Serialize};

use super::{Claim, Dated};
use crate::money::Usdc;
use crate::time::Time;
use crate::world::Values;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "PredictionEvent")]
pub enum Event {
    Sensed {
        until: Time,
        bars: u32,
        values: Values,
        unit: Usdc,
    },
    Claimed(Claim),
    Resolved {
        claim: u64,
        actual: f64,
    },
    Lapsed {
        claim: u64,
    },
    /// The golem's agent has made a dated claim.
    Dated(Dated),
    /// All dated claims of a domain that were due have met their answer. However many there were, they count for one.
    Met {
        domain: u8,
        at: Time,
        actual: f64,
    },
}
