//! Messages between the loop and the workers that give golems their turns: jobs, their outcomes, and the other events
//! that can wake the loop.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use golem::{GolemId, Name};
use shell::feeds::News;
use shell::home::GolemHome;
use shell::life::{Living, Turn};
use shell::view::status::Status;

use super::chores::ChoreChanges;

/// An event that wakes the loop.
pub(super) enum Wake {
    /// A worker is done with a golem.
    Back(usize, Outcome),
    /// A golem has a letter from another thread of this process.
    Letter(Name),
    /// Another process may have rung.
    Bells,
    /// The world of a golem has answered.
    Answered(usize),
    /// A series has grown.
    Grown(PathBuf),
    /// News about a series that is followed.
    News(News),
    /// New settings for the chores.
    Chores(Box<ChoreChanges>),
    /// Why new settings are wrong; none if they are right again.
    Settings(Option<String>),
    /// The owner wants the host to end.
    Stop,
}

/// The outcome of a job.
pub(super) enum Outcome {
    Open(Box<Living>),
    Turned(Box<Living>, Turn),
    Heard(Box<Living>),
    /// The golem's own file has everything.
    Left,
    /// The golem's own file has everything, and its heir could not be made: it is tried again after this time.
    Heirless(Duration),
    /// The owner wants the golem out of this host.
    Wanted(Box<Living>),
    /// The owner has the golem.
    Released(Box<Status>),
    Fell(Fall),
}

/// Why a golem is not up.
pub(super) enum Fall {
    /// The golem, its world or its mind broke.
    Broke(String),
    /// The disk did not take something, which is not the golem's fault.
    Disk(String),
    /// The golem was moved away.
    Moved(String),
    /// Another bardo has it, and will let go of it.
    Elsewhere(String),
    /// The golem cannot run, and the host cannot change that: the kind of note that tells the owner, and why.
    Unlived(&'static str, String),
}

pub(super) enum Job {
    Open(usize, GolemHome),
    /// A turn, and when it was due; no time where the golem goes on with a turn that had to wait for its world.
    Turn(usize, Box<Living>, Option<Instant>),
    Hear(usize, Box<Living>),
    Leave(usize, Box<Living>),
    /// Lets go of a stopped golem: its own file gets everything, and another process may run it.
    LetGo(usize, GolemHome, GolemId),
    /// Tries once more to make the heir of a dead golem.
    Heir(usize, GolemHome, GolemId),
}
