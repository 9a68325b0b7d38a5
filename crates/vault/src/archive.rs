//! Stretches of a life's journal that have left its file, each in a file of its own in the folder `archive` beside it.
//!
//! A stretch ends at a snapshot. It is written aside, read back and held against the chain, synced and named, and only
//! then cut out of the life; a cut that was interrupted is finished the next time. With its archive beside it, a life
//! reads from birth on, unchanged. Without the archive it lives on, and reads from the snapshot it was cut at.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use golem::{Golem, Span, Time};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use crate::codec::{self, Hash};
use crate::error::Error;
use crate::file::{CUT, genesis, identity, meta, read, set_meta};
use crate::{reading, snapshot};

/// Records a stretch has at least.
pub(crate) const STRETCH: u64 = 10_000;
/// The key under which a file says where it begins.
const BASE: &str = "base";

/// How much of its journal a life keeps in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retention {
    #[default]
    Whole,
    /// At least this much world time.
    Span(Span),
    /// Only the records since the snapshot up to which the journal was archived.
    Archived,
}

/// Records from one number to another, both among them.
struct Stretch {
    path: PathBuf,
    first: u64,
    last: u64,
}

/// The record a file was cut at, which is the first one in it; 0 for a file that begins with a birth.
pub(crate) fn base(db: &Connection) -> Result<u64, Error> {
    let what = "cannot read what this file is";
    let text: Option<String> = db
        .query_row("SELECT value FROM meta WHERE key = ?1", [BASE], |row| row.get(0))
        .optional()
        .map_err(Error::sqlite(what))?;
    text.map_or(Ok(0), |text| text.parse().map_err(|_| Error::damaged("the file does not say where it begins")))
}

/// The folder a life's archive is in.
pub fn folder_beside(database: &Path) -> PathBuf {
    database.parent().unwrap_or(Path::new("")).join("archive")
}

fn folder(db: &Connection) -> PathBuf {
    folder_beside(Path::new(db.path().unwrap_or_default()))
}

/// Everything that looks like a stretch, by its first record.
fn found(folder: &Path) -> Vec<Stretch> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<Stretch> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let (first, last) = path.file_name()?.to_str()?.strip_suffix(".db")?.split_once('-')?;
            Some(Stretch { first: first.parse().ok()?, last: last.parse().ok()?, path })
        })
        .collect();
    all.sort_by_key(|stretch| stretch.first);
    all
}

/// The files of an archive of a life whose own file begins with this record. None of them ever changes; what is beyond
/// it belongs to another course of things, or was not cut in time.
pub fn files(folder: &Path, begins_at: u64) -> Vec<PathBuf> {
    found(folder).into_iter().filter(|stretch| stretch.last <= begins_at).map(|stretch| stretch.path).collect()
}

/// Whether two archives tell the same story wherever both tell it.
pub fn agree(one: &Path, other: &Path) -> bool {
    let end = |stretch: &Stretch| hash_of(&open(&stretch.path).ok()?, stretch.last).ok()?;
    let others = found(other);
    let same = |mine: &Stretch, theirs: &Stretch| {
        (theirs.first, theirs.last) == (mine.first, mine.last) && end(mine).is_some() && end(mine) == end(theirs)
    };
    let apart = |mine: &Stretch, theirs: &Stretch| theirs.last < mine.first || mine.last < theirs.first;
    found(one).iter().all(|mine| others.iter().all(|theirs| apart(mine, theirs) || same(mine, theirs)))
}

/// The stretches from a birth up to where the file begins, or none if one of them is not here.
fn whole(db: &Connection, base: u64) -> Option<Vec<Stretch>> {
    let mut next = 1;
    let mut whole = Vec::new();
    for stretch in found(&folder(db)).into_iter().filter(|stretch| stretch.last <= base) {
        if stretch.first != next {
            return None;
        }
        next = stretch.last + 1;
        whole.push(stretch);
    }
    (next == base + 1).then_some(whole)
}

/// Records that are missing between those that are here. An archive that is away as a whole, or its older part, is
/// where its owner put it; one with a hole has lost something.
pub(crate) fn hole(db: &Connection) -> Result<Option<(u64, u64)>, Error> {
    let base = base(db)?;
    let here: Vec<Stretch> = found(&folder(db)).into_iter().filter(|stretch| stretch.last <= base).collect();
    let Some(first) = here.first() else { return Ok(None) };
    let mut next = first.first;
    for stretch in &here {
        if stretch.first > next {
            return Ok(Some((next, stretch.first - 1)));
        }
        next = stretch.last + 1;
    }
    Ok((next <= base).then_some((next, base)))
}

