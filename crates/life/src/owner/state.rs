//! What an owner may tell a golem.

use serde::{Deserialize, Serialize};

use crate::constitution::PolicyFigures;
use crate::money::Usdc;
use crate::policy::{self, Proposal};
use crate::time::Time;

/// What an owner may tell a golem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "command")]
pub enum Command {
    Pause,
    Resume,
    Freeze {
        reason: String,
    },
    Withdraw {
        from: Account,
        amount: Usdc,
    },
    /// Dream now.
    Dream,
    /// Dream from now on, or no more.
    Dreams {
        on: bool,
    },
    Wake,
    Retire {
        reason: String,
    },
    Halt {
        trigger: String,
    },
    /// Yes or no to what waits under this key.
    Approve {
        key: u64,
        yes: bool,
    },
    /// Answer this, from its record.
    Ask {
        text: String,
    },
    /// What it is to have in mind; nothing, if the text is empty.
    Steer {
        text: String,
    },
    /// What whoever acts for it says will be, and when.
    Claim {
        domain: String,
        value: f64,
        due: Time,
    },
    /// What whoever acts for it would have it do.
    Propose(Proposal),
    /// A word of whoever acts for it to its owner.
    Say(Say),
    /// Another cage, from now on, instead of the one with this hash.
    Amend {
        policy: Box<PolicyFigures>,
        instead_of: policy::Hash,
    },
}

impl Command {
    /// Whoever acts for it may say this; all else is its owner's.
    pub fn is_agents(&self) -> bool {
        matches!(self, Command::Claim { .. } | Command::Propose(_) | Command::Say(_))
    }
}

/// A word of whoever acts for a golem to its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Say {
    pub text: String,
    /// It has done what it was there for; otherwise it asks.
    pub done: bool,
}

/// Which of a golem's two accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Account {
    Credit,
    Capital,
}

/// Money on its way to the treasury until the treasury says it has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deposit {
    pub number: u64,
    pub amount: Usdc,
}
