//! All golems at a glance, and after that only those that have changed: ten thousand are not fetched every second.

use golem::Usdc;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::board::Board;
use super::status::{State, Status};

/// Golems that have changed since a client last looked.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Fleet {
    /// Which run of the host this is: each run counts its changes from the start.
    pub run: u64,
    /// The newest change; ask for those after it.
    pub change: u64,
    /// How many golems there are. A client that knows of more asks for all again.
    pub golems: usize,
    pub changed: Vec<Glance>,
}

/// One golem in a row of a list.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Glance {
    pub name: String,
    pub state: State,
    pub phase: String,
    pub generation: u32,
    pub tick: u64,
    pub vitality: f64,
    pub skill: f64,
    pub load: f64,
    /// How long its money lasts, in seconds of world time; none while it spends nothing.
    pub runway: Option<u64>,
    #[schema(value_type = i64)]
    pub credit: Usdc,
    #[schema(value_type = i64)]
    pub worth: Usdc,
    #[schema(value_type = i64)]
    pub spent: Usdc,
    /// Cost of the agent's calls.
    #[schema(value_type = i64)]
    pub calls: Usdc,
    #[schema(value_type = i64)]
    pub net: Usdc,
    /// Why it is stopped, or of what it died.
    pub why: Option<String>,
    pub waits: Option<Waiting>,
    /// The cause of death, by name.
    #[serde(default)]
    pub cause: Option<String>,
    #[serde(default)]
    pub world: String,
    /// Seconds of world time since its birth, and how many it may reach.
    #[serde(default)]
    pub age: u64,
    #[serde(default)]
    pub lifespan: u64,
    #[serde(default)]
    pub mood: String,
    /// The newest event out of the ordinary since the host came up.
    #[serde(default)]
    pub last: Option<LastEvent>,
}

/// An event as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LastEvent {
    /// World time, in milliseconds.
    pub at: u64,
    pub says: String,
    /// One of notable, serious and grave.
    pub gravity: String,
}

/// A question that waits for the owner's yes or no.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Waiting {
    /// The key that an answer must name.
    pub key: u64,
    pub says: String,
}

impl Fleet {
    pub fn after(board: &Board, run: u64, change: u64) -> Fleet {
        let (changed, newest, golems) = board.changed_after(run, change);
        let glance = |status: Status| {
            let last = board.last(&status.name).and_then(|text| serde_json::from_str(&text).ok());
            Glance { last, ..Glance::of(status) }
        };
        Fleet { run: board.run(), change: newest, golems, changed: changed.into_iter().map(glance).collect() }
    }
}

impl Glance {
    fn of(status: Status) -> Glance {
        let waits = status.waits().map(|(key, says)| Waiting { key, says });
        let calls = status.called.iter().fold(Usdc::ZERO, |sum, by| sum + by.cost);
        Glance {
            name: status.name,
            state: status.state,
            phase: status.phase,
            generation: status.generation,
            tick: status.tick,
            vitality: status.vitality,
            skill: status.skill,
            load: status.load,
            runway: status.runway,
            credit: status.credit,
            worth: status.worth,
            spent: status.spent,
            calls,
            net: status.net,
            why: status.why,
            waits,
            cause: status.cause,
            world: status.world,
            age: status.age,
            lifespan: status.lifespan,
            mood: status.mood,
            last: None,
        }
    }
}