/// Where a cut life begins when its archive is not here: the life at the first snapshot that can be read, and the hash
/// of that record.
pub(crate) fn beginning(db: &Connection) -> Result<Option<(Golem, Hash)>, Error> {
    let base = base(db)?;
    if base == 0 || whole(db, base).is_some() {
        return Ok(None);
    }
    // Usually the one it was cut at; but another version may not know that one any more, and a later one does as well.
    for row in snapshot::all(db)?.into_iter().rev() {
        if let Ok(Some(beginning)) = snapshot::wake(db, &row) {
            return Ok(Some(beginning));
        }
    }
    snapshot::named(db)?.map(Some).ok_or_else(|| missing(db, base))
}

fn missing(db: &Connection, base: u64) -> Error {
    Error::Archived { upto: base, folder: folder(db) }
}

/// Reads archived records, after one record and up to another; returns the last record read, and whether `each` has had
/// enough.
pub(crate) fn rows<E: From<Error>>(
    db: &Connection,
    (after, until): (u64, u64),
    tip: &mut Hash,
    each: &mut impl FnMut(golem::Record, Option<codec::StateMark>, usize) -> Result<ControlFlow<()>, E>,
) -> Result<(u64, ControlFlow<()>), E> {
    let base = base(db)?;
    if after >= base {
        return Ok((after, ControlFlow::Continue(())));
    }
    let mut after = after;
    for stretch in whole(db, base).ok_or_else(|| missing(db, base))? {
        if stretch.last > after && after < until {
            let (last, flow) = read(&open(&stretch.path)?, (after, until), tip, each)?;
            if flow.is_break() {
                return Ok((last, flow));
            }
            after = last;
        }
    }
    if after == base || after == until {
        Ok((after, ControlFlow::Continue(())))
    } else {
        Err(Error::damaged(format!("its archive ends at record {after}, not {base}")).into())
    }
}

/// The hash of an archived record; `None` if no record of this number was archived.
pub(crate) fn hash_at(db: &Connection, seq: u64) -> Result<Option<Hash>, Error> {
    let base = base(db)?;
    if seq == 0 || seq > base {
        return Ok(None);
    }
    let holds = |stretch: &Stretch| stretch.last <= base && (stretch.first..=stretch.last).contains(&seq);
    let stretch = found(&folder(db)).into_iter().find(holds).ok_or_else(|| missing(db, base))?;
    hash_of(&open(&stretch.path)?, seq)
}

fn open(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(Error::sqlite("cannot open the archive"))?;
    reading::inert(&db).map_err(Error::sqlite("cannot open the archive"))?;
    Ok(db)
}

fn hash_of(db: &Connection, seq: u64) -> Result<Option<Hash>, Error> {
    db.query_row("SELECT hash FROM journal WHERE seq = ?1", [seq as i64], |row| row.get(0))
        .optional()
        .map_err(Error::sqlite("cannot read the journal"))
}

/// Moves what need not be kept into the archive; returns the record the file begins with now, if that has changed.
pub(crate) fn cut(db: &mut Connection, retention: Retention, now: Time) -> Result<Option<u64>, Error> {
    let (base, folder) = (base(db)?, folder(db));
    // A stretch that was named while the life was not cut yet: the cut is finished if it is good, else it is written
    // again.
    let begun = found(&folder).into_iter().find(|stretch| stretch.first == base + 1);
    let begun = begun.filter(|stretch| check(db, stretch, base).is_ok() && is_good(db, stretch.last));
    let last = match begun {
        Some(stretch) => stretch.last,
        None => match chosen(db, retention, base, now)? {
            Some(last) => write(db, &folder, base, last)?,
            None => return Ok(None),
        },
    };
    let what = "cannot cut the journal";
    let tx = db.transaction().map_err(Error::sqlite(what))?;
    snapshot::name(&tx, last)
        .and_then(|()| set_meta(&tx, BASE, &last.to_string()))
        .and_then(|()| set_meta(&tx, "format", &CUT.to_string()))
        .and_then(|()| tx.execute("DELETE FROM journal WHERE seq < ?1", [last as i64]))
        .and_then(|_| tx.execute("DELETE FROM snapshot WHERE seq < ?1", [last as i64]))
        .and_then(|_| tx.commit())
        .map_err(Error::sqlite(what))?;
    Ok(Some(last))
}

/// Whether there is a snapshot at this record that can be read.
fn is_good(db: &Connection, seq: u64) -> bool {
    let row = snapshot::all(db).ok().and_then(|rows| rows.into_iter().find(|row| row.seq == seq));
    row.is_some_and(|row| matches!(snapshot::wake(db, &row), Ok(Some(_))))
}

