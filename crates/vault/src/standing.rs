//! How far a file is from this program's version: what would be rebuilt before its life runs, found out without
//! touching the file.

use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;

use crate::codec;
use crate::error::Error;
use crate::file::{self, meta};
use crate::journal::is_derived;
use crate::reader::Reader;

/// What this program would rebuild in a file before running its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileStanding {
    pub records: u64,
    /// The newest snapshot is of another layout: the life is folded again from an older one, or from its birth, when it
    /// is next woken.
    pub anew: bool,
    /// The file's description of its layout is of an earlier version, and is rewritten when the life is next run.
    pub layout: bool,
    /// The tables derived from the records (episodes, memory, calls) are of an earlier version, and are rebuilt when
    /// the life is next run.
    pub tables: bool,
}

impl FileStanding {
    pub fn of(reader: &Reader) -> Result<FileStanding, Error> {
        let db = &reader.db;
        let what = "cannot read how the file stands";
        let newest = "SELECT COALESCE(MAX(seq), 0) FROM journal";
        let records: i64 = db.query_row(newest, [], |row| row.get(0)).map_err(Error::sqlite(what))?;
        let snapshot = "SELECT layout FROM snapshot ORDER BY seq DESC LIMIT 1";
        let snapshot: Option<u16> =
            db.query_row(snapshot, [], |row| row.get(0)).optional().map_err(Error::sqlite(what))?;
        Ok(FileStanding {
            records: records as u64,
            anew: snapshot.is_some_and(|layout| layout != codec::LIFE),
            layout: meta(db, "layout")? != codec::layout_now() || !is_of_today(db)?,
            tables: !is_derived(db),
        })
    }

    /// Whether nothing would be rebuilt.
    pub fn is_todays(&self) -> bool {
        !(self.anew || self.layout || self.tables)
    }
}

/// Whether the file as a whole is of today's format, or of the one for files that do not begin with a birth.
fn is_of_today(db: &Connection) -> Result<bool, Error> {
    Ok(meta(db, "format")?.parse().is_ok_and(|format: u32| format >= file::FORMAT))
}
