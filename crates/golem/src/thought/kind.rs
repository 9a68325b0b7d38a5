//! What a question is for, and what keeps one from being asked.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a question is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// What to make of this tick.
    Orient,
    /// What presses on it.
    Assess,
}

impl Purpose {
    pub const ALL: [Purpose; 2] = [Purpose::Orient, Purpose::Assess];

    pub fn name(self) -> &'static str {
        match self {
            Purpose::Orient => "orient",
            Purpose::Assess => "assess",
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What keeps a question from being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// No model is given for any tier that it may ask.
    NoModel,
    /// Its phase allows nobody to be asked.
    Phase,
    Paused,
    Asleep,
    Dead,
    /// As many as may be are under way.
    Busy,
    /// Nobody answered lately.
    Resting,
    /// The owner's cap for a day.
    Day,
    /// The owner's cap for thirty days.
    Month,
    /// What may be spent on anything in thirty days.
    Allowance,
    /// What its phase leaves for thinking.
    Partition,
}

impl Held {
    pub fn name(self) -> &'static str {
        match self {
            Held::NoModel => "no_model",
            Held::Phase => "phase",
            Held::Paused => "paused",
            Held::Asleep => "asleep",
            Held::Dead => "dead",
            Held::Busy => "busy",
            Held::Resting => "resting",
            Held::Day => "day",
            Held::Month => "month",
            Held::Allowance => "allowance",
            Held::Partition => "partition",
        }
    }
}
