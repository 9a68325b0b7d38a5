//! Problems with settings: the file that is meant, the place, and what to write.

use std::fmt;

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
            write!(f, "{end}{problem}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl ConfigError {
    pub(super) fn one(place: impl Into<String>, message: impl Into<String>) -> ConfigError {
        ConfigError { problems: vec![Problem::new(place, message)] }
    }

    /// Fine if there is nothing to complain about.
    pub(super) fn unless_empty(problems: Vec<Problem>) -> Result<(), ConfigError> {
        if problems.is_empty() { Ok(()) } else { Err(ConfigError { problems }) }
    }
}

impl Problem {
    pub(super) fn new(place: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { place: place.into(), message: message.into() }
    }
}

/// Text from a file or a flag, short and plain enough to stand in one line of a message.
pub(super) fn quoted(text: &str) -> String {
    golem::plain::line(text, 60)
}
