//! One entry as a row: its columns, which are searched by, and its body, which is the entry.

use std::borrow::Cow;

use golem::grimoire::Entry;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Deserialize;

use crate::error::Error;

pub(super) const CREATE: &str = "CREATE TABLE IF NOT EXISTS entry(id INTEGER PRIMARY KEY, kind TEXT NOT NULL,
    status TEXT NOT NULL, domain INTEGER, regime TEXT, bloodstain INTEGER NOT NULL, validated_at INTEGER NOT NULL,
    born INTEGER NOT NULL, body TEXT NOT NULL) STRICT;";

/// Whether the table exists; a journal from before there was a Grimoire has none.
pub fn exists(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'entry'", [], |row| row.get::<_, i64>(0))
        .map(|tables| tables > 0)
}

/// One entry, if it is there.
pub fn get(db: &Connection, id: u64) -> Result<Option<Entry>, Error> {
    let what = "cannot read the entries";
    if !exists(db).map_err(Error::sqlite(what))? {
        return Ok(None);
    }
    body_of(db, id).map_err(Error::sqlite(what))?.map(|body| decode(id, &body)).transpose()
}

/// Hands every entry to `each`, by number.
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

pub(super) fn put(tx: &Connection, entry: &Entry) -> rusqlite::Result<()> {
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
pub(super) fn says(row: &Row<'_>, entry: &Entry) -> rusqlite::Result<bool> {
    Ok(row.get::<_, String>(1)? == entry.kind.name()
        && row.get::<_, String>(2)? == entry.status.name()
        && row.get::<_, Option<i64>>(3)? == entry.domain.map(i64::from)
        && row.get::<_, Option<String>>(4)? == entry.regime.map(|regime| regime.to_string())
        && row.get::<_, i64>(5)? == i64::from(entry.bloodstain)
        && row.get::<_, i64>(6)? == entry.validated_at.as_millis() as i64
        && row.get::<_, i64>(7)? == entry.born.as_millis() as i64
        && serde_json::from_str::<Entry>(str_at(row, 8)).is_ok_and(|body| body == *entry))
}

pub(super) fn body_of(db: &Connection, id: u64) -> rusqlite::Result<Option<String>> {
    db.prepare_cached("SELECT body FROM entry WHERE id = ?1")?.query_row([id as i64], |row| row.get(0)).optional()
}

pub(super) fn text_of(db: &Connection, id: u64) -> rusqlite::Result<Option<String>> {
    Ok(body_of(db, id)?.and_then(|body| text_in(&body).map(Cow::into_owned)))
}

/// The text inside a body, without reading the rest of it.
pub(super) fn text_in(body: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a> {
        #[serde(borrow)]
        text: Cow<'a, str>,
    }
    serde_json::from_str::<Text<'_>>(body).ok().map(|body| body.text)
}

pub(super) fn decode(id: u64, body: &str) -> Result<Entry, Error> {
    serde_json::from_str(body).map_err(|why| Error::damaged(format!("entry {id} cannot be read: {why}")))
}

/// The text of a cell; a cell that holds no text reads as empty, which is then reported as an entry that cannot be
/// read.
pub(super) fn str_at<'a>(row: &'a Row<'_>, column: usize) -> &'a str {
    row.get_ref(column).ok().and_then(|cell| cell.as_str().ok()).unwrap_or_default()
}
