//! The host log: what happened to many golems in one process, made durable together.
//!
//! A file of its own for each golem would need a sync for each tick of each. So a host writes the records of all
//! of them here, group by group with one sync each, and carries them over into their own files later. What was
//! carried over is recognised by golem and number, so being cut short anywhere only means doing it again.
//!
//! Like a life, the log has a head outside the database that knows its newest group; its lock says that a host is up.
//! A group is sealed over everything that is in the log after it, so a reader can tell whether all of it is there.

use std::path::{Path, PathBuf};

use golem::{Golem, GolemId, Record};
use rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde::Serialize;

use crate::codec::{self, Hash};
use crate::disk;
use crate::error::Error;
use crate::head::{Anchor, Head, Seal};
use crate::reading;

/// The head of the host log stands among those of lives.
pub(crate) const HOST: GolemId = GolemId(*b"bardo's host log");
/// How long delivered notes are kept, so that no target is told the same twice.
const TOLD_FOR_MS: i64 = 30 * 86_400_000;
/// Bytes that may lie free in the file.
const SLACK: i64 = 1 << 20;

/// One record of one golem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    pub golem: GolemId,
    pub seq: u64,
    pub body: Vec<u8>,
    pub hash: Hash,
}

/// A message to the owner, delivered once: the same key again is the same note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    pub key: String,
    pub kind: String,
    pub golem: Option<String>,
    pub text: String,
    /// Milliseconds since 1970.
    pub at: i64,
}

/// A note that was not delivered to a target yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndeliveredNote {
    pub number: u64,
    pub note: Note,
}

/// A key and a value that a home remembers of the river.
pub type RiverPair = (Vec<u8>, Vec<u8>);

/// The writes that become durable in one sync.
#[derive(Debug, Default)]
pub struct Batch {
    pub lines: Vec<LogLine>,
    pub notes: Vec<Note>,
    /// Golems whose lines up to this record are in their own files.
    pub carried: Vec<(GolemId, u64)>,
    /// Notes that were delivered to this target.
    pub told: Vec<(u64, String)>,
    /// Golems that run here from now on, and golems that no longer do.
    pub lodgers: Vec<(GolemId, bool)>,
    /// Rows that the home remembers of the river, in order; without a value the row is removed.
    pub river: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// The targets of notes, from this group on.
    pub targets: Option<Vec<String>>,
}

/// The newest group of the log, sealed over everything in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip {
    pub number: u64,
    before: Hash,
    /// The seals of all rows, by exclusive or: a row that comes and a row that goes change it alike.
    rows: Hash,
    pub hash: Hash,
}

/// The writer of the host log.
#[derive(Debug)]
pub struct Log {
    db: Connection,
    head: Head,
    tip: Tip,
    /// The newest group, if it is in the database and not in the head yet.
    ahead: Option<Tip>,
    /// The targets of notes, by name.
    targets: Vec<String>,
}

/// A reader of the host log.
#[derive(Debug)]
pub struct LogReader {
    db: Connection,
    tip: Tip,
}

impl LogLine {
    /// Chains a record to the one before it, as the golem's own file will have it.
    pub fn of(golem: GolemId, tip: &Hash, record: &Record, life: &golem::Life) -> LogLine {
        let body = codec::encode(record, codec::state_mark(record.seq, life));
        let hash = codec::chain(tip, record.seq, &body);
        LogLine { golem, seq: record.seq, body, hash }
    }

    /// Whether this is the very next record after the anchored one.
    pub fn follows(&self, tip: &Anchor) -> bool {
        self.seq == tip.seq + 1 && codec::chain(&tip.hash, self.seq, &self.body) == self.hash
    }

    fn seal(&self) -> Hash {
        seal(b"line", &[&self.golem.0, &self.seq.to_le_bytes(), &self.body, &self.hash])
    }

    pub(crate) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<LogLine> {
        let seq = row.get::<_, i64>(1)? as u64;
        Ok(LogLine { golem: GolemId(row.get(0)?), seq, body: row.get(2)?, hash: row.get(3)? })
    }
}

