//! Events: past-tense facts. Together they *are* the life; everything else can be computed from them.
//!
//! The journal stores them by position, so the order of chapters, of variants and of their fields is frozen: new ones go
//! at the end, and a changed one is a new one. Only what is rare is written with names.

use serde::{Deserialize, Serialize};

use crate::call;
use crate::clade;
use crate::dream;
use crate::episode;
use crate::goal;
use crate::grimoire;
use crate::heartbeat;
use crate::life::Birth;
use crate::mortality;
use crate::outside;
use crate::owner;
use crate::phage;
use crate::policy;
use crate::prediction;
use crate::regime;
use crate::rule;
use crate::stress;
use crate::thanatopsis;
use crate::thought;
use crate::time::Time;

/// An event, by the chapter it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    Born(#[serde(with = "crate::prose")] Box<Birth>),
    Owner(owner::Event),
    Heartbeat(heartbeat::Event),
    Prediction(prediction::Event),
    Rule(rule::Event),
    Policy(policy::Event),
    Goal(goal::Event),
    Mortality(mortality::Event),
    Regime(regime::Event),
    Episode(episode::Event),
    Grimoire(grimoire::Event),
    Stress(stress::Event),
    Clade(clade::Event),
    Dream(dream::Event),
    Thanatopsis(thanatopsis::Event),
    Phage(phage::Event),
    Thought(thought::Event),
    Call(call::Event),
    Outside(outside::Event),
}

macro_rules! chapters {
    ($($chapter:ident: $variant:ident),*) => {
        $(impl From<$chapter::Event> for Event {
            fn from(event: $chapter::Event) -> Event {
                Event::$variant(event)
            }
        })*
    };
}

chapters!(owner: Owner, heartbeat: Heartbeat, prediction: Prediction, rule: Rule, policy: Policy, goal: Goal, mortality: Mortality, regime: Regime, episode: Episode, grimoire: Grimoire, stress: Stress, clade: Clade, dream: Dream, thanatopsis: Thanatopsis, phage: Phage, thought: Thought, call: Call, outside: Outside);

/// Events of one input: the unit of durability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// 1 for the birth, then one more each.
    pub seq: u64,
    pub at: Time,
    pub events: Vec<Event>,
}
