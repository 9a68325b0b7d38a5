//! One golem as it is shown to a client: its state, and the same in words.

use golem::Golem;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::portrait::{self, Row};
use super::status::Status;
use super::words::Words;
use crate::GolemHome;

/// One golem.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Seen {
    pub name: String,
    pub id: String,
    pub generation: u32,
    /// World time of its birth, in milliseconds.
    pub born: u64,
    pub records: u64,
    /// Whether a process runs it now.
    pub running: bool,
    pub status: Status,
    pub told: Words,
    /// All rows about it, as `bardo golem show` has them.
    pub rows: Vec<Row>,
    /// The whole life as its journal has it; with `inner` alone. It changes with the core, and promises nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub life: Option<Value>,
}

impl Seen {
    pub fn of(place: &GolemHome, golem: &Golem, status: Status, inner: bool) -> Seen {
        let life = golem.life();
        Seen {
            name: place.name.to_string(),
            id: life.id().to_string(),
            generation: life.birth().generation,
            born: life.born().as_millis(),
            records: golem.seq(),
            running: place.is_lived(life.id()),
            status,
            told: Words::of(life, place),
            rows: portrait::rows(place.name.as_str(), life),
            life: inner.then(|| serde_json::to_value(life).expect("plain data")),
        }
    }
}
