//! What is remembered, and what became of it.

use serde::{Deserialize, Serialize};

use super::State;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "EpisodeEvent")]
pub enum Event {
    Remembered {
        why: u8,
        state: Box<State>,
    },
    /// The end of the oldest episode that had none yet.
    LookedBack {
        change: f32,
        regret: f32,
    },
}
