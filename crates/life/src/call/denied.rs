//! Why a call was not let through, by name.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Runaway, Unit};
use crate::mortality::phase::Phase;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Denied {
    Dead,
    Frozen,
    Paused,
    /// Calls ran away, and the owner was asked.
    Held(Runaway),
    /// The golem's phase allows only cheaper models.
    Phase(Phase),
    /// As many calls are under way as may be at once.
    Busy,
    /// The owner's cap for one call.
    Call,
    Hour,
    Day,
    Month,
    /// The allowance of thirty days, for calls and everything else.
    Allowance,
    /// Too little money is left while other calls are under way, which may give some of it back.
    Funds,
    /// A call with this idempotency key was made before, and paid for.
    Repeated,
    /// Too little money is left, and nothing is under way that could give any of it back.
    Broke,
    /// An owner's cap in all is too near while other calls are under way, which may give some of it back.
    Short(Unit),
    /// An owner's cap for a day is too near.
    Today(Unit),
    /// An owner's cap in all is too near, and nothing is under way that could give any of it back.
    Spent(Unit),
}

impl Denied {
    /// True where waiting does not help: only the owner can give more.
    pub fn is_the_end(self) -> bool {
        matches!(self, Denied::Broke | Denied::Spent(_))
    }

    /// The reason as programs read it.
    pub fn code(self) -> &'static str {
        match self {
            Denied::Dead => "dead",
            Denied::Frozen => "frozen",
            Denied::Paused => "paused",
            Denied::Held(_) => "held",
            Denied::Phase(_) => "phase",
            Denied::Busy => "busy",
            Denied::Call => "budget_call",
            Denied::Hour => "budget_hour",
            Denied::Day => "budget_day",
            Denied::Month => "budget_month",
            Denied::Allowance => "budget_allowance",
            Denied::Funds | Denied::Broke => "budget",
            Denied::Repeated => "repeated",
            Denied::Short(Unit::Tokens) | Denied::Spent(Unit::Tokens) => "budget_tokens",
            Denied::Short(Unit::Calls) | Denied::Spent(Unit::Calls) => "budget_calls",
            Denied::Short(Unit::Hours) | Denied::Spent(Unit::Hours) => "budget_hours",
            Denied::Today(Unit::Tokens) => "budget_tokens_day",
            Denied::Today(Unit::Calls) => "budget_calls_day",
            Denied::Today(Unit::Hours) => "budget_hours_day",
        }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Denied::Dead => write!(f, "it is dead"),
            Denied::Frozen => write!(f, "its owner has frozen it"),
            Denied::Paused => write!(f, "its owner has paused it"),
            Denied::Held(by) => write!(f, "{by}, so its calls are stopped until its owner says yes"),
            Denied::Phase(phase) => write!(f, "while {phase} it may only use cheaper models"),
            Denied::Busy => write!(f, "too many calls are under way (policy.calls_at_once)"),
            Denied::Call => write!(f, "one call may not cost that much (policy.call_max)"),
            Denied::Hour => write!(f, "the hourly cap does not leave enough (policy.calls_per_hour)"),
            Denied::Day => write!(f, "the daily cap does not leave enough (policy.calls_per_day)"),
            Denied::Month => write!(f, "the cap for thirty days does not leave enough (policy.calls_per_month)"),
            Denied::Allowance => {
                write!(f, "its allowance for thirty days does not leave enough (mortality.economic.monthly_allowance)")
            }
            Denied::Repeated => {
                write!(f, "a call with this idempotency key was made before and is paid for; its answer is not kept")
            }
            Denied::Funds => write!(f, "it does not have enough money left for that while other calls are under way"),
            Denied::Broke => write!(f, "it does not have enough money left for that"),
            Denied::Short(unit) => {
                let (name, key) = (unit.name(), unit.key(false));
                write!(f, "it does not have enough {name} left for that while other calls are under way ({key})")
            }
            Denied::Today(unit) => {
                write!(f, "the daily cap does not leave enough {} ({})", unit.name(), unit.key(true))
            }
            Denied::Spent(unit) => {
                write!(f, "it does not have enough {} left for that ({})", unit.name(), unit.key(false))
            }
        }
    }
}
