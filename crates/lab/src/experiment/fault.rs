//! What can be wrong with an experiment, or around it.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    File(String),
    #[error(transparent)]
    Lives(#[from] crate::lives::Error),
    #[error(transparent)]
    Settings(#[from] settings::ConfigError),
    /// Errors of workers that are not threads of this process, as they come.
    #[error(transparent)]
    Workers(Box<dyn std::error::Error + Send + Sync>),
    #[error("{what} {path}: {source}")]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
}

impl From<crate::rehearsal::Error> for Error {
    fn from(error: crate::rehearsal::Error) -> Error {
        Error::Lives(error.into())
    }
}

impl From<world::Error> for Error {
    fn from(error: world::Error) -> Error {
        Error::Lives(error.into())
    }
}

pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    move |source| Error::Io { what, path: path.to_owned(), source }
}

pub(super) fn wrong<T>(why: impl Into<String>) -> Result<T, Error> {
    Err(Error::File(why.into()))
}
