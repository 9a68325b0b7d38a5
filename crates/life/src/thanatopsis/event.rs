//! Events on the way to the end.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "ThanatopsisEvent")]
pub enum Event {
    /// The testament is written.
    Reflected { hash: [u8; 32] },
    /// The golem's knowledge has been passed on.
    Bequeathed { hash: [u8; 32], entries: u32 },
}