impl UndeliveredNote {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<UndeliveredNote> {
        let note = Note { key: row.get(1)?, kind: row.get(2)?, golem: row.get(3)?, text: row.get(4)?, at: row.get(5)? };
        Ok(UndeliveredNote { number: row.get::<_, i64>(0)? as u64, note })
    }

    fn seal(&self) -> Hash {
        let Note { key, kind, golem, text, at } = &self.note;
        let golem = golem.as_deref().unwrap_or("\0").as_bytes();
        let parts = [key.as_bytes(), kind.as_bytes(), golem, text.as_bytes()];
        let (number, at) = (self.number.to_le_bytes(), at.to_le_bytes());
        seal(b"note", &[&number, &at, parts[0], parts[1], parts[2], parts[3]])
    }
}

impl Tip {
    const NOTHING: Tip = Tip { number: 0, before: [0; 32], rows: [0; 32], hash: [0; 32] };

    fn next(&self, rows: Hash) -> Tip {
        let tip = Tip { number: self.number + 1, before: self.hash, rows, hash: [0; 32] };
        Tip { hash: tip.sealed(), ..tip }
    }

    fn sealed(&self) -> Hash {
        seal(b"group", &[&self.number.to_le_bytes(), &self.before, &self.rows])
    }

    /// Checks that this group is the one acknowledged last, or comes after it.
    fn hold_against(&self, known: Option<Anchor>, heads: &Path) -> Result<(), Error> {
        let Some(known) = known else { return if self.number == 0 { Ok(()) } else { Err(headless(heads)) } };
        if self.number < known.seq || (self.number == known.seq && self.hash != known.hash) {
            return Err(Error::unanchored(format!(
                "the host log ends at group {}, but group {} was acknowledged: host.db is an old copy, or its -wal file \
                 was left behind or damaged",
                self.number, known.seq
            )));
        }
        if self.number > 0 && self.sealed() != self.hash {
            return Err(Error::unanchored("the newest group of the host log is damaged: its hash does not match"));
        }
        Ok(())
    }
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        let told = self.notes.is_empty() && self.told.is_empty();
        let lives = self.lines.is_empty() && self.carried.is_empty() && self.lodgers.is_empty();
        told && lives && self.river.is_empty() && self.targets.is_none()
    }

    pub fn append(&mut self, other: &mut Batch) {
        self.lines.append(&mut other.lines);
        self.notes.append(&mut other.notes);
        self.carried.append(&mut other.carried);
        self.told.append(&mut other.told);
        self.lodgers.append(&mut other.lodgers);
        self.river.append(&mut other.river);
        self.targets = other.targets.take().or(self.targets.take());
    }
}

impl Log {
    pub fn path(root: &Path) -> PathBuf {
        root.join("host.db")
    }

    /// Takes the lock, or says that a host is up already.
    pub fn open(root: &Path, heads: &Path, targets: Vec<String>) -> Result<Log, Error> {
        let head = match Head::open(heads, HOST) {
            Ok(head) => Some(head),
            Err(Error::NoHead(_)) => None,
            Err(Error::Damaged { .. }) => return Err(headless(heads)),
            Err(other) => return Err(other),
        };
        let known = head.as_ref().map(Head::anchor);
        let (path, what) = (Log::path(root), "cannot open the host log");
        if !path.exists() && known.is_some_and(|known| known.seq > 0) {
            return Err(missing(&path, known));
        }
        let db = Connection::open(path).map_err(Error::store(what))?;
        // On damage nothing may be tidied away: a closing connection would fold the log into the file.
        db.set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(Error::store(what))?;
        let tip = tip(&db).map_err(Error::store(what))?;
        tip.hold_against(known, heads)?;
        db.set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(Error::store(what))?;
        let head = match head {
            Some(head) => head,
            None => Head::create(heads, HOST, Anchor { seq: 0, hash: [0; 32], seal: Seal::Open })?,
        };
        prepare(&db).map_err(Error::store(what))?;
        // A log that stays as large as it is works as well.
        let _ = shrink(&db);
        Ok(Log { db, head, tip, ahead: None, targets })
    }

    /// The file that a running host has locked.
    pub fn lock(heads: &Path) -> PathBuf {
        Head::path(heads, HOST)
    }

    /// Whether a host is up.
    pub fn is_taken(heads: &Path) -> bool {
        Head::is_taken(heads, HOST)
    }

