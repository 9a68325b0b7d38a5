//! What a golem has told its siblings and heard of them.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::id::GolemId;
use crate::limits;
use crate::time::Span;

/// What golems of one owner tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// It is in a crisis, with this load.
    Crisis { load: f64 },
    /// It has died.
    Death,
}

/// Between a golem and its siblings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clade {
    /// How often it has called out.
    pub told: u64,
    /// News that is still to be passed on, and its number.
    pub news: Option<(u64, News)>,
    /// The age at which it last called out in a crisis.
    pub called_out: Option<Span>,
    /// The number of the newest letter of each peer, newest last.
    pub heard: ArrayVec<(GolemId, u64), { limits::PEERS }>,
}

impl Clade {
    /// Whether this letter, or a later one of the same peer, has been heard.
    pub(crate) fn has_heard(&self, from: GolemId, number: u64) -> bool {
        self.heard.iter().any(|(peer, newest)| *peer == from && *newest >= number)
    }
}
