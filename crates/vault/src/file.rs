//! The file of a life: its place, its tables, its metadata, and its records in order, each chained to the one before by
//! hash.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use golem::{GolemId, Record};
use rusqlite::{Connection, OpenFlags, params};

use crate::calls;
use crate::codec::{self, Hash};
use crate::episodes;
use crate::error::Error;
use crate::grimoire;
use crate::reading;

/// Version of the file as a whole. A file of an older version is brought up to date when its life is next run, so that
/// a program that cannot read what was added says so.
pub(crate) const FORMAT: u32 = 2;
/// Marks a file that does not begin with a birth: a version that cannot read such a file says so.
pub(crate) const CUT: u32 = 3;
/// The seed of the chain of records.
const GENESIS: &[u8] = b"bardo journal";

/// Where a life is kept: its own folder, and the home's folder of heads.
#[derive(Clone, Debug)]
pub struct Place {
    pub folder: PathBuf,
    pub heads: PathBuf,
}

impl Place {
    pub fn database(&self) -> PathBuf {
        self.folder.join("life.db")
    }
}

pub(crate) fn existing(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    if !path.exists() {
        return Err(Error::Missing(path.to_owned()));
    }
    connect(path, flags)
}

pub(crate) fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(Error::sqlite("cannot open the journal"))?;
    reading::inert(&db).map_err(Error::sqlite("cannot open the journal"))?;
    Ok(db)
}

pub(crate) fn prepare(db: &Connection) -> rusqlite::Result<()> {
    configure(db)?;
    db.execute_batch(
        "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
         CREATE TABLE journal(seq INTEGER PRIMARY KEY, body BLOB NOT NULL, hash BLOB NOT NULL) STRICT;
         CREATE TABLE snapshot(seq INTEGER PRIMARY KEY, layout INTEGER NOT NULL, body BLOB NOT NULL,
                               hash BLOB NOT NULL) STRICT;
         CREATE TABLE named(seq INTEGER PRIMARY KEY, body BLOB NOT NULL, hash BLOB NOT NULL) STRICT;",
    )?;
    episodes::prepare(db)?;
    calls::prepare(db)?;
    grimoire::prepare(db)
}

pub(crate) fn configure(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "cell_size_check", true)?;
    db.busy_timeout(std::time::Duration::from_secs(10))
}

pub(crate) fn set_meta(db: &Connection, key: &str, value: &str) -> rusqlite::Result<()> {
    db.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)", params![key, value]).map(|_| ())
}

pub(crate) fn meta(db: &Connection, key: &str) -> Result<String, Error> {
    db.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
        .map_err(Error::sqlite("cannot read what this file is"))
}

pub(crate) fn identity(db: &Connection) -> Result<GolemId, Error> {
    check_format(db)?;
    let text = meta(db, "golem")?;
    text.parse().map_err(|_| Error::damaged("the file does not name its golem"))
}

pub(crate) fn check_format(db: &Connection) -> Result<(), Error> {
    match meta(db, "format")?.parse::<u32>() {
        Ok(1..=CUT) => Ok(()),
        Ok(newer) if newer > CUT => Err(Error::TooNew(newer)),
        _ => Err(Error::damaged("the file does not say which format it has")),
    }
}

pub(crate) fn genesis(id: GolemId) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(GENESIS).update(&id.0);
    *hasher.finalize().as_bytes()
}

/// Reads on in one file, checking that no record is missing and that each chains to the one before; returns the last
/// record read, and whether `each` has had enough.
pub(crate) fn read<E: From<Error>>(
    db: &Connection,
    (after, until): (u64, u64),
    tip: &mut Hash,
    each: &mut impl FnMut(Record, Option<codec::StateMark>, usize) -> Result<ControlFlow<()>, E>,
) -> Result<(u64, ControlFlow<()>), E> {
    let what = "cannot read the journal";
    let sql = "SELECT seq, body, hash FROM journal WHERE seq > ?1 AND seq <= ?2 ORDER BY seq";
    let mut query = db.prepare(sql).map_err(Error::sqlite(what))?;
    let until = until.min(i64::MAX as u64) as i64;
    let mut rows = query.query([after as i64, until]).map_err(Error::sqlite(what))?;
    let mut expected = after + 1;
    while let Some(row) = rows.next().map_err(Error::sqlite(what))? {
        let cell = |e: rusqlite::types::FromSqlError| Error::damaged(format!("record {expected} is damaged ({e})"));
        let seq = row.get::<_, i64>(0).map_err(Error::sqlite(what))? as u64;
        if seq != expected {
            return Err(Error::damaged(format!("record {expected} is missing; the next one is {seq}")).into());
        }
        let body = row.get_ref(1).map_err(Error::sqlite(what))?.as_blob().map_err(cell)?;
        let hash = row.get_ref(2).map_err(Error::sqlite(what))?.as_blob().map_err(cell)?;
        *tip = codec::chain(tip, seq, body);
        if hash != &tip[..] {
            return Err(Error::damaged(format!("record {seq} is damaged: its hash does not match")).into());
        }
        let (record, state) =
            codec::decode(seq, body).map_err(|why| Error::damaged(format!("record {seq} cannot be read: {why}")))?;
        if each(record, state, body.len())?.is_break() {
            return Ok((seq, ControlFlow::Break(())));
        }
        expected += 1;
    }
    Ok((expected - 1, ControlFlow::Continue(())))
}
