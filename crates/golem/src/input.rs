//! Everything that can reach a golem, and how an input can break its own contract.

use life::call::{Denied, How, Kinds, Used};
use life::clade::{News, Stain};
use life::dream::Found;
use life::id::{CommandId, GolemId};
use life::money::Usdc;
use life::outside::Word;
use life::owner::Command;
use life::policy::Proposal;
use life::stress::Assessment;
use life::thought::Silence;
use life::time::Time;
use life::world::{Fate, Observation, Quote};

use crate::call::Wanted;
use crate::grimoire::Answer;
use crate::thought;

/// Everything that reaches a golem: when, with which chance, and what.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    pub now: Time,
    /// Chance for the present tick, drawn outside.
    pub roll: u64,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Every bar closed since the last observation.
    Observed(Observation),
    /// The treasury has sent money; transfers are numbered per golem from 1.
    Funded { transfer: u64, credit: Usdc, capital: Usdc },
    /// The treasury has received a deposit.
    Deposited { deposit: u64 },
    /// What the world says a flight would do; none if it would not have it.
    Previewed { key: u64, look: u8, quote: Option<Quote> },
    /// What became of a commit.
    Landed { key: u64, fate: Fate },
    /// Somebody other than its own rules would have it act.
    Proposed(Proposal),
    /// What a round of the Curator came to.
    Curated(Box<Answer>),
    /// What the work of one phase of a night has found.
    Dreamt(Box<Found>),
    /// Its testament is written and safe.
    Reflected { hash: [u8; 32] },
    /// What it knew has gone where it is to go.
    Bequeathed { hash: [u8; 32], entries: u32 },
    /// The golem's own word about its state; it speaks of now.
    Assessed(Box<Assessment>),
    /// A word of a peer's, and where it died if that is what it says. A peer numbers its letters, and each counts once.
    Heard { from: GolemId, number: u64, news: News, stain: Option<Box<Stain>> },
    /// A word to its peers was passed on to so many of them.
    Told { number: u64, peers: u32 },
    /// What a model said, or why it said nothing; and what whoever was asked wants for it.
    Answered { key: u64, cost: Usdc, said: Result<Box<thought::Answer>, Silence> },
    /// What a mind outside makes of what its golem is about to see.
    Spoken(Box<Word>),
    /// An answer that nobody can bring any more.
    Forfeited { key: u64 },
    /// An agent would call a model.
    Called(Wanted),
    /// Calls that were refused for this, as often, since that was last on record.
    Refused { by: Denied, times: u32 },
    /// What became of a call, what whoever answered wants for it, and of which kinds its tokens are.
    Settled { key: u64, cost: Usdc, how: How, used: Box<Used>, kinds: Kinds },
    /// The owner's word.
    Commanded { id: CommandId, command: Command },
}

impl What {
    /// A call that nobody here has made: whoever did is no more.
    pub fn lost(key: u64) -> What {
        What::Settled { key, cost: Usdc::ZERO, how: How::Lost, used: Box::default(), kinds: Kinds::default() }
    }
}

/// An input that breaks its own contract. It changes nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Fault {
    #[error("time ran backwards: {now:?} comes after {last:?}")]
    Backwards { now: Time, last: Time },
    #[error("the world broke its word at bar {bar}: {why}")]
    World { bar: usize, why: &'static str },
    #[error("transfer {got} arrived when {expected} was next")]
    Transfer { expected: u64, got: u64 },
    #[error("an amount is out of bounds")]
    Amount,
    #[error("a golem speaks of the moment it is in")]
    Untimely,
    #[error("an answer from memory is out of bounds")]
    Knowledge,
    #[error("an answer of a model is out of bounds")]
    Thought,
    #[error("a word of a mind outside cannot be taken: {0}")]
    Word(String),
    #[error("what a night brought is out of bounds")]
    Dream,
    #[error("the world says action {key} came to something that was never asked for")]
    Outcome { key: u64 },
}
