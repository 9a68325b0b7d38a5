//! What nights were, and what became of what they found.

use serde::{Deserialize, Serialize};

use super::{Blocked, Fate, Found, Idea, SleepStage, Trigger, Waker};
use crate::money::Usdc;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "DreamEvent")]
pub enum Event {
    /// Its owner wants it to dream from now on, or no more.
    Switched {
        on: bool,
    },
    Began {
        trigger: Trigger,
        ticks: u32,
        budget: Usdc,
    },
    /// A phase of a night is over, and what it cost.
    Passed {
        phase: SleepStage,
        cost: Usdc,
    },
    /// A tick of a night has passed.
    Slept,
    Left {
        woken: Option<Waker>,
    },
    Blocked {
        why: Blocked,
    },
    /// What a phase of a night has come up with, for its integration to test.
    Conceived {
        ideas: Vec<Idea>,
    },
    /// What a phase of a night has come to.
    Dreamt(#[serde(with = "crate::prose")] Box<Found>),
    /// Which hypotheses on trial hold at this look, one bit each.
    Wondered {
        holds: u16,
    },
    /// The trial of a hypothesis is over.
    Unstaged {
        at: u8,
        fate: Fate,
    },
    /// What a dream brought into use did worse than naive, and is out of use again.
    RolledBack {
        at: u8,
    },
    /// What a dream brought into use has shown that it may stay.
    Proven {
        at: u8,
    },
    /// The heuristics of a domain that learned again have the say.
    Revised {
        at: u8,
    },
    /// Those they took it from were right after all, and have it back.
    Reverted {
        at: u8,
    },
    /// The trial or the probation of a revision is over.
    RevisionLeft {
        at: u8,
        fate: Fate,
    },
    /// No model is asked anything more in this phase.
    Quiet,
}
