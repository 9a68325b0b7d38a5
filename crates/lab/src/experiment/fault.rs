//! What can be wrong with an experiment, or around it.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    File(String),
    #[error(transparent)]
    Lives(#[from] crate::lives::Error),
    #[error(transparent)]
    Host(#[from] shell::Error),
    #[error("{what} {path}: {source}")]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
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
