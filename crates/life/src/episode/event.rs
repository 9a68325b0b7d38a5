//! Events of episodes: remembered, and looked back on.

use serde::{Deserialize, Serialize};

use super::Impression;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "EpisodeEvent")]
pub enum Event {
    Remembered {
        why: u8,
        state: Box<Impression>,
    },
    /// The oldest open episode has ended.
    LookedBack {
        change: f32,
        regret: f32,
    },
}
