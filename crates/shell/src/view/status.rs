//! One golem at a glance, as a host shows it.

use golem::books::Books;
use golem::call::{ByModel, Hold};
use golem::mortality::economic;
use golem::policy::{self, Ask};
use golem::{Life, Usdc, stress};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::shapes;

/// One golem at a glance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Status {
    pub name: String,
    pub id: String,
    pub state: State,
    pub phase: String,
    pub tick: u64,
    pub generation: u32,
    pub vitality: f64,
    /// How well it understands its world (epistemic fitness).
    pub skill: f64,
    pub load: f64,
    #[schema(value_type = i64)]
    pub credit: Usdc,
    /// Cash and what is held at its newest worth.
    #[schema(value_type = i64)]
    pub worth: Usdc,
    #[schema(value_type = i64)]
    pub given: Usdc,
    pub holding: i64,
    /// Since the host came up.
    pub refusals: u64,
    /// World time of its newest record, in milliseconds.
    pub now: u64,
    /// Why it is stopped or of what it died.
    pub why: Option<String>,
    /// The cause of death, by name.
    #[serde(default)]
    pub cause: Option<String>,
    /// How long its money lasts, in seconds of world time; none while it spends nothing.
    #[serde(default)]
    pub runway: Option<u64>,
    /// When this was acknowledged, in milliseconds of the host's clock.
    #[serde(default)]
    pub written: u64,
    /// The number of this change on the host's board, counted from when it came up.
    #[serde(default)]
    pub change: u64,
    /// Cost of the life so far, actions included.
    #[serde(default)]
    #[schema(value_type = i64)]
    pub spent: Usdc,
    /// Balance for the owner: what came back and could come back, less what was given.
    #[serde(default)]
    #[schema(value_type = i64)]
    pub net: Usdc,
    /// The question that waits for the owner's yes or no.
    #[schema(value_type = Option<shapes::Ask>)]
    pub asks: Option<Ask>,
    /// Cost of the agent's calls, by model.
    #[serde(default)]
    #[schema(value_type = Vec<shapes::Called>)]
    pub called: Vec<ByModel>,
    /// Calls that were refused, as far as that is on record.
    #[serde(default)]
    pub denied: u64,
    /// The stop of its calls, until the owner says yes.
    #[serde(default)]
    #[schema(value_type = Option<shapes::Hold>)]
    pub hold: Option<Hold>,
    /// The name of its world.
    #[serde(default)]
    pub world: String,
    /// Seconds of world time since its birth.
    #[serde(default)]
    pub age: u64,
    /// Seconds of world time that it may reach.
    #[serde(default)]
    pub lifespan: u64,
    /// The name of its mood, such as neutral or fear.
    #[serde(default)]
    pub mood: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Living,
    /// An action waits for the owner's yes; the golem lives on meanwhile.
    Asking,
    Dreaming,
    Paused,
    Frozen,
    /// The process crashed and is being restarted.
    Restarting,
    /// The process crashed too often and is not restarted; the others go on.
    Stopped,
    /// The world has nothing more to show.
    Waiting,
    /// Another bardo of the same owner runs it, or holds it for the moment.
    Elsewhere,
    /// No process runs it, and the owner should look: a stranger holds its lock, its head is missing, or its file is
    /// unreadable.
    Unlived,
    /// Taken out of the host by the owner, for a command or until it is joined again.
    Released,
    Dead,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Living => "living",
            State::Asking => "asking",
            State::Dreaming => "dreaming",
            State::Paused => "paused",
            State::Frozen => "frozen",
            State::Restarting => "restarting",
            State::Stopped => "stopped",
            State::Waiting => "waiting",
            State::Elsewhere => "elsewhere",
            State::Unlived => "unlived",
            State::Released => "released",
            State::Dead => "dead",
        }
    }

    /// Whether this host runs it.
    pub fn is_here(self) -> bool {
        !matches!(self, State::Elsewhere | State::Unlived | State::Released | State::Dead)
    }
}

impl Status {
    /// The status of a golem that is called this now, which need not be what it was called at birth.
    pub fn of(name: &str, life: &Life) -> Status {
        let state = match life {
            life if life.is_dead() => State::Dead,
            life if life.heartbeat().paused => State::Paused,
            life if life.heartbeat().frozen => State::Frozen,
            life if life.dreams().night.is_some() => State::Dreaming,
            life if policy::asks(life).is_some() || life.calls().hold.is_some() => State::Asking,
            _ => State::Living,
        };
        let books = Books::of(life);
        Status {
            name: name.to_owned(),
            id: life.id().to_string(),
            state,
            phase: life.phase().to_string(),
            tick: life.tick(),
            generation: life.birth().generation,
            vitality: life.vitality().composite,
            skill: golem::mortality::epistemic::fitness(life),
            load: stress::load(life),
            credit: life.purse().credit,
            worth: life.capital().worth(life.seen().unit),
            given: life.capital().given,
            holding: life.capital().holding,
            refusals: 0,
            now: life.now().as_millis(),
            why: life.death().map(|death| death.cause.to_string()),
            cause: life.death().map(|death| death.cause.name().to_owned()),
            runway: economic::projected_life(life).filter(|_| !life.is_dead()).map(|left| left.as_millis() / 1_000),
            written: 0,
            change: 0,
            spent: books.spent + books.gas,
            net: books.net,
            asks: policy::asks(life),
            called: life.calls().models.clone(),
            denied: life.calls().denied,
            hold: life.calls().hold,
            world: life.birth().world.world.clone(),
            age: life.age().as_millis() / 1_000,
            lifespan: life.constitution().vitality.lifespan.as_millis() / 1_000,
            mood: life.daimon().mood.octant().to_string(),
        }
    }

    /// The question that waits for the owner's yes or no, in words, and the key that an answer must name.
    pub fn waits(&self) -> Option<(u64, String)> {
        let hold = || self.hold.map(|hold| (hold.key, format!("to go on calling after {hold}")));
        self.asks.as_ref().map(|ask| (ask.key, ask.to_string())).or_else(hold)
    }

    /// The status of a golem of which nothing can be read but its name.
    pub fn unread(name: &str, why: String) -> Status {
        Status {
            name: name.to_owned(),
            id: String::new(),
            state: State::Unlived,
            phase: "unknown".to_owned(),
            tick: 0,
            generation: 0,
            vitality: 0.0,
            skill: 0.0,
            load: 0.0,
            credit: Usdc::ZERO,
            worth: Usdc::ZERO,
            given: Usdc::ZERO,
            holding: 0,
            refusals: 0,
            now: 0,
            why: Some(why),
            cause: None,
            runway: None,
            written: 0,
            change: 0,
            spent: Usdc::ZERO,
            net: Usdc::ZERO,
            asks: None,
            called: Vec::new(),
            denied: 0,
            hold: None,
            world: String::new(),
            age: 0,
            lifespan: 0,
            mood: String::new(),
        }
    }
}
