//! Events of regimes.

use serde::{Deserialize, Serialize};

use super::Regime;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "RegimeEvent")]
pub enum Event {
    Changed { from: Regime, to: Regime },
}
