//! Events of a clade: words told and heard between golems of one owner.

use serde::{Deserialize, Serialize};

use super::{News, Stain};
use crate::id::GolemId;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "CladeEvent")]
pub enum Event {
    /// A word to its peers, and that it was passed on to so many.
    CalledOut {
        number: u64,
        news: News,
    },
    Told {
        number: u64,
        peers: u32,
    },
    /// A word of a peer's.
    Heard {
        from: GolemId,
        number: u64,
        news: News,
    },
    /// Where a peer died.
    Stained(Box<Stain>),
    /// The golem has come to where this peer died, or has left there.
    Near {
        stain: Option<GolemId>,
    },
}
