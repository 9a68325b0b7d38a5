//! The purposes of questions, and the reasons that keep one from being asked.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Half thoughts caught while falling asleep.
pub const FRAGMENTS: usize = 4;

/// Answers to its owner that are kept at hand.
pub const TOLD: usize = 3;

/// The purpose of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Make sense of this tick.
    Orient,
    /// Name what presses on the golem.
    Assess,
    /// Catch half a thought while falling asleep, cut off before it is one.
    Fragment,
    /// Choose the fragments that are worth keeping.
    Observe,
    /// Find what episodes have in common.
    Replay,
    /// Imagine what might have been, and what may come.
    Imagine,
    /// Make sense of all that a night has come up with.
    Integrate,
    /// Tell the life in its own words, beside the facts.
    Reflect,
    /// Answer the owner.
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

    /// Tokens after which an answer is cut off.
    pub fn tokens(self) -> u64 {
        if self == Purpose::Fragment { 80 } else { 800 }
    }

    /// Whether the question belongs to a night, and is paid for out of that night's budget.
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

/// A reason that keeps a question from being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// No model is given for any tier that it may ask.
    NoModel,
    /// The golem's phase allows no model.
    Phase,
    Paused,
    Asleep,
    Dead,
    /// As many questions are under way as may be at once.
    Busy,
    /// No model has answered lately.
    Resting,
    /// The owner's cap for a day.
    Day,
    /// The owner's cap for thirty days.
    Month,
    /// The allowance of thirty days, for thinking and everything else.
    Allowance,
    /// The part of its credit that the phase leaves for thinking.
    Partition,
    /// The rest of a night's share.
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
            Held::Phase => "it is too near its end to ask a model",
            Held::Paused => "it is paused",
            Held::Asleep => "it is asleep and has a question waiting already",
            Held::Dead => "it is dead",
            Held::Busy => "too many questions are under way; try again in a moment",
            Held::Resting => "no model has answered lately; `bardo doctor` says why",
            Held::Day => "the daily cap does not leave enough (thought.daily_max)",
            Held::Month => "the cap for thirty days does not leave enough (thought.monthly_max)",
            Held::Allowance => {
                "its allowance for thirty days does not leave enough (mortality.economic.monthly_allowance)"
            }
            Held::Partition => "the part of its credit kept for thinking does not leave enough",
            Held::Night => "the budget of the night does not leave enough (dream.budget.per_cycle_max)",
        })
    }
}
