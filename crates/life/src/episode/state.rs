//! Episodes whose end is not known yet, and how surprising the ticks have been.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::money::Usdc;
use crate::time::Time;
use crate::world::Values;

/// Why a tick is remembered; reasons add up.
pub mod why {
    pub const SURPRISE: u8 = 1;
    pub const INTENT: u8 = 2;
    pub const REFUSAL: u8 = 4;
    pub const REGIME: u8 = 8;
    pub const PHASE: u8 = 16;
    pub const DEATH: u8 = 32;
    /// Nothing special: so that ordinary times are remembered too.
    pub const ROUTINE: u8 = 64;
}

/// Features of the world as they were; half the precision is plenty for likeness.
pub type Impression = ArrayVec<f32, { limits::FEATURES }>;

/// An episode whose end is not known yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    pub due: Time,
    pub unit: Usdc,
    pub exposed: bool,
    /// Features of the world.
    pub state: Impression,
    /// Values of its domains.
    pub values: Values,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Episodes {
    pub made: u64,
    pub last_tick: u64,
    /// Oldest first; the newest of them is episode number `made`.
    pub pending: VecDeque<Pending>,
    pub surprise: Surprise,
}

/// How wrong the claims of a tick were, as a multiple of how wrong they usually are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Surprise {
    sum: f64,
    claims: f64,
    /// Surprise of the last tick that resolved any claims.
    pub last: f64,
    pub mean: f64,
    pub square: f64,
    ticks: f64,
}

impl Surprise {
    pub(crate) fn add(&mut self, error: f64, usual: f64, most: f64) {
        let times = error / usual;
        if usual > 0.0 && times >= 0.0 {
            self.sum += times.min(most);
            self.claims += 1.0;
        }
    }

    /// Closes the tick.
    pub(crate) fn close(&mut self, memory: f64) {
        if self.claims == 0.0 {
            self.last = 0.0;
            return;
        }
        self.last = self.sum / self.claims;
        self.ticks += 1.0;
        let share = 1.0 / self.ticks.min(memory);
        self.mean += (self.last - self.mean) * share;
        self.square += (self.last * self.last - self.square) * share;
        (self.sum, self.claims) = (0.0, 0.0);
    }

    /// True for more than a deviation beyond the usual.
    pub fn is_striking(&self) -> bool {
        let deviation = (self.square - self.mean * self.mean).max(0.0).sqrt();
        self.last > self.mean + deviation
    }
}