    /// The newest group.
    pub fn tip(&self) -> Tip {
        self.tip
    }

    /// Checks that everything is in the log that should be.
    pub fn verify(&self) -> Result<(), Error> {
        verify(&self.db).map(|_| ())
    }

    /// Makes the whole batch durable with one sync. If that fails nothing of it may leave the process, and the same
    /// batch may be tried again.
    pub fn commit(&mut self, batch: &Batch) -> Result<(), Error> {
        let tip = match self.ahead {
            Some(written) => written,
            None => self.write(batch)?,
        };
        self.head.advance(Anchor { seq: tip.number, hash: tip.hash, seal: Seal::Open })?;
        (self.tip, self.ahead) = (tip, None);
        Ok(())
    }

    fn write(&mut self, batch: &Batch) -> Result<Tip, Error> {
        if let Some(targets) = &batch.targets {
            self.targets.clone_from(targets);
        }
        let (db, targets, before) = (&mut self.db, &self.targets, self.tip);
        let mut write = || -> rusqlite::Result<Tip> {
            let (tx, mut rows) = (db.transaction()?, before.rows);
            write_lines(&tx, batch, &mut rows)?;
            write_notes(&tx, batch, targets, &mut rows)?;
            write_lodgers(&tx, batch, &mut rows)?;
            write_river(&tx, batch, &mut rows)?;
            let tip = before.next(rows);
            let sql = "INSERT OR REPLACE INTO tip(one, number, before, rows, hash) VALUES(1, ?1, ?2, ?3, ?4)";
            tx.prepare_cached(sql)?.execute(params![tip.number as i64, tip.before, tip.rows, tip.hash])?;
            disk::commit("the host log", tx)?;
            Ok(tip)
        };
        let tip = write().map_err(Error::store("cannot write the host log"))?;
        self.ahead = Some(tip);
        Ok(tip)
    }

    /// Opens the log for reading, if it has what was acknowledged; `None` if no host was ever up.
    pub fn reader(root: &Path, heads: &Path) -> Result<Option<LogReader>, Error> {
        // Before the file is looked at: a host that is up only gets ahead of what is known now.
        let (path, known) = (Log::path(root), Head::peek(heads, HOST));
        if !path.exists() {
            let never = known.map_or(!Head::path(heads, HOST).exists(), |known| known.seq == 0);
            return if never { Ok(None) } else { Err(missing(&path, known)) };
        }
        let what = "cannot open the host log";
        let db = reading::open(&path).map_err(Error::store(what))?;
        db.busy_timeout(std::time::Duration::from_secs(5)).map_err(Error::store(what))?;
        let tip = tip(&db).map_err(Error::store(what))?;
        tip.hold_against(known, heads)?;
        Ok((tip.number > 0).then_some(LogReader { db, tip }))
    }
}

impl LogReader {
    /// The newest group when this was opened.
    pub fn tip(&self) -> Tip {
        self.tip
    }

    /// Checks the whole log; returns the newest group it was checked against.
    pub fn verify(&self) -> Result<Tip, Error> {
        verify(&self.db)
    }

    /// The lines of one golem, in order.
    pub fn lines(&self, golem: GolemId) -> Result<Vec<LogLine>, Error> {
        let read = || -> rusqlite::Result<Vec<LogLine>> {
            let sql = "SELECT golem, seq, body, hash FROM line WHERE golem = ?1 ORDER BY seq";
            let mut query = self.db.prepare_cached(sql)?;
            let rows = query.query_map([golem.0], LogLine::read)?;
            rows.collect()
        };
        read().map_err(Error::store("cannot read the host log"))
    }

    /// All golems that have lines here.
    pub fn golems(&self) -> Result<Vec<GolemId>, Error> {
        let read = || -> rusqlite::Result<Vec<GolemId>> {
            let mut query = self.db.prepare("SELECT DISTINCT golem FROM line")?;
            let rows = query.query_map([], |row| row.get(0).map(GolemId))?;
            rows.collect()
        };
        read().map_err(Error::store("cannot read the host log"))
    }

