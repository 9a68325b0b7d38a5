//! Events of nights, and of the ideas they found.

use serde::{Deserialize, Serialize};

use super::{Blocked, Fate, Found, Idea, SleepStage, Trigger, Waker};
use crate::money::Usdc;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "DreamEvent")]
pub enum Event {
    /// The owner switched dreaming on or off.
    Switched {
        on: bool,
    },
    Began {
        trigger: Trigger,
        ticks: u32,
        budget: Usdc,
    },
    /// A phase of a night is over, at this cost.
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
    /// Ideas that a phase of a night has come up with, for its integration to test.
    Conceived {
        ideas: Vec<Idea>,
    },
    /// Findings of a phase of a night.
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
    /// A heuristic that a dream brought into use did worse than naive, and is out of use again.
    RolledBack {
        at: u8,
    },
    /// A heuristic that a dream brought into use has shown that it may stay.
    Proven {
        at: u8,
    },
    /// Heuristics of a domain that learned again are in use.
    Revised {
        at: u8,
    },
    /// The heuristics that a revision replaced were right after all, and are in use again.
    Reverted {
        at: u8,
    },
    /// The trial or the probation of a revision is over.
    RevisionLeft {
        at: u8,
        fate: Fate,
    },
    /// No model is asked anything more in this phase of the night.
    Quiet,
}
