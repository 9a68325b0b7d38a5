//! The host log: what happened to many golems in one process, made durable together.
//!
//! A file of its own for each golem would need a sync for each tick of each. So a host writes the records of all
//! of them here, group by group with one sync each, and carries them over into their own files later. What was
//! carried over is recognised by golem and number, so being cut short anywhere only means doing it again. Like a
//! life, the log has a head outside the database that knows its newest group; its lock says that a host is up.

use std::path::{Path, PathBuf};

use golem::{Golem, GolemId, Record};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde::Serialize;

use crate::codec::{self, Hash};
use crate::error::Error;
use crate::head::{Anchor, Head, Seal};
use crate::reading;

/// The head of the host log stands among those of lives.
const HOST: GolemId = GolemId(*b"bardo's host log");
/// Notes that have been delivered are kept for so long, so that nobody is told the same twice.
const TOLD_FOR_MS: i64 = 30 * 86_400_000;

/// One record of one golem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub golem: GolemId,
    pub seq: u64,
    pub body: Vec<u8>,
    pub hash: Hash,
}

/// Something the owner is to be told, once: the same key again is the same note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    pub key: String,
    pub kind: String,
    pub golem: Option<String>,
    pub text: String,
    /// Milliseconds since 1970.
    pub at: i64,
}

/// A note that a target has not been told yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub number: u64,
    pub note: Note,
}

/// What becomes durable in one sync.
#[derive(Debug, Default)]
pub struct Batch {
    pub lines: Vec<Line>,
    pub notes: Vec<Note>,
    /// Carried over into its own file, up to this record.
    pub carried: Vec<(GolemId, u64)>,
    /// This target has been told this note.
    pub told: Vec<(u64, String)>,
}

/// The one who writes.
#[derive(Debug)]
pub struct Log {
    db: Connection,
    head: Head,
    number: u64,
    tip: Hash,
    /// The newest group is in the database and the head does not know it yet.
    ahead: Option<(u64, Hash)>,
    /// Who is to be told of notes, by name.
    targets: Vec<String>,
}

/// Anyone who reads.
#[derive(Debug)]
pub struct LogReader {
    db: Connection,
}

impl Line {
    /// Chains a record to the one before it, as the golem's own file will have it.
    pub fn of(golem: GolemId, tip: &Hash, record: &Record, life: &golem::Life) -> Line {
        let body = codec::encode(record, codec::state_mark(record.seq, life));
        let hash = codec::chain(tip, record.seq, &body);
        Line { golem, seq: record.seq, body, hash }
    }
}

impl Line {
    /// Whether this is the very next record after that one.
    pub fn follows(&self, tip: &Anchor) -> bool {
        self.seq == tip.seq + 1 && codec::chain(&tip.hash, self.seq, &self.body) == self.hash
    }
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.notes.is_empty() && self.carried.is_empty() && self.told.is_empty()
    }

    pub fn append(&mut self, other: &mut Batch) {
        self.lines.append(&mut other.lines);
        self.notes.append(&mut other.notes);
        self.carried.append(&mut other.carried);
        self.told.append(&mut other.told);
    }
}

impl Log {
    pub fn path(root: &Path) -> PathBuf {
        root.join("host.db")
    }

    /// Takes the lock, or says that a host is up already.
    pub fn open(root: &Path, heads: &Path, targets: Vec<String>) -> Result<Log, Error> {
        let beginning = Anchor { seq: 0, hash: [0; 32], seal: Seal::Open };
        let head = match Head::open(heads, HOST) {
            Ok(head) => head,
            Err(Error::NoHead(_)) => Head::create(heads, HOST, beginning)?,
            Err(other) => return Err(other),
        };
        let what = "cannot open the host log";
        let db = Connection::open(Log::path(root)).map_err(Error::sqlite(what))?;
        prepare(&db).map_err(Error::sqlite(what))?;
        let (number, tip) = tip(&db).map_err(Error::sqlite(what))?.unwrap_or((0, [0; 32]));
        let known = head.anchor();
        if number < known.seq || (number == known.seq && tip != known.hash) {
            return Err(Error::Damaged {
                what: format!("the host log ends at group {number}, but group {} was acknowledged", known.seq),
                advice: "bring back the newest host.db with its -wal file",
            });
        }
        Ok(Log { db, head, number, tip, ahead: None, targets })
    }

    /// Whether a host is up.
    pub fn is_taken(heads: &Path) -> bool {
        Head::is_taken(heads, HOST)
    }

    /// Makes all of it durable with one sync. If it fails nobody may hear of it, and the same may be tried again.
    pub fn commit(&mut self, batch: &Batch) -> Result<(), Error> {
        let (number, tip) = match self.ahead {
            Some(written) => written,
            None => self.write(batch)?,
        };
        self.head.advance(Anchor { seq: number, hash: tip, seal: Seal::Open })?;
        (self.number, self.tip, self.ahead) = (number, tip, None);
        Ok(())
    }

