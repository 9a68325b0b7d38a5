//! The Grimoire as rows: what a golem knows, one row an entry, beside the journal it follows from.
//!
//! Every row is what the last decision about it said, written in the transaction of the record that holds the
//! decision; so the table can be lost and made again, and held against the journal. The index of words and the
//! vectors beside it serve recall alone. They are never part of the truth: missing, they are made again.

mod card;
mod recall;
mod score;
mod vectors;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use golem::grimoire::{Decision, Entry};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use serde::Deserialize;

use crate::error::Error;

pub use recall::{Hit, Query, Recall};
pub use score::Parts;
pub use vectors::{Waiting, dot, embed, to_embed};

const CREATE: &str = "CREATE TABLE IF NOT EXISTS entry(id INTEGER PRIMARY KEY, kind TEXT NOT NULL,
    status TEXT NOT NULL, domain INTEGER, regime TEXT, bloodstain INTEGER NOT NULL, validated_at INTEGER NOT NULL,
    born INTEGER NOT NULL, body TEXT NOT NULL) STRICT;";

/// Makes what is missing; an index that fell out of step with the entries is made again.
pub fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(CREATE)?;
    vectors::prepare(db)?;
    words::mend(db)
}

/// Whether the table is there at all; a journal from before there was a Grimoire has none.
pub fn exists(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'entry'", [], |row| row.get::<_, i64>(0))
        .map(|tables| tables > 0)
}

/// Carries a decision into the rows, in the transaction of its record.
pub fn write(tx: &Transaction<'_>, decision: &Decision) -> rusqlite::Result<()> {
    let entry = match decision {
        Decision::Put(entry) => entry,
        Decision::Forget(id) => return forget(tx, *id),
    };
    let same_text = text_of(tx, entry.id)?.is_some_and(|text| text == entry.text);
    put(tx, entry)?;
    // Most decisions are about evidence and leave the text alone; then the indexes have nothing to learn.
    if !same_text {
        words::put(tx, entry.id, &entry.text)?;
        vectors::forget(tx, entry.id)?;
    }
    Ok(())
}

/// Gone for good, from the table and from what serves recall.
fn forget(tx: &Transaction<'_>, id: u64) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM entry WHERE id = ?1")?.execute([id as i64])?;
    words::forget(tx, id)?;
    vectors::forget(tx, id)
}

/// What the table should hold, collected while a journal is folded.
#[derive(Clone, Debug, Default)]
pub struct Expected(BTreeMap<u64, Entry>);

impl Expected {
    pub fn after(&mut self, decision: &Decision) {
        match decision {
            Decision::Put(entry) => _ = self.0.insert(entry.id, (**entry).clone()),
            Decision::Forget(id) => _ = self.0.remove(id),
        }
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.0.values()
    }
}

/// Makes the table anew. Vectors of entries whose text was there and is the same stay: they were dear to make.
pub fn rebuild(db: &mut Connection, expected: &Expected) -> rusqlite::Result<()> {
    let tx = db.transaction()?;
    // Within the transaction: an empty table left behind by a kill would pass for one that was filled.
    tx.execute_batch(CREATE)?;
    vectors::prepare(&tx)?;
    let mut kept = BTreeSet::new();
    {
        let mut query = tx.prepare("SELECT id, body FROM entry")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let id = row.get::<_, i64>(0)? as u64;
            let same =
                expected.0.get(&id).is_some_and(|entry| text_in(str_at(row, 1)) == Some(entry.text.as_str().into()));
            kept.extend(same.then_some(id));
        }
    }
    vectors::keep_only(&tx, &kept)?;
    tx.execute_batch("DELETE FROM entry")?;
    for entry in expected.0.values() {
        put(&tx, entry)?;
    }
    words::make(&tx, words::Where::File)?;
    tx.commit()
}

