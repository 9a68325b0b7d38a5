//! What a question is for, and what keeps one from being asked.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Half thoughts caught while falling asleep.
pub const FRAGMENTS: usize = 4;

/// Answers to its owner that are kept at hand.
pub const TOLD: usize = 3;

/// What a question is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// What to make of this tick.
    Orient,
    /// What presses on it.
    Assess,
    /// Half a thought while falling asleep, cut off before it is one.
    Fragment,
    /// Which of those are worth keeping.
    Observe,
    /// What episodes have in common.
    Replay,
    /// What might have been, and may come.
    Imagine,
    /// What to make of all that a night has come up with.
    Integrate,
    /// Its life, in its own words, beside the facts.
    Reflect,
    /// What its owner wants to know.
    Answer,
}

impl Purpose {
    pub const ALL: [Purpose; 9] = [
        Purpose::Orient,
        Purpose::Assess,
        Purpose::Fragment,
        Purpose::Observe,
        Purpose::Replay,
        Purpose::Imagine,
        Purpose::Integrate,
        Purpose::Reflect,
        Purpose::Answer,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Purpose::Orient => "orient",
            Purpose::Assess => "assess",
            Purpose::Fragment => "fragment",
            Purpose::Observe => "observe",
            Purpose::Replay => "replay",
            Purpose::Imagine => "imagine",
            Purpose::Integrate => "integrate",
            Purpose::Reflect => "reflect",
            Purpose::Answer => "answer",
        }
    }

    /// It belongs to a night, and is paid for out of what that night may cost.
    pub fn is_nightly(self) -> bool {
        use Purpose::{Fragment, Imagine, Integrate, Observe, Replay};
        matches!(self, Fragment | Observe | Replay | Imagine | Integrate)
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
    /// What is left of a night's share.
    Night,
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
            Held::Night => "night",
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Held::NoModel => "it was given no model (mind.cheap, mind.middle, mind.strong)",
            Held::Phase => "it is too near its end to ask anybody",
            Held::Paused => "it is paused",
            Held::Asleep => "it is asleep and has a question waiting already",
            Held::Dead => "it is dead",
            Held::Busy => "as many questions as may be are under way; try again in a moment",
            Held::Resting => "no model has answered lately; `bardo doctor` says why",
            Held::Day => "a day may cost no more (thought.daily_max)",
            Held::Month => "thirty days may cost no more (thought.monthly_max)",
            Held::Allowance => "what it may spend in thirty days is used up (mortality.monthly_allowance)",
            Held::Partition => "the part of its credit kept for thinking is used up",
            Held::Night => "the night may cost no more (dream.budget.per_cycle_max)",
        })
    }
}
