//! Why something was not let through, by name.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dream::Blocked;
use crate::mortality::phase::Phase;
use crate::stress::Band;
use crate::thought::Held;

/// Why something was refused, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    Dead,
    Frozen,
    Phase(Phase),
    Busy,
    Funds,
    Reserve,
    Bounds,
    Paused,
    Dreaming,
    Allow,
    PerAction,
    PerDay,
    ActionsPerDay,
    Gas,
    Unproven,
    HitRate,
    NoEdge,
    Stale,
    World,
    /// The load of stressors forbids it.
    Load(Band),
    /// No night can begin.
    Dream(Blocked),
    /// No model can be asked.
    Thought(Held),
    /// The owner said no.
    Unapproved,
    /// The owner was asked and did not answer.
    Unanswered,
    /// The world has no such action.
    Unknown,
    /// The owner would withdraw more than there is.
    Short,
    /// There is no domain of that name to make claims about.
    NoDomain,
    /// Nothing has been seen of that domain yet.
    Unseen,
    /// The claim is not about a time to come.
    Date,
    /// The number is not a chance.
    Chance,
    /// The owner would rather not, by its preferences.
    Strategy,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Dead => write!(f, "it is dead"),
            Refusal::Frozen => write!(f, "no new exposure while frozen"),
            Refusal::Phase(phase) => write!(f, "no new exposure while {phase}"),
            Refusal::Busy => write!(f, "too much is under way already; try again in a moment"),
            Refusal::Funds => write!(f, "there is not enough money to pay for it"),
            Refusal::Reserve => write!(f, "the rest is the reserve for dying and cannot be taken"),
            Refusal::Bounds => write!(f, "the amount is out of bounds"),
            Refusal::Unknown => write!(f, "the world has no such action"),
            Refusal::Short => write!(f, "the golem has less than that"),
            Refusal::NoDomain => write!(f, "there is no domain of that name to make claims about"),
            Refusal::Unseen => write!(f, "nothing has been seen of it yet; claim again after its first result"),
            Refusal::Date => write!(f, "a claim is about a time to come, within a year"),
            Refusal::Chance => write!(f, "a chance is a number from 0 to 1"),
            Refusal::Strategy => write!(f, "its owner would rather not (strategy.*)"),
            Refusal::Paused => write!(f, "no new exposure while paused"),
            Refusal::Dreaming => write!(f, "no new exposure while dreaming"),
            Refusal::Allow => write!(f, "the action is not on its owner's list (policy.allow)"),
            Refusal::PerAction => {
                write!(f, "larger than one action may be (policy.per_action, policy.per_transaction)")
            }
            Refusal::PerDay => write!(f, "over the daily limit (policy.per_day)"),
            Refusal::ActionsPerDay => {
                write!(f, "the limit of actions for a day is reached (policy.rebalances_per_day)")
            }
            Refusal::Gas => write!(f, "the part of its credit kept for sending actions is used up"),
            Refusal::Unproven => write!(f, "there is too little evidence of what it would pay"),
            Refusal::HitRate => write!(f, "larger than its record so far allows"),
            Refusal::NoEdge => write!(f, "no edge left after costs"),
            Refusal::Stale => write!(f, "its permit has expired, or what it was given for has changed"),
            Refusal::World => write!(f, "the world refused it"),
            Refusal::Dream(why) => write!(f, "no dream can begin now: {why}"),
            Refusal::Thought(why) => write!(f, "it cannot ask a model now: {why}"),
            Refusal::Unapproved => write!(f, "its owner said no"),
            Refusal::Unanswered => write!(f, "its owner was asked and did not answer in time"),
            Refusal::Load(band) => write!(f, "no new exposure while the load of stressors is {band}"),
        }
    }
}
