//! An entry: one thing known, with what speaks for and against it, where it came from and how fast it fades.
//!
//! Where it can be checked it is typed: a condition and a claim, or a link between two features, the same data
//! that heuristics are made of. Text is for people and for search; nothing is ever decided by likeness of text.

use serde::{Deserialize, Serialize};

use crate::id::GolemId;
use crate::prose::Prose;
use crate::regime::Regime;
use crate::rule::{Condition, Mix, Stance};
use crate::time::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Insight,
    Heuristic,
    Warning,
    CausalLink,
    StrategyFragment,
    Question,
}

/// How fast knowledge of a kind goes stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Structural,
    RegimeConditional,
    Tactical,
    Ephemeral,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// In quarantine: tried, and without a say.
    Candidate,
    Active,
    /// Waiting for its regime to return.
    Dormant,
    Archived,
}

/// How an entry came to be here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Born with it.
    Instinct,
    /// Tried out of curiosity.
    Explored,
    /// Seen or distilled in this life.
    Observed,
    /// From the dead, through a testament.
    Inherited,
    /// From a sibling of the same owner.
    Clade,
    /// From a short-lived offspring.
    Replicant,
    Purchased,
    Dreamt,
    /// The owner wrote it.
    Owner,
    /// A model said it.
    Thought,
    /// A note from its agent.
    Agent,
}

/// Where an entry was first known, and what lies between then and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    #[serde(with = "crate::id::as_text")]
    pub golem: GolemId,
    pub generation: u32,
    pub how: How,
}

/// Siblings that anything is passed on by.
pub const PASSED_ON: u32 = 3;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Sources, oldest first; merging keeps all of them, as far as there is room.
    pub sources: Vec<Source>,
    /// Deaths crossed since a holder last validated it.
    pub crossings: u32,
    /// Siblings the entry went through on its way here.
    #[serde(default, skip_serializing_if = "is_none")]
    pub hops: u32,
    /// The sibling that brought the entry, whatever source the entry names.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::id::as_text_if_any")]
    pub brought: Option<GolemId>,
}

fn is_none(hops: &u32) -> bool {
    *hops == 0
}

/// An expectation for when the condition holds, as a heuristic has one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    pub domain: u8,
    /// A factor on the naive forecast, or the probability of a rise.
    pub effect: f64,
    pub stance: Stance,
}

/// The most claims that a heuristic's record can be about; older ones have faded.
const MOST_CLAIMS: f64 = 1_000.0;
/// The least error, as a share of naive's, that a heuristic can have shown.
const LEAST_ERROR: f64 = 0.1;
/// An error larger than any world's values could cause.
const MOST_ERROR: f64 = 1e24;

/// How wrong a heuristic was, and how wrong naive was on the same claims, both fading.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    pub claims: f64,
    pub error: f64,
    pub naive_error: f64,
}

/// One feature pushes another, up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Link {
    pub cause: u8,
    pub effect: u8,
    /// Both go the same way.
    pub same_way: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Unique in a life and never used again.
    pub id: u64,
    pub kind: Kind,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Expectation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// The blend that the claim's factor is on, instead of the last value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blend: Option<Mix>,
    /// The record of a heuristic in claims of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
    /// The domain it is about, by number.
    pub domain: Option<u8>,
    /// The regime it was learned in; none holds in any.
    pub regime: Option<Regime>,
    pub class: Class,
    pub status: Status,
    /// The confidence it began with here; everything since is evidence.
    pub initial: f64,
    pub evidence_for: f64,
    pub evidence_against: f64,
    pub born: Time,
    pub validated_at: Time,
    /// A dream confirmed it: fades at half speed.
    pub dream_validated: bool,
    /// Learned in dying, by this golem or another: fades at a third of the speed.
    pub bloodstain: bool,
    pub quality: f64,
    pub strength: f64,
    pub retrievals: u32,
    pub provenance: Provenance,
    /// The number of the word to its siblings that it went out with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<u64>,
    /// Entries that say the opposite, until evidence has decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradicts: Vec<u64>,
}

/// Something decided about the Grimoire: what is recorded, and then written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The entry as it is from now on; a new one if it was not there.
    Put(Box<Entry>),
    /// The entry is gone for good; its number is never used again.
    Forget(u64),
}

impl Kind {
    /// How often an entry of a kind turns out to be worth keeping.
    pub fn prior(self) -> f64 {
        match self {
            Kind::Warning => 0.9,
            Kind::CausalLink => 0.7,
            Kind::Heuristic => 0.6,
            Kind::Insight | Kind::Question => 0.5,
            Kind::StrategyFragment => 0.4,
        }
    }

    pub fn class(self) -> Class {
        match self {
            Kind::CausalLink | Kind::Insight => Class::RegimeConditional,
            Kind::Heuristic | Kind::Warning | Kind::StrategyFragment | Kind::Question => Class::Tactical,
        }
    }
}

impl Shown {
    /// Whether a heuristic could have shown this.
    pub fn is_sound(&self) -> bool {
        let Shown { claims, error, naive_error } = *self;
        let known = [claims, error, naive_error].iter().all(|number| number.is_finite() && *number >= 0.0);
        known && claims <= MOST_CLAIMS && error >= naive_error * LEAST_ERROR && naive_error <= MOST_ERROR
    }

    /// A share of the record, as it is passed on.
    pub fn times(self, share: f64) -> Shown {
        let Shown { claims, error, naive_error } = self;
        Shown { claims: claims * share, error: error * share, naive_error: naive_error * share }
    }
}

impl Kind {
    pub const ALL: [Kind; 6] =
        [Kind::Insight, Kind::Heuristic, Kind::Warning, Kind::CausalLink, Kind::StrategyFragment, Kind::Question];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Insight => "insight",
            Kind::Heuristic => "heuristic",
            Kind::Warning => "warning",
            Kind::CausalLink => "causal_link",
            Kind::StrategyFragment => "strategy_fragment",
            Kind::Question => "question",
        }
    }
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Candidate => "candidate",
            Status::Active => "active",
            Status::Dormant => "dormant",
            Status::Archived => "archived",
        }
    }
}

impl Prose for Box<Decision> {
    const NAME: &'static str = "DecisionJson";
}