/// The snapshot to cut at: far enough from the last cut, and old enough.
fn chosen(db: &Connection, retention: Retention, base: u64, now: Time) -> Result<Option<u64>, Error> {
    for row in snapshot::all(db)?.into_iter().filter(|row| row.seq >= base + STRETCH) {
        if !matches!(snapshot::wake(db, &row), Ok(Some(_))) {
            continue;
        }
        let old_enough = match retention {
            Retention::Whole => false,
            Retention::Archived => true,
            Retention::Span(span) => lived_at(db, row.seq)? + span <= now,
        };
        if old_enough {
            return Ok(Some(row.seq));
        }
    }
    Ok(None)
}

fn lived_at(db: &Connection, seq: u64) -> Result<Time, Error> {
    let body: Vec<u8> = db
        .query_row("SELECT body FROM journal WHERE seq = ?1", [seq as i64], |row| row.get(0))
        .map_err(Error::sqlite("cannot read the journal"))?;
    let (record, _) = codec::decode(seq, &body).map_err(Error::damaged)?;
    Ok(record.at)
}

/// Writes a stretch, and trusts it only after reading it back.
fn write(db: &Connection, folder: &Path, base: u64, last: u64) -> Result<u64, Error> {
    let what = "cannot write the archive";
    let sync = |path: &Path| fs::File::open(path).and_then(|file| file.sync_all()).map_err(Error::io(what, path));
    fs::create_dir_all(folder).map_err(Error::io("cannot create", folder))?;
    sync(folder.parent().unwrap_or(Path::new(".")))?;
    let draft = folder.join("draft");
    // All later records are in the file; a stretch beyond the cut is not of this life, or was not finished.
    let beyond = found(folder).into_iter().filter(|stretch| stretch.first > base).map(|stretch| stretch.path);
    for stale in beyond.chain(draft.exists().then(|| draft.clone())) {
        fs::remove_file(&stale).map_err(Error::io("cannot remove", &stale))?;
    }
    copy(db, &draft, base, last)?;
    let made = Stretch { path: draft, first: base + 1, last };
    check(db, &made, base)?;
    let path = folder.join(format!("{:012}-{last:012}.db", base + 1));
    sync(&made.path)?;
    fs::rename(&made.path, &path).map_err(Error::io(what, &path))?;
    sync(folder)?;
    Ok(last)
}

fn copy(db: &Connection, draft: &Path, base: u64, last: u64) -> Result<(), Error> {
    let what = "cannot write the archive";
    let (golem, layout) = (meta(db, "golem")?, meta(db, "layout")?);
    let copied = || -> rusqlite::Result<()> {
        let mut stretch = Connection::open(draft)?;
        let tx = stretch.transaction()?;
        tx.execute_batch(
            "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
             CREATE TABLE journal(seq INTEGER PRIMARY KEY, body BLOB NOT NULL, hash BLOB NOT NULL) STRICT;",
        )?;
        set_meta(&tx, "golem", &golem)?;
        set_meta(&tx, "layout", &layout)?;
        let mut insert = tx.prepare("INSERT INTO journal(seq, body, hash) VALUES(?1, ?2, ?3)")?;
        let mut query = db.prepare("SELECT seq, body, hash FROM journal WHERE seq > ?1 AND seq <= ?2 ORDER BY seq")?;
        let mut rows = query.query(params![base as i64, last as i64])?;
        while let Some(row) = rows.next()? {
            insert.execute(params![row.get::<_, i64>(0)?, row.get_ref(1)?.as_blob()?, row.get_ref(2)?.as_blob()?])?;
        }
        drop(insert);
        tx.commit()
    };
    copied().map_err(Error::sqlite(what))
}

/// Checks that every record is there, follows from the one before, and that the last one is where the life goes on.
fn check(db: &Connection, stretch: &Stretch, base: u64) -> Result<(), Error> {
    let mut tip = if base == 0 { genesis(identity(db)?) } else { hash_of(db, base)?.unwrap_or_default() };
    let mut records = 0;
    let (last, _) = read(&open(&stretch.path)?, (base, u64::MAX), &mut tip, &mut |_, _, _| {
        records += 1;
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    let fits = last == stretch.last && records == stretch.last - base && hash_of(db, last)? == Some(tip);
    if fits { Ok(()) } else { Err(Error::damaged(format!("{} is not what was archived", stretch.path.display()))) }
}

/// Gives space back to the disk once half of the file is empty; until then SQLite reuses it.
pub(crate) fn shrink(db: &Connection) -> rusqlite::Result<()> {
    let pages = |name: &str| db.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
    if 2 * pages("freelist_count")? > pages("page_count")? {
        db.execute_batch("VACUUM; PRAGMA wal_checkpoint(PASSIVE)")?;
    }
    Ok(())
}
