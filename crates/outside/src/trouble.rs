//! What can be wrong with a program, in sentences that say what it broke.

use std::time::Duration;

use golem::plain;

/// Why a program is of no use, now or at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("it cannot be started: {0}")]
    NotStarted(String),
    #[error("it ended when it was asked to {what}: {how}")]
    Ended { what: String, how: String },
    #[error("it did not answer within {} s when it was asked to {what}", limit.as_secs().max(1))]
    Silent { what: String, limit: Duration },
    #[error("it does not read its standard input: what it was asked to {what} was not taken within {} s", limit.as_secs().max(1))]
    Deaf { what: String, limit: Duration },
    #[error("it said something without being asked: {0}")]
    Unasked(String),
    #[error(
        "it wrote what is no message to its standard output: {said}; standard output is for messages, print to standard error ({why})"
    )]
    NoMessage { said: String, why: String },
    #[error("a line of its answer is longer than {0} MiB")]
    TooLong(usize),
    #[error("it answered question {answered} when it was asked question {asked}")]
    OtherQuestion { asked: u64, answered: u64 },
    #[error("it was asked to {what}, and its answer has no {lacks}")]
    Lacks { what: String, lacks: &'static str },
    #[error("it was asked to {what}, and what it said cannot be: {why}")]
    Unsound { what: String, why: String },
    #[error("it speaks version {theirs} of the protocol, and this program speaks version {ours}")]
    Version { theirs: u32, ours: u32 },
    #[error("it is a {theirs}, and a {ours} was wanted")]
    Kind { theirs: String, ours: &'static str },
    /// Nothing is wrong with it: what it stands for cannot be reached.
    #[error("{what}")]
    Away { what: String, again: Option<Duration> },
    /// It says itself what is wrong.
    #[error("it says: {0}")]
    Says(String),
}

impl Trouble {
    /// Starting it anew will not help.
    pub fn is_for_good(&self) -> bool {
        matches!(self, Trouble::Version { .. } | Trouble::Kind { .. })
    }

    /// It is of no use any more as it runs, and has to be ended.
    pub fn ends_it(&self) -> bool {
        !matches!(self, Trouble::Away { .. } | Trouble::Says(_))
    }
}

/// Whatever it said, as much of it as belongs in a sentence.
pub(crate) fn quoted(line: &[u8]) -> String {
    format!("'{}'", plain::line(&String::from_utf8_lossy(line), 80))
}
