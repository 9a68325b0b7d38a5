//! The heartbeat: SENSING → DECIDING → ACTING → REFLECTING → SLEEPING, with DREAMING and DYING beside it.
//!
//! One observation drives one beat. A beat that must wait for an answer stays where it is; the tick it
//! belongs to ends on time all the same.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::draft::Draft;
use crate::dream;
use crate::event::Event;
use crate::policy::{self, Stage};
use crate::prediction;
use crate::time::Time;
use crate::world::Observation;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heartbeat {
    pub state: State,
    /// Counts every change of phase, mode or permission; an answer from an earlier epoch is stale.
    pub epoch: u32,
    pub paused: bool,
    pub frozen: bool,
    pub dream_until: Option<Time>,
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
        Heartbeat { state: State::Sleeping, epoch: 0, paused: false, frozen: false, dream_until: None }
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

/// Nothing is under way any more but what waits for its owner, who may take their time: reflect and go to sleep.
pub(crate) fn rest(draft: &mut Draft<'_>) {
    let waits = draft.flights.iter().all(|flight| flight.stage == Stage::Waiting);
    if draft.heartbeat.state == State::Acting && waits {
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
    if draft.heartbeat.dream_until.is_some_and(|until| until <= now) && draft.heartbeat.state == State::Dreaming {
        draft.emit(Event::DreamEnded);
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
