//! How far the way to the end has come.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "ThanatopsisEvent")]
pub enum Event {
    /// The testament is written.
    Reflected { hash: [u8; 32] },
    /// What was known has crossed.
    Bequeathed { hash: [u8; 32], entries: u32 },
}
