//! The table of entries: made, written with the records it follows from, made again, and held against the journal.

use std::collections::{BTreeMap, BTreeSet};

use golem::grimoire::{Decision, Entry};
use rusqlite::{Connection, Transaction};

use super::row::{CREATE, put, says, str_at, text_in, text_of};
use super::{vectors, words};
use crate::error::Error;

/// Creates the tables that are missing; an index that fell out of step with the entries is rebuilt.
pub fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(CREATE)?;
    vectors::prepare(db)?;
    words::mend(db)
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

/// Removes an entry for good, from the table and from the indexes of recall.
fn forget(tx: &Transaction<'_>, id: u64) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM entry WHERE id = ?1")?.execute([id as i64])?;
    words::forget(tx, id)?;
    vectors::forget(tx, id)
}

/// The entries the table should hold, collected while a journal is folded.
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

/// Rebuilds the table. Vectors of entries whose text is unchanged stay: they were expensive to make.
pub fn rebuild(db: &mut Connection, expected: &Expected) -> rusqlite::Result<()> {
    let tx = db.transaction()?;
    // Inside the transaction: an empty table left behind by a kill would pass for a filled one.
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

/// Returns an error that names the first entry that differs from the journal.
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
            _ => return Err(Error::damaged(format!("entry {id} is not in the journal"))),
        }
    }
    entries.next().map_or(Ok(()), |entry| Err(missing(entry.id)))
}

fn missing(id: u64) -> Error {
    Error::damaged(format!("entry {id} is in the journal and missing here"))
}
