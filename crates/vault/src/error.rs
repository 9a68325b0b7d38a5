//! One error, a variant per reaction of the caller; each says in plain words what is wrong and what to do.

use std::path::{Path, PathBuf};

use golem::FoldError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no life at {0}")]
    Missing(PathBuf),
    #[error("another process is running this golem (lock on {0}); stop it first")]
    Locked(PathBuf),
    #[error("another process is writing here (lock on {0}); try again in a moment")]
    Busy(PathBuf),
    #[error("{what}; {advice}")]
    Damaged { what: String, advice: &'static str },
    /// Records that were acknowledged are not here.
    #[error(
        "this copy ends at record {here}, but record {known} of this life has been acknowledged: it is an old copy, \
         or its -wal file was left behind or damaged; bring back the newest files or restore a backup"
    )]
    Stale { here: u64, known: u64 },
    #[error(
        "this copy and the life known here diverged at record {0}: only one of two copies may run; remove this \
        one, or restore it with `--rewind` if it is the one to keep"
    )]
    Forked(u64),
    /// Archived records that are needed and not in the archive folder.
    #[error(
        "records up to {upto} of this life were archived and are needed now: put the archive back into {folder}, or \
        open this life with the version of bardo that ran it last"
    )]
    Archived { upto: u64, folder: PathBuf },
    #[error("this life was moved to {0}; run it there")]
    Sealed(String),
    #[error(
        "this home has no head for life {0}: its files were copied here by hand; adopt them with \
         `bardo golem restore FOLDER`"
    )]
    NoHead(golem::GolemId),
    #[error("written by a newer version of bardo (format {0}); upgrade bardo to open it")]
    TooNew(u32),
    /// A life under laws or stressors that came after this version.
    #[error("{0}")]
    Newer(FoldError),
    #[error("not enough in the treasury: {asked} asked, {there} there; add paper money with `bardo treasury add`")]
    TreasuryShort { asked: golem::Usdc, there: golem::Usdc },
    #[error("an amount must be more than nothing and at most {most}", most = golem::Usdc::MOST)]
    Amount,
    #[error("its predecessor was ended before it was born")]
    LineEnded,
    #[error("its predecessor has an heir already")]
    HasHeir,
    /// One vector from a model is unusable; the Grimoire goes on without it.
    #[error("this embedding cannot be used: {0}; check which model the name stands for, or embed everything again")]
    Embedding(String),
    #[error("{what} {path}: {source}")]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
    /// The disk is full or read-only: the golem waits for its owner, then continues where it was.
    #[error(
        "{what}: {source}. The disk may be full or read-only: free some room or make it writable, and try again; nothing \
         acknowledged is lost"
    )]
    Disk { what: &'static str, source: rusqlite::Error },
    #[error("{what}: {source}")]
    Sqlite { what: &'static str, source: rusqlite::Error },
}

const ADVICE: &str = "nothing was changed; restore a backup with `bardo golem restore`";
const RECOVER: &str = "nothing was changed; bring back the newest files, or see what can be saved with `bardo recover`";

impl Error {
    pub(crate) fn damaged(what: impl Into<String>) -> Error {
        Error::Damaged { what: what.into(), advice: ADVICE }
    }

    /// A store of the home, not of one life, is not what it was acknowledged to be.
    pub fn unanchored(what: impl Into<String>) -> Error {
        Error::Damaged { what: what.into(), advice: RECOVER }
    }

    /// A record that contradicts the ones before it, or comes from a newer version.
    pub fn unfoldable(seq: u64, why: &FoldError) -> Error {
        match why {
            FoldError::UnknownLaws(_) | FoldError::UnknownStressor(_) => Error::Newer(why.clone()),
            _ => Error::damaged(format!("record {seq}: {why}")),
        }
    }

    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { what, path, source }
    }

    /// Whether another process has the file, or the lock beside it, and had it for longer than was waited.
    pub fn is_held(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        match self {
            Error::Locked(_) | Error::Busy(_) => true,
            Error::Sqlite { source: rusqlite::Error::SqliteFailure(failure, _), .. } => {
                matches!(failure.code, DatabaseBusy | DatabaseLocked)
            }
            _ => false,
        }
    }

    /// Tells damage from ordinary failure: a full disk is not a corrupt file.
    pub(crate) fn sqlite(what: &'static str) -> impl FnOnce(rusqlite::Error) -> Error {
        move |source| Error::told(what, source, ADVICE)
    }

    /// Like [`Error::sqlite`], for a store of the home: damage there is mended with `bardo recover`.
    pub(crate) fn store(what: &'static str) -> impl FnOnce(rusqlite::Error) -> Error {
        move |source| Error::told(what, source, RECOVER)
    }

    fn told(what: &'static str, source: rusqlite::Error, advice: &'static str) -> Error {
        use rusqlite::ErrorCode::{
            ApiMisuse, CannotOpen, ConstraintViolation, DatabaseCorrupt, DiskFull, NotADatabase, ReadOnly,
            SystemIoFailure, TypeMismatch, Unknown,
        };
        let damaged = |source: &rusqlite::Error| Error::Damaged {
            what: format!("{what}: the file is damaged ({source})"),
            advice,
        };
        let rusqlite::Error::SqliteFailure(failure, _) = &source else { return damaged(&source) };
        match failure.code {
            DatabaseCorrupt | NotADatabase | TypeMismatch | ConstraintViolation | ApiMisuse | Unknown => {
                damaged(&source)
            }
            DiskFull | SystemIoFailure | CannotOpen | ReadOnly => Error::Disk { what, source },
            _ => Error::Sqlite { what, source },
        }
    }
}
