//! Events of phages: each sent out to do one thing otherwise, and how it ended.

use serde::{Deserialize, Serialize};

use super::Fate;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "PhageEvent")]
pub enum Event {
    Spawned(Venture),
    /// Phages whose condition holds at this look, one bit each.
    Watched {
        holds: u8,
    },
    Ended {
        at: u8,
        fate: Fate,
    },
}

/// The single thing that a phage does otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Venture {
    /// A comparison of the rule in this slot is with another number.
    Threshold { slot: u8, comparison: u8, than: f64 },
    /// The blend in this slot does without this feature, or takes it in.
    Term { slot: u8, feature: u8 },
    /// Losses are stopped at so many times the share they are stopped at.
    Stop { times: f64 },
    /// The regime is not what it is called.
    Regime,
}