    /// All golems that run in the host of this log.
    pub fn lodgers(&self) -> Result<Vec<GolemId>, Error> {
        let read = || -> rusqlite::Result<Vec<GolemId>> {
            let mut query = self.db.prepare("SELECT golem FROM lodger")?;
            let rows = query.query_map([], |row| row.get(0).map(GolemId))?;
            rows.collect()
        };
        read().map_err(Error::store("cannot read the host log"))
    }

    pub fn lodges(&self, golem: GolemId) -> Result<bool, Error> {
        let found = self.db.query_row("SELECT 1 FROM lodger WHERE golem = ?1", [golem.0], |_| Ok(())).optional();
        Ok(found.map_err(Error::store("cannot read the host log"))?.is_some())
    }

    /// All rows that the home remembers of the river.
    pub fn river(&self) -> Result<Vec<RiverPair>, Error> {
        let read = || -> rusqlite::Result<Vec<RiverPair>> {
            let mut query = self.db.prepare("SELECT key, value FROM river ORDER BY key")?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        };
        read().map_err(Error::store("cannot read the host log"))
    }

    /// Notes not delivered to this target yet, oldest first.
    pub fn waiting(&self, target: &str, most: usize) -> Result<Vec<UndeliveredNote>, Error> {
        let read = || -> rusqlite::Result<Vec<UndeliveredNote>> {
            let sql = "SELECT number, key, kind, golem, text, at FROM note JOIN untold ON untold.note = note.number
                       WHERE untold.target = ?1 ORDER BY number LIMIT ?2";
            let mut query = self.db.prepare_cached(sql)?;
            let rows = query.query_map(params![target, most as i64], UndeliveredNote::read)?;
            rows.collect()
        };
        read().map_err(Error::store("cannot read the host log"))
    }
}

/// Folds lines of the log that follow the record with this hash; lines that the golem knows already are skipped.
pub fn live_on(golem: &mut Golem, mut tip: Hash, lines: &[LogLine]) -> Result<(), Error> {
    let known = golem.seq();
    for line in lines.iter().filter(|line| line.seq > known) {
        let damaged = |why: String| Error::unanchored(format!("record {} of the host log {why}", line.seq));
        tip = codec::chain(&tip, line.seq, &line.body);
        if tip != line.hash {
            return Err(damaged("does not follow from the one before".into()));
        }
        let (record, _) =
            codec::decode(line.seq, &line.body).map_err(|why| damaged(format!("cannot be read: {why}")))?;
        golem.fold(&record).map_err(|why| Error::unfoldable(line.seq, &why))?;
    }
    Ok(())
}

/// Keeps the lines that follow from this record, each from the one before.
pub fn follow(after: u64, mut tip: Hash, lines: Vec<LogLine>) -> Vec<LogLine> {
    let beyond = lines.into_iter().filter(|line| line.seq > after).zip(after + 1..);
    let follows = |(line, next): &(LogLine, u64)| {
        tip = codec::chain(&tip, line.seq, &line.body);
        line.seq == *next && tip == line.hash
    };
    beyond.take_while(follows).map(|(line, _)| line).collect()
}

fn headless(heads: &Path) -> Error {
    let path = Head::path(heads, HOST);
    Error::unanchored(format!("the head of the host log ({}) is missing or damaged", path.display()))
}

fn missing(path: &Path, known: Option<Anchor>) -> Error {
    let known = known.map_or(String::new(), |known| format!(", and group {} of it was acknowledged", known.seq));
    Error::unanchored(format!("{} is missing{known}", path.display()))
}

fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(std::time::Duration::from_secs(10))?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.execute_batch(
        "CREATE TABLE IF NOT EXISTS line(golem BLOB NOT NULL, seq INTEGER NOT NULL, body BLOB NOT NULL,
            hash BLOB NOT NULL, PRIMARY KEY(golem, seq)) STRICT, WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS lodger(golem BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS note(number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL, golem TEXT, text TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
         CREATE TABLE IF NOT EXISTS untold(note INTEGER NOT NULL, target TEXT NOT NULL,
            PRIMARY KEY(target, note)) STRICT, WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS river(key BLOB PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS tip(one INTEGER PRIMARY KEY CHECK(one = 1), number INTEGER NOT NULL,
            before BLOB NOT NULL, rows BLOB NOT NULL, hash BLOB NOT NULL) STRICT;",
    )
}

/// Gives the space of lines that were carried over back to the disk, where that is most of the file: SQLite keeps it
/// otherwise. Never where something is damaged: nothing of that may be tidied away.
fn shrink(db: &Connection) -> Result<(), Error> {
    let figure = |name: &str| db.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
    let slack = || -> rusqlite::Result<(i64, bool)> {
        let (free, all) = (figure("freelist_count")?, figure("page_count")?);
        Ok((free * figure("page_size")?, free * 2 > all))
    };
    let what = "cannot shrink the host log";
    let (bytes, mostly_free) = slack().map_err(Error::store(what))?;
    if mostly_free && bytes > SLACK {
        verify(db)?;
        db.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);").map_err(Error::store(what))?;
    }
    Ok(())
}

fn tip(db: &Connection) -> rusqlite::Result<Tip> {
    let made = "SELECT 1 FROM sqlite_master WHERE name = 'tip'";
    if db.query_row(made, [], |_| Ok(())).optional()?.is_none() {
        return Ok(Tip::NOTHING);
    }
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Tip { number: row.get::<_, i64>(0)? as u64, before: row.get(1)?, rows: row.get(2)?, hash: row.get(3)? })
    };
    Ok(db.query_row("SELECT number, before, rows, hash FROM tip", [], read).optional()?.unwrap_or(Tip::NOTHING))
}

/// The hash over everything a row says.
fn seal(kind: &[u8], parts: &[&[u8]]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(kind);
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    *hasher.finalize().as_bytes()
}

fn seal_untold(note: u64, target: &str) -> Hash {
    seal(b"untold", &[&note.to_le_bytes(), target.as_bytes()])
}

fn turn(rows: &mut Hash, seal: &Hash) {
    rows.iter_mut().zip(seal).for_each(|(all, one)| *all ^= one);
}

/// Checks SQLite's own structure, and that the rows are those the newest group was sealed over.
fn verify(db: &Connection) -> Result<Tip, Error> {
    let look = || -> rusqlite::Result<(Tip, String, Hash)> {
        // One view of everything, even while a host writes.
        let view = db.unchecked_transaction()?;
        let tip = tip(&view)?;
        let sound: String = view.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        let mut rows = [0; 32];
        let mut each = |sql: &str, read: &dyn Fn(&rusqlite::Row<'_>) -> rusqlite::Result<Hash>| {
            let mut query = view.prepare(sql)?;
            for seal in query.query_map([], |row| read(row))? {
                turn(&mut rows, &seal?);
            }
            Ok::<(), rusqlite::Error>(())
        };
        if tip.number > 0 {
            each("SELECT golem, seq, body, hash FROM line", &|row| LogLine::read(row).map(|line| line.seal()))?;
            each("SELECT golem FROM lodger", &|row| row.get::<_, [u8; 16]>(0).map(|golem| seal(b"lodger", &[&golem])))?;
            each("SELECT number, key, kind, golem, text, at FROM note", &|row| {
                UndeliveredNote::read(row).map(|note| note.seal())
            })?;
            each("SELECT note, target FROM untold", &|row| {
                Ok(seal_untold(row.get::<_, i64>(0)? as u64, &row.get::<_, String>(1)?))
            })?;
            each("SELECT key, value FROM river", &|row| {
                Ok(seal(b"river", &[&row.get::<_, Vec<u8>>(0)?, &row.get::<_, Vec<u8>>(1)?]))
            })?;
        }
        Ok((tip, sound, rows))
    };
    let (tip, sound, rows) = look().map_err(Error::store("cannot check the host log"))?;
    if sound != "ok" {
        return Err(Error::unanchored(format!("the host log is damaged: {sound}")));
    }
    if rows != tip.rows {
        return Err(Error::unanchored(
            "the host log is damaged: what is in it is not what its newest group was sealed over",
        ));
    }
    Ok(tip)
}

