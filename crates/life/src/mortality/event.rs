//! Events of the three clocks, in the order of their eight steps.

use serde::{Deserialize, Serialize};

use super::Clock;
use super::death::Death;
use super::phase::Phase;
use crate::money::Usdc;
use crate::time::Span;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "MortalityEvent")]
pub enum Event {
    Aged { lived: Span, cost: Usdc },
    EconomicCritical,
    EconomicRelieved,
    Echoed,
    EchoBroken,
    EpistemicWarned,
    EpistemicRelieved,
    GraceOpened,
    Senesced,
    Recovered,
    VitalityUpdated { composite: f64 },
    PhaseChanged { from: Phase, to: Phase, trigger: Clock },
    Rolled { hazard: f64, roll: u64 },
    Died(#[serde(with = "crate::prose")] Box<Death>),
}
