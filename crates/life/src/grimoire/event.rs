//! What is known.

use serde::{Deserialize, Serialize};

use super::{Decision, Watched};
use crate::id::GolemId;
use crate::world::Values;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "GrimoireEvent")]
pub enum Event {
    /// What the world came to at the end of the oldest episode, for whatever is being watched.
    Checked {
        actual: Values,
    },
    Kept(#[serde(with = "crate::prose")] Box<Decision>),
    Curated {
        alive: u32,
        archived: u32,
    },
    /// So much of what was just kept came from there.
    TookIn {
        from: GolemId,
        entries: u32,
    },
    Watching(#[serde(with = "crate::prose")] Box<Vec<Watched>>),
}