fn write_lines(tx: &Transaction<'_>, batch: &Batch, rows: &mut Hash) -> rusqlite::Result<()> {
    let mut insert = tx.prepare_cached("INSERT INTO line(golem, seq, body, hash) VALUES(?1, ?2, ?3, ?4)")?;
    for line in &batch.lines {
        insert.execute(params![line.golem.0, line.seq as i64, line.body, line.hash])?;
        turn(rows, &line.seal());
    }
    let sql = "DELETE FROM line WHERE golem = ?1 AND seq <= ?2 RETURNING golem, seq, body, hash";
    let mut remove = tx.prepare_cached(sql)?;
    for (golem, seq) in &batch.carried {
        for line in remove.query_map(params![golem.0, *seq as i64], LogLine::read)? {
            turn(rows, &line?.seal());
        }
    }
    Ok(())
}

fn write_lodgers(tx: &Transaction<'_>, batch: &Batch, rows: &mut Hash) -> rusqlite::Result<()> {
    for (golem, lives_here) in &batch.lodgers {
        let sql = if *lives_here {
            "INSERT OR IGNORE INTO lodger(golem) VALUES(?1)"
        } else {
            "DELETE FROM lodger WHERE golem = ?1"
        };
        if tx.prepare_cached(sql)?.execute([golem.0])? > 0 {
            turn(rows, &seal(b"lodger", &[&golem.0]));
        }
    }
    Ok(())
}

fn write_river(tx: &Transaction<'_>, batch: &Batch, rows: &mut Hash) -> rusqlite::Result<()> {
    for (key, value) in &batch.river {
        let sql = "DELETE FROM river WHERE key = ?1 RETURNING value";
        let old = tx.prepare_cached(sql)?.query_row([key], |row| row.get::<_, Vec<u8>>(0)).optional()?;
        if let Some(old) = old {
            turn(rows, &seal(b"river", &[key, &old]));
        }
        if let Some(value) = value {
            tx.prepare_cached("INSERT INTO river(key, value) VALUES(?1, ?2)")?.execute(params![key, value])?;
            turn(rows, &seal(b"river", &[key, value]));
        }
    }
    Ok(())
}

