//! An ask on its way: intended, previewed, permitted, committed, settled; each stage is an event, and what is
//! owed next can always be read from Life. An answer always settles money; only a fresh one settles behaviour.
//!
//! A permit is minted by a preview that the cage lets through. It is bound to the hashes of that preview and of
//! the policy it was held against, counts once, and runs out. Before anything is sent it is looked at again.

use serde::{Deserialize, Serialize};

use crate::constitution::PolicyFigures;
use crate::money::Usdc;
use crate::rule::{Fragment, WayOut};
use crate::time::Time;
use crate::world::Quote;

/// An ask under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flight {
    pub key: u64,
    pub action: u8,
    /// Millionths of a unit, always positive: the action says which way.
    pub units: i64,
    pub reserved: Usdc,
    /// Credit set aside to send it.
    pub gas: Usdc,
    /// The least that must come in, where it gives something up.
    pub least: Usdc,
    pub stage: Stage,
    pub epoch: u32,
    pub deadline: Time,
    pub quote: Option<Quote>,
    /// True for a protective action, part of a stop or of dying: it passes every gate but the world's.
    pub closing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The world is asked for a preview.
    Asked,
    /// The action may be sent, and may have been.
    Permitted,
    /// The owner is asked first.
    Waiting,
    /// The owner has said yes; the action is previewed once more before it may be sent.
    Approved,
    /// The world has the action and does not know its outcome yet.
    Sent,
}

pub type Hash = [u8; 16];

/// A permit by which a flight may be sent, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permit {
    pub key: u64,
    pub preview: Hash,
    pub policy: Hash,
    pub expires: Time,
    /// The most that sending it may cost, set aside.
    pub gas: Usdc,
    /// The least that must come in, where something is given up.
    pub least: Usdc,
}

/// Why exposure is being taken up: what the vote knew when it was intended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    pub key: u64,
    pub domain: u8,
    pub gain: f64,
    pub lower: f64,
    /// The fragment that it was taken up by.
    #[serde(default)]
    pub fragment: Option<Fragment>,
}

/// Exposure taken up, until when it is held before it is reconsidered, and from which result it started.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    pub until: Time,
    pub domain: u8,
    pub result: Usdc,
    /// The way out, where a fragment has taken it up.
    #[serde(default)]
    pub exit: Option<WayOut>,
}

impl Flight {
    /// Whether it is certain that nothing of it has reached the world.
    pub fn is_unsent(&self) -> bool {
        !matches!(self.stage, Stage::Permitted | Stage::Sent)
    }

    /// Whether the owner or the world has it and may take their time; the heartbeat goes on meanwhile.
    pub fn is_beside(&self) -> bool {
        matches!(self.stage, Stage::Waiting | Stage::Sent)
    }

    /// The number of the preview that is asked for: the second comes after the owner's word.
    pub fn look(&self) -> u8 {
        u8::from(self.stage == Stage::Approved)
    }
}

pub fn policy_hash(policy: &PolicyFigures) -> Hash {
    short(&serde_json::to_vec(policy).expect("plain data"))
}

/// The hash of a preview and of the ask it answers: another ask with the same answer is another preview.
pub fn preview_hash(flight: &Flight, quote: &Quote) -> Hash {
    let ask = (flight.key, flight.action, flight.units, flight.reserved, quote);
    short(&serde_json::to_vec(&ask).expect("plain data"))
}

fn short(bytes: &[u8]) -> Hash {
    blake3::hash(bytes).as_bytes()[..16].try_into().expect("sixteen of thirty-two")
}
