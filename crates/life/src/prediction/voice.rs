//! Voices: the sources of a claim.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

/// A source of forecasts for a domain.
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

/// How far from naive each voice would go; none if it is silent. Only the voices that speak, which are few, are written
/// down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Spoken", into = "Spoken")]
pub struct Departures(pub [Option<f32>; Voice::ALL.len()]);

impl Departures {
    /// The departures of all other voices.
    pub(crate) fn without(mut self, voice: Voice) -> Departures {
        self.0[voice as usize] = None;
        self
    }
}

type Spoken = ArrayVec<(Voice, f32), { Voice::ALL.len() }>;

impl From<Spoken> for Departures {
    fn from(spoken: Spoken) -> Departures {
        let mut all = Departures::default();
        spoken.into_iter().for_each(|(voice, far)| all.0[voice as usize] = Some(far));
        all
    }
}

impl From<Departures> for Spoken {
    fn from(all: Departures) -> Spoken {
        Voice::ALL.into_iter().zip(all.0).filter_map(|(voice, far)| Some((voice, far?))).collect()
    }
}
