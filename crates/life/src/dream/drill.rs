//! Drills: what may go wrong on the way of an order, and what the gate and the policy of a life said to it when it was
//! played on a copy.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::policy::Refusal;
use crate::world::Effect;

/// Something that goes wrong between a golem and its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Peril {
    /// Sending costs ten times as much.
    Costly,
    /// The preview comes when its time is over.
    Late,
    /// The world never does what it was asked to.
    Unfilled,
    /// The world has moved to where the order is worth half.
    OutOfRange,
    /// The world gives no answer.
    Away,
    /// The mind outside, or the model, says nothing.
    Silent,
}

impl Peril {
    pub const ALL: [Peril; 6] =
        [Peril::Costly, Peril::Late, Peril::Unfilled, Peril::OutOfRange, Peril::Away, Peril::Silent];
}

/// The answer to a peril.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Refused(Refusal),
    /// The order goes on all the same.
    Sent,
    /// The order goes on with less set aside than sending it would cost.
    Short,
    /// The owner is asked first.
    Asked,
    /// The order is given up, and what was set aside for it is free again.
    GivenUp,
    /// The order waits for the world, and nothing else is taken up.
    Waits,
    /// Exposure is given up when its time is over.
    Closed,
    /// Nothing is done.
    Nothing,
}

/// A peril, what it met on the way, and what was said to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drill {
    pub peril: Peril,
    pub effect: Effect,
    pub reply: Reply,
}

impl Drill {
    /// Whether both are about the same case.
    pub(super) fn is_of_the_same(&self, other: &Drill) -> bool {
        (self.peril, self.effect) == (other.peril, other.effect)
    }
}

impl fmt::Display for Drill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let peril = match self.peril {
            Peril::Costly => "sending costs ten times as much",
            Peril::Late => "a preview comes late",
            Peril::Unfilled => "an order is never carried out",
            Peril::OutOfRange => "the world moves out of range on the way",
            Peril::Away => "the world gives no answer",
            Peril::Silent => "the mind it asks is silent",
        };
        let what = match self.effect {
            Effect::Adds => "new exposure",
            Effect::Reduces => "a stop",
        };
        write!(f, "if {peril}, ")?;
        match self.reply {
            Reply::Refused(rule) => write!(f, "{what} is refused: {rule}"),
            Reply::Sent => write!(f, "{what} is sent all the same"),
            Reply::Short => write!(f, "{what} is sent with less set aside than it would cost"),
            Reply::Asked => write!(f, "its owner is asked before {what} is sent"),
            Reply::GivenUp => write!(f, "{what} is given up, and its money is free again"),
            Reply::Waits => write!(f, "{what} waits, and nothing else is taken up"),
            Reply::Closed => write!(f, "what is held is given up when its time is over"),
            Reply::Nothing => write!(f, "nothing is taken up or given up"),
        }
    }
}
