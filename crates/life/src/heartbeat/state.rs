//! The state of the heartbeat.

use std::fmt;

use serde::{Deserialize, Serialize};

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
