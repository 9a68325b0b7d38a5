//! Snapshots of a life, which only save time: a few are kept, each with a hash of its own, and without any of them the
//! journal is folded from its first record.
//!
//! Where the journal has been cut, there may be no first record to fold from. So the life at the cut is written by name
//! as well: a later version, whose Life is laid out otherwise, reads it all the same.

use golem::{Golem, Life};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use crate::codec::{self, Hash};
use crate::error::Error;

const KEPT: u64 = 3;

pub(crate) struct Snapshot {
    pub(crate) seq: u64,
    layout: u16,
    body: Vec<u8>,
    hash: Vec<u8>,
}

/// Writes a snapshot, and deletes those no longer needed: all but the newest few, the one the file begins with, and,
/// where there is a mark every so many records, the first after each mark.
pub(crate) fn write(
    tx: &Transaction<'_>,
    (seq, tip): (u64, &Hash),
    life: &Life,
    base: u64,
    marks: u64,
) -> rusqlite::Result<()> {
    let body = codec::encode_life(life);
    let hash = check(seq, &body, tip);
    let insert = "INSERT INTO snapshot(seq, layout, body, hash) VALUES(?1, ?2, ?3, ?4)";
    tx.prepare_cached(insert)?.execute(params![seq as i64, codec::LIFE, body, hash])?;
    tx.prepare_cached(
        "DELETE FROM snapshot WHERE seq NOT IN (SELECT seq FROM snapshot ORDER BY seq DESC LIMIT ?1)
         AND seq <> ?2 AND (?3 = 0 OR seq NOT IN (SELECT MIN(seq) FROM snapshot GROUP BY seq / ?3))",
    )?
    .execute(params![KEPT as i64, base as i64, marks as i64])?;
    Ok(())
}

/// Writes the life in the snapshot at this record by name, so that later versions can read it.
pub(crate) fn name(tx: &Transaction<'_>, seq: u64) -> rusqlite::Result<()> {
    let select = "SELECT snapshot.body, journal.hash FROM snapshot JOIN journal USING(seq) WHERE seq = ?1";
    let (body, tip): (Vec<u8>, Hash) = tx.query_row(select, [seq as i64], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let Ok(golem) = codec::decode_life(&body, seq) else { return Ok(()) };
    let text = serde_json::to_vec(golem.life()).expect("a life is plain data");
    let hash = check(seq, &text, &tip);
    tx.execute("DELETE FROM named", [])?;
    tx.execute("INSERT INTO named(seq, body, hash) VALUES(?1, ?2, ?3)", params![seq as i64, text, hash])?;
    Ok(())
}

/// The life that was written by name, if there is one; an error if it is not what was written.
pub(crate) fn named(db: &Connection) -> Result<Option<(Golem, Hash)>, Error> {
    let what = "cannot read the snapshots";
    let select = "SELECT named.seq, named.body, named.hash, journal.hash FROM named JOIN journal USING(seq)";
    let row = db
        .query_row(select, [], |row| {
            Ok((
                row.get::<_, i64>(0)? as u64,
                row.get::<_, Vec<u8>>(1)?,
                row.get::<_, Hash>(2)?,
                row.get::<_, Hash>(3)?,
            ))
        })
        .optional();
    // A file of an earlier version has no such table.
    let Ok(Some((seq, text, hash, tip))) = row else { return Ok(None) };
    if check(seq, &text, &tip) != hash {
        return Err(Error::damaged(format!("the life at record {seq} is not what was written")));
    }
    let life = Life::by_name(&text).map_err(|e| Error::damaged(format!("{what}: {e}")))?;
    let golem = Golem::resume(life, seq).map_err(|e| Error::damaged(e.to_string()))?;
    Ok(Some((golem, tip)))
}

/// All snapshots, newest first.
pub(crate) fn all(db: &Connection) -> Result<Vec<Snapshot>, Error> {
    let what = "cannot read the snapshots";
    let mut query =
        db.prepare("SELECT seq, layout, body, hash FROM snapshot ORDER BY seq DESC").map_err(Error::sqlite(what))?;
    let rows = query
        .query_map([], |row| {
            let seq = row.get::<_, i64>(0)? as u64;
            Ok(Snapshot { seq, layout: row.get(1)?, body: row.get(2)?, hash: row.get(3)? })
        })
        .map_err(Error::sqlite(what))?;
    rows.collect::<rusqlite::Result<_>>().map_err(Error::sqlite(what))
}

/// The life in a snapshot, if it is in today's layout; an error if it is not what was written.
pub(crate) fn wake(db: &Connection, row: &Snapshot) -> Result<Option<(Golem, Hash)>, String> {
    if row.layout != codec::LIFE {
        return Ok(None);
    }
    let tip: Option<Hash> = db
        .query_row("SELECT hash FROM journal WHERE seq = ?1", [row.seq as i64], |r| r.get(0))
        .optional()
        .map_err(|e| e.to_string())?;
    let tip = tip.ok_or("the record it belongs to is missing")?;
    if check(row.seq, &row.body, &tip) != row.hash[..] {
        return Err("its hash does not match".to_owned());
    }
    codec::decode_life(&row.body, row.seq).map(|golem| Some((golem, tip)))
}

/// The lives in all snapshots of today's layout, as written; an error if one of them is damaged.
pub(crate) fn good(db: &Connection) -> Result<Vec<(u64, Vec<u8>)>, Error> {
    let mut good = Vec::new();
    for row in all(db)? {
        match wake(db, &row) {
            Ok(Some(_)) => good.push((row.seq, row.body)),
            Ok(None) => {}
            Err(why) => return Err(Error::damaged(format!("the snapshot at record {} is damaged ({why})", row.seq))),
        }
    }
    Ok(good)
}

fn check(seq: u64, body: &[u8], tip: &Hash) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seq.to_le_bytes()).update(tip).update(body);
    *hasher.finalize().as_bytes()
}
