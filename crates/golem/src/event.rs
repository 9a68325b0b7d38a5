//! Events: past-tense facts. Together they *are* the life; everything else can be computed from them.
//!
//! The journal stores them by position, so the order of variants and of their fields is frozen: new
//! events go at the end, and a changed one is a new one. Only births and deaths are written with names.

use serde::{Deserialize, Serialize};

use crate::constitution::PolicyFigures;
use crate::dream;
use crate::episode;
use crate::goal::{Ended, Goal};
use crate::grimoire::{Decision, Watched};
use crate::heartbeat::State;
use crate::id::{CommandId, GolemId};
use crate::life::Birth;
use crate::money::Usdc;
use crate::mortality::Clock;
use crate::mortality::death::Death;
use crate::mortality::phase::Phase;
use crate::policy::{Flight, Permit, Refusal};
use crate::prediction::Claim;
use crate::regime::Regime;
use crate::rule::Heuristic;
use crate::stress::{self, Assessed, Word};
use crate::time::{Span, Time};
use crate::world::{Outcome, Quote, Values};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    Born(#[serde(with = "crate::prose::birth")] Box<Birth>),

    // Money between the golem and its owner.
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

    // The owner's word.
    Obeyed {
        command: CommandId,
    },
    Declined {
        command: CommandId,
        rule: Refusal,
    },
    Refused {
        rule: Refusal,
    },
    Paused,
    Resumed,
    Froze {
        reason: String,
    },
    Thawed,

    // The heartbeat.
    Turned(State),
    Sensed {
        until: Time,
        bars: u32,
        values: Values,
        unit: Usdc,
    },

    // Being right or wrong.
    Claimed(Claim),
    Resolved {
        claim: u64,
        actual: f64,
    },
    Lapsed {
        claim: u64,
    },

    // Acting.
    Intended(Box<Flight>),
    /// The world has it and will say later what became of it.
    Sent {
        key: u64,
    },
    Settled {
        key: u64,
        outcome: Outcome,
    },
    Abandoned {
        key: u64,
    },

    // Mortality, in the order of its eight steps.
    Aged {
        lived: Span,
        cost: Usdc,
    },
    EconomicCritical,
    EconomicRelieved,
    Echoed,
    EchoBroken,
    EpistemicWarned,
    EpistemicRelieved,
    GraceOpened,
    Senesced,
    Recovered,
    VitalityUpdated {
        composite: f64,
    },
    PhaseChanged {
        from: Phase,
        to: Phase,
        trigger: Clock,
    },
    Rolled {
        hazard: f64,
        roll: u64,
    },
    Died(#[serde(with = "crate::prose::death")] Box<Death>),

    // A mind of rules. Claims in one domain come due in the order they were made, so a domain is enough to
    // say which.
    Adopted {
        slot: u8,
        #[serde(with = "crate::prose::heuristic")]
        heuristic: Box<Heuristic>,
    },
    Predicted {
        domain: u8,
        value: f64,
        naive: f64,
        fired: u64,
    },
    Scored {
        domain: u8,
        actual: f64,
    },
    Voided {
        domain: u8,
    },

    // Acting on what was learned. What is intended with a vote behind it is intended right after it.
    Voted {
        key: u64,
        domain: u8,
        gain: f64,
        lower: f64,
        voters: u64,
    },
    Granted {
        permit: Box<Permit>,
        quote: Quote,
        /// What one way costs by this preview, as a share.
        cost: f64,
    },
    Denied {
        key: u64,
        rule: Refusal,
        cost: Option<f64>,
    },
    /// What an action came to beside what its preview said, and what sending it cost.
    Verified {
        key: u64,
        quoted: Usdc,
        actual: Usdc,
        gas: Usdc,
    },
    Renewed {
        until: Time,
    },
    Stopped,
    Harvested {
        amount: Usdc,
    },
    Amended(#[serde(with = "crate::prose::policy")] Box<PolicyFigures>),
    Finished {
        goal: Goal,
        domain: u8,
        ended: Ended,
    },

    /// A heuristic's trial is over.
    Judged {
        slot: u8,
    },

    // The world around, and what is remembered of it.
    RegimeChanged {
        from: Regime,
        to: Regime,
    },
    /// A bar that stakes were due at, but that was not the newest of its observation.
    Weighed {
        at: Time,
        unit: Usdc,
    },
    Remembered {
        why: u8,
        state: Box<episode::State>,
    },
    /// The end of the oldest episode that had none yet.
    LookedBack {
        change: f32,
        regret: f32,
    },

    // What is known.
    /// What the world came to at the end of the oldest episode, for whatever is being watched.
    Checked {
        actual: Values,
    },
    Kept(#[serde(with = "crate::prose::decision")] Box<Decision>),
    Curated {
        alive: u32,
        archived: u32,
    },
    /// So much of what was just kept came from there.
    TookIn {
        from: GolemId,
        entries: u32,
    },
    Watching(#[serde(with = "crate::prose::watched")] Box<Vec<Watched>>),
    /// A heuristic that was only tried has a say from now on.
    Promoted {
        slot: u8,
    },
    /// It was worth this much at a bar that was not the newest.
    Topped {
        worth: Usdc,
    },

    // Pressure.
    Raised {
        kind: stress::Kind,
        domain: Option<u8>,
        severity: f64,
    },
    /// The condition of one that is there has begun to press again, or has eased without clearing.
    Pressed {
        kind: stress::Kind,
        domain: Option<u8>,
        presses: bool,
    },
    Cleared(#[serde(deserialize_with = "stress::Evidence::read")] stress::Evidence),
    /// A cycle is over; so many in a row were in crisis.
    Cycled {
        crises: u8,
    },
    /// The circuit breaker has set aside whatever was active.
    Suspended,
    /// Something is about to be done where something once went badly.
    Warned {
        key: u64,
        domain: u8,
    },
    /// What was done against a warning is over, and it was right or not.
    Heeded {
        domain: u8,
        helped: bool,
    },
    /// A word to its peers, and that it was passed on to so many.
    CalledOut {
        number: u64,
        word: Word,
    },
    Told {
        number: u64,
        peers: u32,
    },
    /// A word of a peer's.
    Heard {
        from: GolemId,
        number: u64,
        word: Word,
    },
    /// The golem's own word about its state, and what was made of it.
    Assessed(#[serde(with = "crate::prose::assessed")] Box<Assessed>),
    /// The oldest of what it has named was held against the world.
    Named {
        holds: bool,
    },
    Eased {
        at: u8,
    },

    // Dreams.
    DreamBegan {
        trigger: dream::Trigger,
        ticks: u32,
        budget: Usdc,
    },
    /// A phase of a night is over, and what it cost.
    DreamPassed {
        phase: dream::Phase,
        cost: Usdc,
    },
    /// A tick of a night has passed.
    Slept,
    DreamLeft {
        woken: Option<dream::Waker>,
    },
    DreamBlocked {
        why: dream::Blocked,
    },
    /// What a phase of a night has come to.
    Dreamt(#[serde(with = "crate::prose::found")] Box<dream::Found>),
    /// The trial of a hypothesis is over.
    Unstaged {
        at: u8,
        fate: dream::Fate,
    },

    /// What is intended next is smaller than usual.
    Cautioned {
        key: u64,
        percent: u8,
    },
    /// Which hypotheses on trial hold at this look, one bit each.
    Wondered {
        holds: u16,
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
        fate: dream::Fate,
    },

    // Thanatopsis.
    /// The testament is written.
    Reflected {
        hash: [u8; 32],
    },
    /// What was known has crossed.
    Bequeathed {
        hash: [u8; 32],
        entries: u32,
    },

    // The owner's approval.
    /// What was previewed is large enough to wait for its owner's word.
    ApprovalSought {
        key: u64,
        quote: Quote,
        until: Time,
    },
    Approved {
        key: u64,
        deadline: Time,
    },

    /// Its owner wants it to dream from now on, or no more.
    DreamsSwitched {
        on: bool,
    },
    /// What a phase of a night has come up with, for its integration to test.
    Conceived {
        ideas: Vec<dream::Idea>,
    },
}

/// Which of a golem's two accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Account {
    Credit,
    Capital,
}

/// What one input came to: the unit of durability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// 1 for the birth, then one more each.
    pub seq: u64,
    pub at: Time,
    pub events: Vec<Event>,
}