    fn write(&mut self, batch: &Batch) -> Result<(u64, Hash), Error> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.tip);
        for line in &batch.lines {
            hasher.update(&line.golem.0).update(&line.hash);
        }
        let (number, tip) = (self.number + 1, *hasher.finalize().as_bytes());
        let (db, targets) = (&mut self.db, &self.targets);
        let mut write = || -> rusqlite::Result<()> {
            let tx = db.transaction()?;
            write_lines(&tx, batch)?;
            write_notes(&tx, batch, targets)?;
            let sql = "INSERT OR REPLACE INTO tip(one, number, hash) VALUES(1, ?1, ?2)";
            tx.prepare_cached(sql)?.execute(params![number as i64, tip])?;
            tx.commit()
        };
        write().map_err(Error::sqlite("cannot write the host log"))?;
        self.ahead = Some((number, tip));
        Ok((number, tip))
    }

    /// From now on these golems, and no others, are lived here.
    pub fn lodge(&mut self, golems: &[GolemId]) -> Result<(), Error> {
        let mut write = || -> rusqlite::Result<()> {
            let tx = self.db.transaction()?;
            tx.execute("DELETE FROM lodger", [])?;
            for golem in golems {
                tx.prepare_cached("INSERT OR IGNORE INTO lodger(golem) VALUES(?1)")?.execute([golem.0])?;
            }
            tx.commit()
        };
        write().map_err(Error::sqlite("cannot write the host log"))
    }

    /// One more is lived here, or one less.
    pub fn let_in(&mut self, golem: GolemId, lives_here: bool) -> Result<(), Error> {
        let sql = if lives_here {
            "INSERT OR IGNORE INTO lodger(golem) VALUES(?1)"
        } else {
            "DELETE FROM lodger WHERE golem = ?1"
        };
        self.db.execute(sql, [golem.0]).map(|_| ()).map_err(Error::sqlite("cannot write the host log"))
    }

    pub fn reader(root: &Path) -> Result<Option<LogReader>, Error> {
        let path = Log::path(root);
        if !path.exists() {
            return Ok(None);
        }
        let what = "cannot open the host log";
        let db = reading::open(&path).map_err(Error::sqlite(what))?;
        db.busy_timeout(std::time::Duration::from_secs(5)).map_err(Error::sqlite(what))?;
        let made = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'tip'";
        let whole = db.query_row(made, [], |row| row.get::<_, i64>(0)).map_err(Error::sqlite(what))? > 0;
        Ok(whole.then_some(LogReader { db }))
    }
}

impl LogReader {
    /// What is here of one golem, in order.
    pub fn lines(&self, golem: GolemId) -> Result<Vec<Line>, Error> {
        let read = || -> rusqlite::Result<Vec<Line>> {
            let sql = "SELECT seq, body, hash FROM line WHERE golem = ?1 ORDER BY seq";
            let mut query = self.db.prepare_cached(sql)?;
            let rows = query.query_map([golem.0], |row| {
                Ok(Line { golem, seq: row.get::<_, i64>(0)? as u64, body: row.get(1)?, hash: row.get(2)? })
            })?;
            rows.collect()
        };
        read().map_err(Error::sqlite("cannot read the host log"))
    }

    /// Lives on through what is here of this golem and not in its own file.
    pub fn go_on(&self, golem: &mut Golem) -> Result<(), Error> {
        for line in self.lines(golem.life().id())?.iter().filter(|line| line.seq > golem.seq()).collect::<Vec<_>>() {
            let (record, _) = codec::decode(line.seq, &line.body)
                .map_err(|why| Error::damaged(format!("record {} of the host log cannot be read: {why}", line.seq)))?;
            golem.fold(&record).map_err(|why| Error::unfoldable(line.seq, &why))?;
        }
        Ok(())
    }

    /// Everyone of whom something is here.
    pub fn golems(&self) -> Result<Vec<GolemId>, Error> {
        let read = || -> rusqlite::Result<Vec<GolemId>> {
            let mut query = self.db.prepare("SELECT DISTINCT golem FROM line")?;
            let rows = query.query_map([], |row| row.get(0).map(GolemId))?;
            rows.collect()
        };
        read().map_err(Error::sqlite("cannot read the host log"))
    }

    /// Everyone whom a host that has this log lives.
    pub fn lodgers(&self) -> Result<Vec<GolemId>, Error> {
        let read = || -> rusqlite::Result<Vec<GolemId>> {
            let mut query = self.db.prepare("SELECT golem FROM lodger")?;
            let rows = query.query_map([], |row| row.get(0).map(GolemId))?;
            rows.collect()
        };
        read().map_err(Error::sqlite("cannot read the host log"))
    }

    pub fn lodges(&self, golem: GolemId) -> Result<bool, Error> {
        let found = self.db.query_row("SELECT 1 FROM lodger WHERE golem = ?1", [golem.0], |_| Ok(())).optional();
        Ok(found.map_err(Error::sqlite("cannot read the host log"))?.is_some())
    }

