//! Events of an owner: money given and taken, and commands.

use serde::{Deserialize, Serialize};

use super::{Account, Say};
use crate::constitution::PolicyFigures;
use crate::id::CommandId;
use crate::money::Usdc;
use crate::policy::Refusal;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "OwnerEvent")]
pub enum Event {
    Funded {
        transfer: u64,
        credit: Usdc,
        capital: Usdc,
    },
    Withdrew {
        deposit: u64,
        from: Account,
        amount: Usdc,
    },
    Deposited {
        deposit: u64,
    },
    Obeyed {
        command: CommandId,
    },
    Declined {
        command: CommandId,
        rule: Refusal,
    },
    Paused,
    Resumed,
    Froze {
        reason: String,
    },
    Thawed,
    Amended(#[serde(with = "crate::prose")] Box<PolicyFigures>),
    Steered {
        text: String,
    },
    /// A word of its agent to its owner.
    Said(Say),
    /// The outcome of a command from its agent, which is no sign that its owner is there.
    Heeded {
        command: CommandId,
        rule: Option<Refusal>,
    },
}
