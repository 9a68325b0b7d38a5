//! The state of a death: the steps done, and the holdings it leaves.

use serde::{Deserialize, Serialize};

use crate::money::Usdc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rite {
    Acceptance,
    Settlement,
    Reflection,
    Legacy,
    Over,
}

/// Steps of a death that are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The hash of the testament.
    pub testament: Option<[u8; 32]>,
    /// The hash of what was bequeathed, and the number of its entries.
    pub legacy: Option<([u8; 32], u32)>,
}

/// Holdings that an owner is left to look after, as they stood: the golem watches them no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// Millionths of a unit.
    pub holding: i64,
    /// The name of a unit.
    pub unit: String,
    /// The sum they were acquired for.
    pub cost: Usdc,
    /// The worth of a unit at which it would have given them up.
    pub stop: Option<Usdc>,
    pub handed_over: bool,
}

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let units = format!("{:.6}", self.holding as f64 / 1e6);
        let units = units.trim_end_matches('0').trim_end_matches('.');
        let how = if self.handed_over { "handed over to" } else { "left to" };
        write!(f, "{units} {} {how} its owner as it was, acquired for {}", self.unit, self.cost)?;
        match self.stop {
            Some(stop) => write!(f, "; its stop stands at {stop} a unit and is yours to watch"),
            None => write!(f, "; it has no stop"),
        }
    }
}
