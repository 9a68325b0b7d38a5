//! Events of the rule mind: heuristics taken up, claims made and answered. Claims in one domain come due in the order
//! they were made, so a domain is enough to say which.

use serde::{Deserialize, Serialize};

use super::{Heuristic, Terms};
use crate::money::Usdc;
use crate::prediction::Departures;
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "RuleEvent")]
pub enum Event {
    Adopted {
        slot: u8,
        #[serde(with = "crate::prose")]
        heuristic: Box<Heuristic>,
        /// The night that brought it, if one did.
        night: Option<u64>,
    },
    Predicted {
        domain: u8,
        naive: f64,
        /// How far from naive the claim goes.
        far: f32,
        fired: u64,
        /// How far from naive each voice would have gone.
        said: Departures,
        /// How far the features were from the last value that blends are made of, if there are any.
        terms: Option<Box<Terms>>,
    },
    Scored {
        domain: u8,
        actual: f64,
    },
    Voided {
        domain: u8,
    },
    /// A bar that stakes were due at, but that was not the newest of its observation.
    Weighed {
        at: Time,
        unit: Usdc,
    },
    /// A heuristic's trial is over.
    Judged {
        slot: u8,
    },
    /// A heuristic that was only tried has a say from now on.
    Promoted {
        slot: u8,
    },
    /// Fragments left by their way out: samples that end here, by slot, and whether what is held was
    /// taken up by one whose time has come.
    Left {
        samples: u64,
        held: bool,
    },
}
