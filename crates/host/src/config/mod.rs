//! Configuration: `bardo.toml` for the owner and the machine, `golem.toml` for one golem.
//!
//! [`KEYS`] is the one table of what can be set. A value comes from the default there, the file, a
//! `BARDO__SECTION__KEY` variable or a flag, the later winning, and remembers which. Nothing is ignored:
//! what is unknown, not available yet or out of range is an error that says where it stands and what to
//! write, and all of them are told at once.

mod build;
mod keys;
mod kind;
mod layers;
mod reader;
mod record;
mod schema;
mod show;
mod spelling;
#[cfg(test)]
mod tests;
mod windows;

use std::fmt;

pub use keys::{KEYS, Key, available};
pub use kind::{Kind, Value};
pub use layers::{Origin, Settings, check_text};
pub use schema::schema;
pub use show::template;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    Bardo,
    Golem,
}

/// Everything that is wrong, one problem a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// `golem.toml:7`, a variable or a flag.
    pub place: String,
    pub message: String,
}

impl File {
    pub const fn name(self) -> &'static str {
        match self {
            File::Bardo => "bardo.toml",
            File::Golem => "golem.toml",
        }
    }
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.problems.iter().enumerate() {
            let end = if at == 0 { "" } else { "\n" };
            write!(f, "{end}{}: {}", problem.place, problem.message)?;
        }
        Ok(())
    }
}

impl ConfigError {
    fn one(place: impl Into<String>, message: impl Into<String>) -> ConfigError {
        ConfigError { problems: vec![Problem::new(place, message)] }
    }

    /// Fine if there is nothing to complain about.
    fn unless_empty(problems: Vec<Problem>) -> Result<(), ConfigError> {
        if problems.is_empty() { Ok(()) } else { Err(ConfigError { problems }) }
    }
}

impl Problem {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { place: place.into(), message: message.into() }
    }
}

/// What somebody wrote, short enough and plain enough to stand in one line of a message.
fn quoted(text: &str) -> String {
    golem::plain::line(text, 60)
}
