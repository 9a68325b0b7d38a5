//! One error for the shell; each variant is a different thing for the caller to do.

use std::any::Any;
use std::path::{Path, PathBuf};

use golem::Name;
use settings::chance;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no home at {0}; make one with `bardo init`")]
    NoHome(PathBuf),
    #[error("there is no golem named {0}; see `bardo golem list`")]
    NoGolem(String),
    #[error("there is already a golem named {0}; choose another name")]
    NameTaken(Name),
    #[error("{0} holds no readable secret; restore a backup of this golem")]
    Secret(PathBuf),
    #[error("the secret in {0} is not the one this golem was born with")]
    WrongSecret(PathBuf),
    #[error("{0} is dead: {1}")]
    Dead(Name, String),
    #[error("the host is running {0}; `bardo golem release {0}` makes it let go")]
    Hosted(Name),
    #[error("refused: {0}")]
    Refused(String),
    #[error(
        "refused: {new:.0} % of what it would try is new, less than the {least:.0} % of succession.min_divergence: it would \
         be a copy; change its rules, say --no-inherit, or --force-similarity if a copy is what you want"
    )]
    Copy { new: f64, least: f64 },
    #[error("this key was used for another order ({0}); choose a new one for each")]
    KeyTaken(String),
    #[error("{0}")]
    Mind(#[from] mind::Error),
    /// A request that cannot be done like that; the caller has to ask for something else.
    #[error("{0}")]
    Usage(String),
    /// Not now; the caller tries again.
    #[error("{0}")]
    Busy(String),
    /// Trouble of the host, not the fault of its golems.
    #[error("{0}")]
    Host(String),
    /// Something on disk is not what was written; its owner has to look.
    #[error("{0}")]
    Damaged(String),
    /// A world that panicked at work.
    #[error("{0}")]
    Broke(String),
    #[error("{0}")]
    Config(#[from] settings::ConfigError),
    #[error("{0}")]
    Vault(#[from] vault::Error),
    #[error("{0}")]
    World(#[from] world::Error),
    #[error("the world and the golem disagree: {0}")]
    Fault(#[from] golem::Fault),
    /// An order that stops something, and what was done although it could not be recorded.
    #[error("this is not on record: {why}; {instead}")]
    Unwritten { why: String, instead: String },
    #[error("{what} {path}: {source}")]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
}

impl From<tariff::Error> for Error {
    fn from(why: tariff::Error) -> Error {
        Error::Mind(why.into())
    }
}

impl From<chance::Error> for Error {
    fn from(why: chance::Error) -> Error {
        match why {
            chance::Error::Secret(path) => Error::Secret(path),
            chance::Error::Io { what, path, source } => Error::Io { what, path, source },
        }
    }
}

impl Error {
    pub fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { what, path, source }
    }

    /// A read or write that the disk refused.
    pub fn is_of_disk(&self) -> bool {
        matches!(
            self,
            Error::Io { .. }
                | Error::Vault(vault::Error::Io { .. } | vault::Error::Disk { .. })
                | Error::World(world::Error::Io { .. })
        )
    }

    /// Prefixes the message with the golem or thing that the error is about.
    pub fn about(self, whom: impl std::fmt::Display) -> Error {
        let text = format!("{whom}: {self}");
        match self {
            Error::Usage(_) => Error::Usage(text),
            Error::Busy(_) | Error::Vault(vault::Error::Busy(_)) => Error::Busy(text),
            Error::Host(_)
            | Error::Unwritten { .. }
            | Error::Io { .. }
            | Error::World(world::Error::Io { .. })
            | Error::Vault(vault::Error::Io { .. } | vault::Error::Disk { .. } | vault::Error::Sqlite { .. }) => {
                Error::Host(text)
            }
            _ => Error::Damaged(text),
        }
    }
}

/// The message of a panic.
pub fn panic_message(panic: &Box<dyn Any + Send>) -> String {
    let words = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".into())
}
