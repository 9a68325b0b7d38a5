//! Errors of a world, a variant for each reaction of the caller.

use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The world's own record, or its data, could not be read or written.
    #[error("{what} {path}: {source}")]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
    /// The record holds something this program never wrote.
    #[error("{path} line {line}: {why}; nothing was changed, see what can be saved with `bardo recover`")]
    Ledger { path: PathBuf, line: u64, why: String },
    /// Two worlds may not share one record.
    #[error("{path} is in use by another process")]
    Busy { path: PathBuf },
    /// After a failed write it is not known what reached the disk; only reopening tells.
    #[error("an earlier write to {path} failed; open it again before doing more")]
    Stuck { path: PathBuf },
    /// The world cannot be reached now; waiting helps, and `again` is how long, where that is known.
    #[error("{what}; it will be tried again")]
    Away { what: String, again: Option<Duration> },
    #[error("cannot use {path} as candles: {why}")]
    Candles { path: PathBuf, why: String },
    /// A fault of a world that is a program.
    #[error("{0}")]
    Outside(String),
    #[error("{what} {why}")]
    Config { what: &'static str, why: &'static str },
}
