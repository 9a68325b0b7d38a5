//! Everything that can reach a golem, and how an input can break its own contract.

use life::call::{CallOrigin, Denied, How, Kinds, Used};
use life::clade::{News, Stain};
use life::dream::Found;
use life::id::{CommandId, GolemId};
use life::money::Usdc;
use life::outside::Word;
use life::owner::Command;
use life::policy::Proposal;
use life::stress::Assessment;
use life::thought::{self, Silence};
use life::time::Time;
use life::world::{Fate, Observation, Quote};

use crate::call::Wanted;
use crate::grimoire::Curation;

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
    /// The world's preview of an action; no quote if the world refuses it.
    Previewed { key: u64, look: u8, quote: Option<Quote> },
    /// The outcome of a commit.
    Landed { key: u64, fate: Fate },
    /// A proposal to act that does not come from the golem's own rules.
    Proposed(Proposal),
    /// The answer of a round of the Curator.
    Curated(Box<Curation>),
    /// Findings of one phase of a night.
    Dreamt(Box<Found>),
    /// The testament is written and safe.
    Reflected { hash: [u8; 32] },
    /// The golem's knowledge has been passed on.
    Bequeathed { hash: [u8; 32], entries: u32 },
    /// The golem's own word about its state; it speaks of now.
    Assessed(Box<Assessment>),
    /// News from a peer, with the place of its death if that is the news. A peer numbers its letters, and each counts
    /// once.
    Heard { from: GolemId, number: u64, news: News, stain: Option<Box<Stain>> },
    /// A word to its peers was passed on to so many of them.
    Told { number: u64, peers: u32 },
    /// The answer of a model, or the reason for its silence, with the cost its provider bills.
    Answered { key: u64, cost: Usdc, said: Result<Box<thought::Answer>, Silence> },
    /// Claims and wishes of an outside mind on the observation that its golem is about to see.
    Spoken(Box<Word>),
    /// An answer that was lost with the process that asked for it.
    Forfeited { key: u64 },
    /// An agent would call a model, from this session, sub-agent and tool.
    Called(Wanted, Option<Box<CallOrigin>>),
    /// Calls refused for one reason since that was last on record.
    Refused { by: Denied, times: u32 },
    /// The outcome of a call, with the cost its provider bills and the kinds of its tokens.
    Settled { key: u64, cost: Usdc, how: How, used: Box<Used>, kinds: Kinds },
    /// The owner's word.
    Commanded { id: CommandId, command: Command },
}

impl What {
    /// The end of a call whose process is gone.
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
    #[error("an assessment or a mind's word must be about the present moment")]
    Untimely,
    #[error("an answer from memory is out of bounds")]
    Knowledge,
    #[error("an answer of a model is out of bounds")]
    Thought,
    #[error("the outside mind's word was refused: {0}")]
    Word(String),
    #[error("the origin of a call is out of bounds")]
    Origin,
    #[error("the findings of a night are out of bounds")]
    Dream,
    #[error("the world reports an outcome of action {key} that was never asked for")]
    Outcome { key: u64 },
}
