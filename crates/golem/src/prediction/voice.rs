//! Who makes claims.

use serde::{Deserialize, Serialize};

/// Who has something to say about a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    Rules,
    Blends,
    Model,
    Outside,
}

impl Voice {
    pub const ALL: [Voice; 4] = [Voice::Rules, Voice::Blends, Voice::Model, Voice::Outside];
}

/// How far from naive each voice would go; nothing, if it is silent.
pub type Departures = [Option<f32>; Voice::ALL.len()];
