//! Faults of a program, in sentences that say which rule it broke.

use std::time::Duration;

use golem::plain;

/// A fault of a program, for now or for good.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("it cannot be started: {0}")]
    NotStarted(String),
    #[error("it ended when it was asked to {what}: {how}")]
    Ended { what: String, how: String },
    #[error("it did not answer within {} s when it was asked to {what}", limit.as_secs().max(1))]
    Silent { what: String, limit: Duration },
    #[error("it does not read its standard input: it was asked to {what}, and did not read the question within {} s", limit.as_secs().max(1))]
    Deaf { what: String, limit: Duration },
    #[error("it said something without being asked: {0}")]
    Unasked(String),
    #[error(
        "it wrote something that is not a message to its standard output: {said}; standard output is for messages, print to standard error ({why})"
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
    #[error("it is a {theirs}, and a {ours} was expected")]
    Kind { theirs: String, ours: &'static str },
    /// The program is sound, but the thing it stands for cannot be reached.
    #[error("{what}")]
    Away { what: String, again: Option<Duration> },
    /// A fault that the program itself reports.
    #[error("it says: {0}")]
    Says(String),
}

impl Trouble {
    /// Whether restarting the program will not help.
    pub fn is_for_good(&self) -> bool {
        matches!(self, Trouble::Version { .. } | Trouble::Kind { .. })
    }

    /// Whether the running program is of no use any more and has to be ended.
    pub fn ends_it(&self) -> bool {
        !matches!(self, Trouble::Away { .. } | Trouble::Says(_))
    }
}

/// A line of the program, cut to what fits into a sentence.
pub(crate) fn quoted(line: &[u8]) -> String {
    format!("'{}'", plain::line(&String::from_utf8_lossy(line), 80))
}
