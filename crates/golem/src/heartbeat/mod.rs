//! The heartbeat: SENSING → DECIDING → ACTING → REFLECTING → SLEEPING, with DREAMING and DYING beside it.
//!
//! One observation drives one beat. A beat that must wait for an answer stays where it is; the tick it
//! belongs to ends on time all the same.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::draft::Draft;
use crate::dream;
use crate::event::Event;
use crate::policy::{self, Flight, Stage};
use crate::prediction;
use crate::world::Observation;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heartbeat {
    pub state: State,
    /// Counts every change of phase, mode or permission; an answer from an earlier epoch is stale.
    pub epoch: u32,
    pub paused: bool,
    pub frozen: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Sensing,
    Deciding,
    Acting,
    Reflecting,
    Sleeping,
    Dreaming,
    Dying,
    Dead,
}

impl Default for Heartbeat {
    fn default() -> Self {
        Heartbeat { state: State::Sleeping, epoch: 0, paused: false, frozen: false }
    }
}

/// Takes in what the world showed and goes round as far as it can.
pub(crate) fn beat(draft: &mut Draft<'_>, observation: &Observation) {
    let awake = draft.heartbeat.state == State::Sleeping;
    if awake {
        draft.emit(Event::Turned(State::Sensing));
    }
    prediction::sense(draft, observation);
    if awake {
        draft.emit(Event::Turned(State::Deciding));
        prediction::forecast(draft, observation);
        draft.emit(Event::Turned(State::Acting));
        policy::decide(draft);
        rest(draft);
    } else {
        wait(draft);
    }
}

/// Nothing is under way any more but what its owner or the world may take their time over: reflect and go to sleep.
pub(crate) fn rest(draft: &mut Draft<'_>) {
    let beside = draft.flights.iter().all(Flight::is_beside);
    if draft.heartbeat.state == State::Acting && beside {
        draft.emit(Event::Turned(State::Reflecting));
        draft.emit(Event::Turned(State::Sleeping));
    }
}

/// What passing time does to a beat that is not awake.
fn wait(draft: &mut Draft<'_>) {
    let now = draft.at();
    let overdue: Vec<u64> =
        draft.flights.iter().filter(|f| f.stage == Stage::Asked && f.deadline < now).map(|f| f.key).collect();
    for key in overdue {
        draft.emit(Event::Abandoned { key });
    }
    rest(draft);
    if draft.heartbeat.state == State::Dreaming {
        dream::sleep(draft);
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            State::Sensing => "sensing",
            State::Deciding => "deciding",
            State::Acting => "acting",
            State::Reflecting => "reflecting",
            State::Sleeping => "sleeping",
            State::Dreaming => "dreaming",
            State::Dying => "dying",
            State::Dead => "dead",
        })
    }
}