/// An error that names the first entry that is not what the journal says.
pub fn check(db: &Connection, expected: &Expected) -> Result<(), Error> {
    let what = "cannot read the entries";
    let mut query = db.prepare("SELECT * FROM entry ORDER BY id").map_err(Error::sqlite(what))?;
    let mut rows = query.query([]).map_err(Error::sqlite(what))?;
    let mut entries = expected.0.values();
    while let Some(row) = rows.next().map_err(Error::sqlite(what))? {
        let id = row.get::<_, i64>(0).map_err(Error::sqlite(what))? as u64;
        match entries.next() {
            Some(entry) if entry.id < id => return Err(missing(entry.id)),
            Some(entry) if entry.id == id => {
                if !says(row, entry).map_err(Error::sqlite(what))? {
                    return Err(Error::damaged(format!("entry {id} is not what the journal says")));
                }
            }
            _ => return Err(Error::damaged(format!("entry {id} does not stand in the journal"))),
        }
    }
    entries.next().map_or(Ok(()), |entry| Err(missing(entry.id)))
}

fn missing(id: u64) -> Error {
    Error::damaged(format!("entry {id} stands in the journal and is missing here"))
}

/// One entry, if it is there.
pub fn get(db: &Connection, id: u64) -> Result<Option<Entry>, Error> {
    let what = "cannot read the entries";
    if !exists(db).map_err(Error::sqlite(what))? {
        return Ok(None);
    }
    body_of(db, id).map_err(Error::sqlite(what))?.map(|body| decode(id, &body)).transpose()
}

/// All of them by number, handed to `each`.
pub fn all(db: &Connection, mut each: impl FnMut(Entry)) -> Result<(), Error> {
    let what = "cannot read the entries";
    if !exists(db).map_err(Error::sqlite(what))? {
        return Ok(());
    }
    let mut query = db.prepare("SELECT id, body FROM entry ORDER BY id").map_err(Error::sqlite(what))?;
    let mut rows = query.query([]).map_err(Error::sqlite(what))?;
    while let Some(row) = rows.next().map_err(Error::sqlite(what))? {
        each(decode(row.get::<_, i64>(0).map_err(Error::sqlite(what))? as u64, str_at(row, 1))?);
    }
    Ok(())
}

fn put(tx: &Connection, entry: &Entry) -> rusqlite::Result<()> {
    let body = serde_json::to_string(entry).map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
    tx.prepare_cached("INSERT OR REPLACE INTO entry VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?.execute(params![
        entry.id as i64,
        entry.kind.name(),
        entry.status.name(),
        entry.domain,
        entry.regime.map(|regime| regime.to_string()),
        entry.bloodstain,
        entry.validated_at.as_millis() as i64,
        entry.born.as_millis() as i64,
        body
    ])?;
    Ok(())
}

/// Whether a row says what the entry does, in its columns and in its body. Bodies are compared by what they
/// mean: one written before an entry had some field is no less true.
fn says(row: &Row<'_>, entry: &Entry) -> rusqlite::Result<bool> {
    Ok(row.get::<_, String>(1)? == entry.kind.name()
        && row.get::<_, String>(2)? == entry.status.name()
        && row.get::<_, Option<i64>>(3)? == entry.domain.map(i64::from)
        && row.get::<_, Option<String>>(4)? == entry.regime.map(|regime| regime.to_string())
        && row.get::<_, i64>(5)? == i64::from(entry.bloodstain)
        && row.get::<_, i64>(6)? == entry.validated_at.as_millis() as i64
        && row.get::<_, i64>(7)? == entry.born.as_millis() as i64
        && serde_json::from_str::<Entry>(str_at(row, 8)).is_ok_and(|body| body == *entry))
}

fn body_of(db: &Connection, id: u64) -> rusqlite::Result<Option<String>> {
    db.prepare_cached("SELECT body FROM entry WHERE id = ?1")?.query_row([id as i64], |row| row.get(0)).optional()
}

fn text_of(db: &Connection, id: u64) -> rusqlite::Result<Option<String>> {
    Ok(body_of(db, id)?.and_then(|body| text_in(&body).map(Cow::into_owned)))
}

/// The text inside a body, without reading the rest of it.
fn text_in(body: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a> {
        #[serde(borrow)]
        text: Cow<'a, str>,
    }
    serde_json::from_str::<Text<'_>>(body).ok().map(|body| body.text)
}

fn decode(id: u64, body: &str) -> Result<Entry, Error> {
    serde_json::from_str(body).map_err(|why| Error::damaged(format!("entry {id} cannot be read: {why}")))
}

/// A cell that holds no text reads as empty, which is no entry and is told as such.
fn str_at<'a>(row: &'a Row<'_>, column: usize) -> &'a str {
    row.get_ref(column).ok().and_then(|cell| cell.as_str().ok()).unwrap_or_default()
}