    /// What this target has not been told yet, oldest first.
    pub fn waiting(&self, target: &str, most: usize) -> Result<Vec<Waiting>, Error> {
        let read = || -> rusqlite::Result<Vec<Waiting>> {
            let sql = "SELECT number, key, kind, golem, text, at FROM note JOIN untold ON untold.note = note.number
                       WHERE untold.target = ?1 ORDER BY number LIMIT ?2";
            let mut query = self.db.prepare_cached(sql)?;
            let rows = query.query_map(params![target, most as i64], |row| {
                let note = Note {
                    key: row.get(1)?,
                    kind: row.get(2)?,
                    golem: row.get(3)?,
                    text: row.get(4)?,
                    at: row.get(5)?,
                };
                Ok(Waiting { number: row.get::<_, i64>(0)? as u64, note })
            })?;
            rows.collect()
        };
        read().map_err(Error::sqlite("cannot read the host log"))
    }
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
         CREATE TABLE IF NOT EXISTS tip(one INTEGER PRIMARY KEY CHECK(one = 1), number INTEGER NOT NULL,
            hash BLOB NOT NULL) STRICT;",
    )
}

fn tip(db: &Connection) -> rusqlite::Result<Option<(u64, Hash)>> {
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?));
    db.query_row("SELECT number, hash FROM tip", [], read).optional()
}

fn write_lines(tx: &Transaction<'_>, batch: &Batch) -> rusqlite::Result<()> {
    let mut insert = tx.prepare_cached("INSERT INTO line(golem, seq, body, hash) VALUES(?1, ?2, ?3, ?4)")?;
    for line in &batch.lines {
        insert.execute(params![line.golem.0, line.seq as i64, line.body, line.hash])?;
    }
    let mut remove = tx.prepare_cached("DELETE FROM line WHERE golem = ?1 AND seq <= ?2")?;
    for (golem, seq) in &batch.carried {
        remove.execute(params![golem.0, *seq as i64])?;
    }
    Ok(())
}

fn write_notes(tx: &Transaction<'_>, batch: &Batch, targets: &[String]) -> rusqlite::Result<()> {
    for note in &batch.notes {
        let sql = "INSERT OR IGNORE INTO note(key, kind, golem, text, at) VALUES(?1, ?2, ?3, ?4, ?5)";
        let new = tx.prepare_cached(sql)?.execute(params![note.key, note.kind, note.golem, note.text, note.at])?;
        if new == 0 {
            continue;
        }
        let number = tx.last_insert_rowid();
        for target in targets {
            tx.prepare_cached("INSERT INTO untold(note, target) VALUES(?1, ?2)")?.execute(params![number, target])?;
        }
        let old = "DELETE FROM note WHERE at < ?1 AND number NOT IN (SELECT note FROM untold)";
        tx.prepare_cached(old)?.execute([note.at - TOLD_FOR_MS])?;
    }
    for (number, target) in &batch.told {
        let sql = "DELETE FROM untold WHERE note = ?1 AND target = ?2";
        tx.prepare_cached(sql)?.execute(params![*number as i64, target])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(golem: u8, seq: u64) -> Line {
        Line { golem: GolemId([golem; 16]), seq, body: vec![golem; 3], hash: [seq as u8; 32] }
    }

    fn note(key: &str) -> Note {
        Note { key: key.into(), kind: "death".into(), golem: Some("ada".into()), text: "it died".into(), at: 0 }
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
        let reader = Log::reader(dir.path()).unwrap().unwrap();
        assert_eq!(reader.lines(GolemId([1; 16])).unwrap(), [line(1, 1), line(1, 2)]);
        log.commit(&Batch { carried: vec![(GolemId([1; 16]), 1)], ..Batch::default() }).unwrap();
        assert_eq!(reader.lines(GolemId([1; 16])).unwrap(), [line(1, 2)]);
        assert_eq!(reader.golems().unwrap().len(), 2);
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
        std::fs::write(Log::path(dir.path()), old).unwrap();
        let lost = Log::open(dir.path(), dir.path(), Vec::new()).unwrap_err().to_string();
        assert!(lost.contains("ends at group 1, but group 2 was acknowledged"), "{lost}");
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
        assert_eq!(Log::reader(dir.path()).unwrap().unwrap().lines(GolemId([1; 16])).unwrap().len(), 2);
    }

    #[test]
    fn each_target_is_told_each_note_once_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::open(dir.path(), dir.path(), vec!["a".into(), "b".into()]).unwrap();
        let notes = || vec![note("one"), note("two"), note("one")];
        log.commit(&Batch { notes: notes(), ..Batch::default() }).unwrap();
        log.commit(&Batch { notes: notes(), ..Batch::default() }).unwrap();
        let reader = Log::reader(dir.path()).unwrap().unwrap();
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
