//! Events of knowledge.

use serde::{Deserialize, Serialize};

use super::{Decision, Watched};
use crate::id::GolemId;
use crate::world::Values;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "GrimoireEvent")]
pub enum Event {
    /// Values of the world at the end of the oldest episode, for the entries being watched.
    Checked {
        actual: Values,
    },
    Kept(#[serde(with = "crate::prose")] Box<Decision>),
    Curated {
        alive: u32,
        archived: u32,
    },
    /// So many of the entries just kept came from this source.
    TookIn {
        from: GolemId,
        entries: u32,
    },
    Watching(#[serde(with = "crate::prose")] Box<Vec<Watched>>),
}
