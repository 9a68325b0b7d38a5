//! Errors of a chain, a variant for each reaction of the caller.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No endpoint can be reached; waiting helps.
    #[error("no endpoint of the chain answers: {0}")]
    Away(String),
    /// The endpoints answer, and differ: nothing is done until they agree.
    #[error("the endpoints of the chain do not agree: {0}; nothing is done until most of them do")]
    Split(String),
    /// An endpoint understood the question and refused it.
    #[error("{0}")]
    Said(String),
    /// The transaction is not on the signer's list.
    #[error("the signer refuses: {0}")]
    Refused(String),
    #[error("{what} {path}: {source}")]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
    /// Something is not what it should be; the owner has to look.
    #[error("{0}")]
    Wrong(String),
}