fn write_notes(tx: &Transaction<'_>, batch: &Batch, targets: &[String], rows: &mut Hash) -> rusqlite::Result<()> {
    for note in &batch.notes {
        let sql = "INSERT OR IGNORE INTO note(key, kind, golem, text, at) VALUES(?1, ?2, ?3, ?4, ?5)";
        let new = tx.prepare_cached(sql)?.execute(params![note.key, note.kind, note.golem, note.text, note.at])?;
        if new == 0 {
            continue;
        }
        let number = tx.last_insert_rowid() as u64;
        turn(rows, &UndeliveredNote { number, note: note.clone() }.seal());
        for target in targets {
            let sql = "INSERT INTO untold(note, target) VALUES(?1, ?2)";
            tx.prepare_cached(sql)?.execute(params![number as i64, target])?;
            turn(rows, &seal_untold(number, target));
        }
        let old = "DELETE FROM note WHERE at < ?1 AND number NOT IN (SELECT note FROM untold)
                   RETURNING number, key, kind, golem, text, at";
        for note in tx.prepare_cached(old)?.query_map([note.at - TOLD_FOR_MS], UndeliveredNote::read)? {
            turn(rows, &note?.seal());
        }
    }
    for (number, target) in &batch.told {
        let sql = "DELETE FROM untold WHERE note = ?1 AND target = ?2";
        if tx.prepare_cached(sql)?.execute(params![*number as i64, target])? > 0 {
            turn(rows, &seal_untold(*number, target));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(golem: u8, seq: u64) -> LogLine {
        LogLine { golem: GolemId([golem; 16]), seq, body: vec![golem; 3], hash: [seq as u8; 32] }
    }

    fn note(key: &str) -> Note {
        Note { key: key.into(), kind: "death".into(), golem: Some("ada".into()), text: "it died".into(), at: 0 }
    }

    fn river(key: &str, value: Option<&str>) -> (Vec<u8>, Option<Vec<u8>>) {
        (key.into(), value.map(|value| value.as_bytes().to_vec()))
    }

    #[test]
    fn what_was_committed_is_there_until_it_was_carried_over() {
        let dir = tempfile::tempdir().unwrap();
        let open = || Log::open(dir.path(), dir.path(), Vec::new());
        let mut log = open().unwrap();
        assert!(Log::is_taken(dir.path()) && matches!(open(), Err(Error::Locked(_))), "one host at a time");
        let lines = vec![line(1, 1), line(2, 1), line(1, 2)];
        log.commit(&Batch { lines, ..Batch::default() }).unwrap();
        drop(log);
        let mut log = open().unwrap();
        let reader = Log::reader(dir.path(), dir.path()).unwrap().unwrap();
        assert_eq!(reader.lines(GolemId([1; 16])).unwrap(), [line(1, 1), line(1, 2)]);
        log.commit(&Batch { carried: vec![(GolemId([1; 16]), 1)], ..Batch::default() }).unwrap();
        assert_eq!(reader.lines(GolemId([1; 16])).unwrap(), [line(1, 2)]);
        assert_eq!(reader.golems().unwrap().len(), 2);
    }

    /// The log stayed at 20 MB after every line in it had been carried over.
    #[test]
    fn what_was_carried_over_is_given_back_to_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        let open = || Log::open(dir.path(), dir.path(), vec!["a".into()]).unwrap();
        let size = || std::fs::metadata(Log::path(dir.path())).unwrap().len();
        let mut log = open();
        let large = |seq: u64| LogLine { body: vec![7; 4_000], ..line(1, seq) };
        log.commit(&Batch { lines: (1..=2_000).map(large).collect(), ..Batch::default() }).unwrap();
        log.commit(&Batch { notes: vec![note("one")], lines: vec![line(2, 1)], ..Batch::default() }).unwrap();
        log.commit(&Batch { carried: vec![(GolemId([1; 16]), 2_000)], ..Batch::default() }).unwrap();
        let tip = log.tip();
        drop(log);
        let before = size();
        assert!(before > 8_000_000, "{before}");
        let mut log = open();
        log.verify().unwrap();
        assert_eq!(log.tip(), tip);
        log.commit(&Batch { notes: vec![note("two")], ..Batch::default() }).unwrap();
        drop(log);
        assert!(size() < 200_000, "{} of {before} bytes", size());
        let reader = Log::reader(dir.path(), dir.path()).unwrap().unwrap();
        reader.verify().unwrap();
        let numbers: Vec<u64> = reader.waiting("a", 10).unwrap().iter().map(|waiting| waiting.number).collect();
        assert_eq!((reader.lines(GolemId([2; 16])).unwrap(), numbers), (vec![line(2, 1)], vec![1, 2]));
    }

    #[test]
    fn a_log_that_lost_its_end_is_not_believed() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::open(dir.path(), dir.path(), Vec::new()).unwrap();
        log.commit(&Batch { lines: vec![line(1, 1)], ..Batch::default() }).unwrap();
        drop(log);
        let old = std::fs::read(Log::path(dir.path())).unwrap();
        let mut log = Log::open(dir.path(), dir.path(), Vec::new()).unwrap();
        log.commit(&Batch { lines: vec![line(1, 2)], ..Batch::default() }).unwrap();
        drop(log);
        let new = std::fs::read(Log::path(dir.path())).unwrap();
        let complaints = || {
            let open = Log::open(dir.path(), dir.path(), Vec::new()).unwrap_err().to_string();
            assert_eq!(open, Log::reader(dir.path(), dir.path()).unwrap_err().to_string(), "readers see it too");
            open
        };
        std::fs::write(Log::path(dir.path()), old).unwrap();
        let lost = complaints();
        assert!(lost.contains("ends at group 1, but group 2 was acknowledged"), "{lost}");
        std::fs::remove_file(Log::path(dir.path())).unwrap();
        assert!(complaints().contains("host.db is missing, and group 2 of it was acknowledged"));
        std::fs::write(Log::path(dir.path()), new).unwrap();
        Log::reader(dir.path(), dir.path()).unwrap().unwrap().verify().unwrap();
        // A second host once started beside the first because the lock could not be seen any more.
        std::fs::remove_file(Head::path(dir.path(), HOST)).unwrap();
        assert!(complaints().contains("the head of the host log"));
    }

    #[test]
    fn whatever_comes_and_goes_the_newest_group_is_sealed_over_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::open(dir.path(), dir.path(), vec!["a".into(), "b".into()]).unwrap();
        let (ada, bob) = (GolemId([1; 16]), GolemId([2; 16]));
        let old = Note { at: -40 * 86_400_000, ..note("old") };
        let batches = [
            Batch { lines: vec![line(1, 1), line(2, 1), line(1, 2)], lodgers: vec![(ada, true)], ..Batch::default() },
            Batch { notes: vec![old, note("one"), note("one")], lodgers: vec![(bob, true)], ..Batch::default() },
            Batch { carried: vec![(ada, 1), (bob, 9)], told: vec![(1, "a".into())], ..Batch::default() },
            Batch { told: vec![(1, "b".into()), (1, "b".into())], lodgers: vec![(ada, false)], ..Batch::default() },
            Batch { notes: vec![note("two")], lodgers: vec![(ada, false), (bob, true)], ..Batch::default() },
            Batch { river: vec![river("a", Some("1")), river("b", Some("2")), river("c", None)], ..Batch::default() },
            Batch { river: vec![river("a", None), river("b", Some("3")), river("a", Some("4"))], ..Batch::default() },
        ];
        let kept = |key: &str, value: &str| (key.as_bytes().to_vec(), value.as_bytes().to_vec());

        for batch in &batches {
            log.commit(batch).unwrap();
            log.verify().unwrap();
        }
        let reader = Log::reader(dir.path(), dir.path()).unwrap().unwrap();
        assert_eq!(reader.river().unwrap(), [kept("a", "4"), kept("b", "3")]);
        let damage = [
            "UPDATE line SET body = x'00'",
            "DELETE FROM line",
            "DELETE FROM lodger",
            "DELETE FROM note",
            "UPDATE untold SET target = 'c' WHERE target = 'b'",
            "UPDATE river SET value = x'00' WHERE key = x'62'",
        ];
        for sql in damage {
            let db = Connection::open(Log::path(dir.path())).unwrap();
            assert!(db.execute(sql, []).unwrap() > 0, "{sql}");
            let told = verify(&db).unwrap_err().to_string();
            assert!(told.contains("not what its newest group was sealed over"), "{sql}: {told}");
        }
    }

    /// A group whose head could not be written was once written again, found to be there, and tried for ever.
    #[test]
    fn a_group_the_head_did_not_take_is_not_written_twice() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::open(dir.path(), dir.path(), Vec::new()).unwrap();
        let batch = Batch { lines: vec![line(1, 1)], ..Batch::default() };
        log.write(&batch).unwrap();
        assert_eq!(log.head.anchor().seq, 0, "the head is behind");
        log.commit(&batch).unwrap();
        assert_eq!(log.head.anchor().seq, 1);
        log.commit(&Batch { lines: vec![line(1, 2)], ..Batch::default() }).unwrap();
        drop(log);
        Log::open(dir.path(), dir.path(), Vec::new()).unwrap();
        assert_eq!(Log::reader(dir.path(), dir.path()).unwrap().unwrap().lines(GolemId([1; 16])).unwrap().len(), 2);
    }

    #[test]
    fn each_target_is_told_each_note_once_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::open(dir.path(), dir.path(), vec!["a".into(), "b".into()]).unwrap();
        let notes = || vec![note("one"), note("two"), note("one")];
        log.commit(&Batch { notes: notes(), ..Batch::default() }).unwrap();
        log.commit(&Batch { notes: notes(), ..Batch::default() }).unwrap();
        let reader = Log::reader(dir.path(), dir.path()).unwrap().unwrap();
        let keys = |target| -> Vec<String> {
            reader.waiting(target, 10).unwrap().into_iter().map(|waiting| waiting.note.key).collect()
        };
        assert_eq!((keys("a"), keys("b")), (vec!["one".into(), "two".into()], vec!["one".into(), "two".into()]));
        let first = reader.waiting("a", 1).unwrap()[0].number;
        log.commit(&Batch { told: vec![(first, "a".into())], ..Batch::default() }).unwrap();
        log.commit(&Batch { notes: notes(), ..Batch::default() }).unwrap();
        assert_eq!((keys("a"), keys("b").len()), (vec!["two".to_owned()], 2), "what was told stays told");
    }
}
