//! Commands that an owner or an agent may give a golem.

use serde::{Deserialize, Serialize};

use crate::constitution::PolicyFigures;
use crate::money::Usdc;
use crate::policy::{self, Proposal};
use crate::time::Time;

/// A command to a golem, from its owner or its agent.
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
    /// New guidance; an empty text clears it.
    Steer {
        text: String,
    },
    /// A dated claim of its agent.
    Claim {
        domain: String,
        value: f64,
        due: Time,
    },
    /// An action that its agent proposes.
    Propose(Proposal),
    /// A word of its agent to its owner.
    Say(Say),
    /// Another cage, from now on, instead of the one with this hash.
    Amend {
        policy: Box<PolicyFigures>,
        instead_of: policy::Hash,
    },
}

impl Command {
    /// The name of a command in logs, without anything that was written in it.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Pause => "pause",
            Command::Resume => "resume",
            Command::Freeze { .. } => "freeze",
            Command::Withdraw { .. } => "withdraw",
            Command::Dream => "dream",
            Command::Dreams { on: true } => "dreams on",
            Command::Dreams { on: false } => "dreams off",
            Command::Wake => "wake",
            Command::Retire { .. } => "retire",
            Command::Halt { .. } => "halt",
            Command::Approve { .. } => "approve",
            Command::Amend { .. } => "amend",
            Command::Ask { .. } => "ask",
            Command::Steer { .. } => "steer",
            Command::Claim { .. } => "claim",
            Command::Propose(_) => "propose",
            Command::Say(_) => "say",
        }
    }

    /// Whether the command is one that an agent may give; all others are the owner's.
    pub fn is_agents(&self) -> bool {
        matches!(self, Command::Claim { .. } | Command::Propose(_) | Command::Say(_))
    }
}

/// A word of a golem's agent to its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Say {
    pub text: String,
    /// True if the agent says that its task is done; otherwise it asks a question.
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
