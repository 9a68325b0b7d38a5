//! The stages of a night, why one begins or does not, and who ends it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::mortality::phase::Phase;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SleepStage {
    #[default]
    Onset,
    Nrem,
    Rem,
    Integration,
    Return,
}

impl SleepStage {
    pub const ALL: [SleepStage; 5] =
        [SleepStage::Onset, SleepStage::Nrem, SleepStage::Rem, SleepStage::Integration, SleepStage::Return];

    /// The part of a night's time and money that goes to each stage, in permille: by how well the golem is, or, of what
    /// onset and return leave, as the owner split it.
    pub fn shares(of: Phase, split: [Option<f64>; 3]) -> [u64; 5] {
        let by_phase = SleepStage::by_phase(of);
        let wanted = [0, 1, 2].map(|at| split[at].unwrap_or(by_phase[at + 1] as f64 / 850.0));
        let all: f64 = wanted.iter().sum();
        if split == [None; 3] || all <= 0.0 {
            return by_phase;
        }
        let [nrem, rem] = [wanted[0], wanted[1]].map(|share| (850.0 * share / all) as u64);
        [100, nrem, rem, 850 - nrem - rem, 50]
    }

    fn by_phase(of: Phase) -> [u64; 5] {
        match of {
            Phase::Thriving => [100, 340, 300, 210, 50],
            Phase::Stable => [100, 300, 300, 250, 50],
            Phase::Conservation => [100, 250, 200, 400, 50],
            Phase::Declining => [100, 200, 160, 490, 50],
            Phase::Terminal => [100, 160, 120, 570, 50],
        }
    }
}

impl fmt::Display for SleepStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            SleepStage::Onset => "onset",
            SleepStage::Nrem => "nrem",
            SleepStage::Rem => "rem",
            SleepStage::Integration => "integration",
            SleepStage::Return => "return",
        })
    }
}

/// Why a night began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The owner said so.
    Owner,
    /// There was enough to dream about.
    Urgency,
    /// The interval between nights was over.
    Interval,
    /// A crisis had been broken off.
    Breaker,
    /// The owner's hours of sleep.
    Window,
    /// The end is near, and this is the last.
    Emergency,
}

/// The cause that ended a night before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waker {
    Owner,
    /// A peer in need.
    Clade,
    /// The world moved too far.
    World,
    Death,
}

/// Why no night begins though one should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blocked {
    /// Too little has been lived through to find anything in it.
    Episodes,
    /// Too little is left to think with.
    Budget,
    /// The rest is for dying.
    Phase,
    /// Something is under way.
    Busy,
    /// The owner switched dreams off.
    Off,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Blocked::Episodes => "too little has been lived through yet",
            Blocked::Budget => "too little money is left to dream",
            Blocked::Phase => "the money left is kept for dying",
            Blocked::Busy => "something is under way",
            Blocked::Off => "its dreams are switched off; `bardo dream on` switches them on",
        })
    }
}
