//! What goes back and forth between the loop and those who give golems their turns: what is to be done with a golem, what
//! became of it, and whatever else can wake the loop.

use std::path::PathBuf;
use std::time::Instant;

use golem::GolemId;
use shell::feeds::News;
use shell::home::GolemHome;
use shell::life::{Living, Turn};
use shell::view::status::Status;

use super::chores::Changes;

/// What can wake the loop.
pub(super) enum Wake {
    /// A worker is done with a golem.
    Back(usize, Outcome),
    /// The world of a golem has answered.
    Answered(usize),
    /// A series has grown.
    Grown(PathBuf),
    /// Something about what is followed.
    News(News),
    /// What is done beside running golems has changed.
    Chores(Box<Changes>),
    /// New settings are wrong, and why; or right again.
    Settings(Option<String>),
    /// The owner wants it to end.
    Stop,
}

/// What became of a golem at a worker.
pub(super) enum Outcome {
    Open(Box<Living>),
    Turned(Box<Living>, Turn),
    Heard(Box<Living>),
    /// Its own file has everything.
    Left,
    /// Its owner wants it out of here.
    Wanted(Box<Living>),
    /// Its owner has it.
    Released(Box<Status>),
    Fell(Fall),
}

/// Why a golem is not up.
pub(super) enum Fall {
    /// It, its world or its mind broke.
    Broke(String),
    /// The disk did not take something; that is nobody's fault here.
    Disk(String),
    /// It was moved away.
    Moved(String),
    /// Another bardo has it, and will let go of it.
    Elsewhere(String),
    /// Nobody lives it, and nothing here can change that: its owner is told, with what kind of note.
    Unlived(&'static str, String),
}

pub(super) enum Job {
    Open(usize, GolemHome),
    /// Its turn, and when that was due; none where it goes on with one that had to wait for its world.
    Turn(usize, Box<Living>, Option<Instant>),
    Hear(usize, Box<Living>),
    Leave(usize, Box<Living>),
    /// One that is stopped: its own file gets everything, and whoever wants may live it.
    LetGo(usize, GolemHome, GolemId),
}
