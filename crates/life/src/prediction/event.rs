//! What was seen, claimed of it, and met.

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
    /// Whoever acts for it has said what will be, and when.
    Dated(Dated),
    /// What was said of a domain until now has met its answer. However many said it, it counts for one.
    Met {
        domain: u8,
        at: Time,
        actual: f64,
    },
}
