//! One life in one file: an append-only journal, each record chained to the one before by hash, and
//! snapshots that only save time.
//!
//! To open a life is to take its lock, find the newest good snapshot, fold what came after, and hold the
//! end against the anchored head. Damage is told in plain words and never skipped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use golem::grimoire::Decision;
use golem::mortality::phase::Phase;
use golem::{Event, FoldError, Golem, GolemId, Life, Record, Span, Time};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use crate::archive::{self, Retention};
use crate::codec::{self, Hash};
use crate::episodes::{self, Changes, Episode, Expected};
use crate::error::Error;
use crate::glance::Parting;
use crate::grimoire;
use crate::head::{Anchor, Head, Seal};
use crate::log::Line;
use crate::reading;

/// Version of the file as a whole. A file of an older one is brought up to date when it is next lived in, so that
/// a program that cannot read what is added then says so.
const FORMAT: u32 = 2;
/// Snapshots bound how long waking up takes, not how much is lost: that is nothing.
/// Records between two snapshots of a life that declines.
const DYING: u64 = 50;
const SNAPSHOT_SPAN: Span = Span::seconds(6 * 3_600);
const SNAPSHOTS_KEPT: u64 = 3;
/// Marks that every table that follows from the journal has been made from it, and as which version makes them.
const DERIVED: &str = "derived";
const TABLES: &str = "3";
const GENESIS: &[u8] = b"bardo journal";

/// Where a life is kept: its own folder, and the home's folder of heads.
#[derive(Clone, Debug)]
pub struct Place {
    pub folder: PathBuf,
    pub heads: PathBuf,
}

/// Something that was wrong and did no harm.
pub type Notice = String;

/// An open, locked, writable life.
#[derive(Debug)]
pub struct Vault {
    db: Connection,
    /// After the file, which must be closed first, and before the lock, which must be let go of last.
    parting: Parting,
    head: Head,
    tip: Hash,
    staged: Vec<(u64, Vec<u8>, Hash)>,
    remembered: Vec<Changes>,
    /// What was decided about the Grimoire, in order.
    decided: Vec<Decision>,
    snapshot_every: u64,
    last_snapshot: (u64, Time),
    retention: Retention,
    /// The record the file begins with, if that is not the birth, and the snapshot it was last thought of cutting at.
    base: u64,
    considered: u64,
    /// Something went wrong: leave every file as it is.
    spoilt: bool,
}

/// A life that is only looked at; it may be lived by someone else meanwhile.
#[derive(Debug)]
pub struct Reader {
    pub(crate) db: Connection,
}

/// What a full check found.
#[derive(Debug, Default)]
pub struct Check {
    /// Only what came after this record was there to be checked.
    pub after: u64,
    /// Records that are missing in the middle of its archive.
    pub hole: Option<(u64, u64)>,
    pub records: u64,
    pub state_hashes: u64,
    pub bytes: u64,
}

impl Place {
    pub fn database(&self) -> PathBuf {
        self.folder.join("life.db")
    }
}

impl Vault {
    /// Writes down a birth.
    pub fn create(place: &Place, record: &Record, life: &Life, snapshot_every: u64) -> Result<Vault, Error> {
        let path = place.database();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let db = connect(&path, flags)?;
        prepare(&db).map_err(Error::sqlite("cannot create the journal"))?;
        let meta = "INSERT INTO meta(key, value) VALUES(?1, ?2)";
        let write = |key: &str, value: String| db.execute(meta, params![key, value]);
        write("format", FORMAT.to_string())
            .and_then(|_| write(DERIVED, TABLES.to_owned()))
            .and_then(|_| write("golem", life.id().to_string()))
            .and_then(|_| write("layout", codec::layout_now().to_owned()))
            .and_then(|_| write("layout_hash", blake3::hash(codec::layout_now().as_bytes()).to_hex().to_string()))
            .map_err(Error::sqlite("cannot create the journal"))?;
        let head =
            Head::create(&place.heads, life.id(), Anchor { seq: 0, hash: genesis(life.id()), seal: Seal::Open })?;
        let mut vault = Vault {
            db,
            parting: Parting::begin(&place.folder),
            tip: genesis(life.id()),
            head,
            staged: Vec::new(),
            remembered: Vec::new(),
            decided: Vec::new(),
            snapshot_every,
            last_snapshot: (0, record.at),
            retention: Retention::Whole,
            base: 0,
            considered: 0,
            spoilt: false,
        };
        vault.stage(record, life);
        vault.commit(life)?;
        Ok(vault)
    }

    /// Takes the lock and wakes the life up to its last acknowledged record.
    pub fn open(place: &Place, snapshot_every: u64) -> Result<(Vault, Golem, Vec<Notice>), Error> {
        let mut db = existing(&place.database(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // On damage nothing may be tidied away: a closing connection would fold the log into the file.
        db.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .map_err(Error::sqlite("cannot open the journal"))?;
        let head = Head::open(&place.heads, identity(&db)?)?;
        if head.anchor().seal != Seal::Open {
            let to = std::fs::read_to_string(place.folder.join("MOVED")).unwrap_or_else(|_| "another home".into());
            return Err(Error::Sealed(to.trim().to_owned()));
        }
        configure(&db).map_err(Error::sqlite("cannot open the journal"))?;
        let (golem, tip, snapshot, notices) = wake(&db)?;
        hold_against(&db, &head.anchor(), golem.seq())?;
        db.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
            .map_err(Error::sqlite("cannot open the journal"))?;
        let mut parting = Parting::begin(&place.folder);
        bring_up_to_date(&mut db, golem.life())?;
        parting.note(golem.life(), golem.seq(), tip);
        let last_snapshot = (snapshot, golem.life().now);
        let base = archive::base(&db)?;
        let vault = Vault {
            db,
            parting,
            head,
            tip,
            staged: Vec::new(),
            remembered: Vec::new(),
            decided: Vec::new(),
            snapshot_every,
            last_snapshot,
            retention: Retention::Whole,
            base,
            considered: 0,
            spoilt: false,
        };
        Ok((vault, golem, notices))
    }

    /// Keeps only so much of the journal in the file from now on; the rest is archived as [`Vault::tidy`] is called.
    pub fn retain(&mut self, retention: Retention) {
        self.retention = retention;
    }

    /// Moves what need not be kept into the archive, now and then. Nothing is lost if it fails, and it is tried again.
    pub fn tidy(&mut self, life: &Life) -> Result<(), Error> {
        let newest = self.last_snapshot.0;
        if self.retention == Retention::Whole || newest == self.considered || newest < self.base + archive::STRETCH {
            return Ok(());
        }
        self.considered = newest;
        // A head that is behind is harmless as long as its record is here: it must not be behind what is cut.
        let seq = tip_of(&self.db)?;
        self.head.set(Anchor { seq, hash: self.tip, seal: Seal::Open })?;
        self.parting.forget();
        let cut = archive::cut(&mut self.db, self.retention, life.now)?;
        self.base = cut.unwrap_or(self.base);
        self.parting.note(life, seq, self.tip);
        if cut.is_some() {
            archive::shrink(&self.db).map_err(Error::sqlite("cannot make the file smaller"))
        } else {
            Ok(())
        }
    }

    /// Queues a record, with the life it led to, for the next commit.
    pub fn stage(&mut self, record: &Record, life: &Life) {
        let body = codec::encode(record, codec::state_mark(record.seq, life));
        self.tip = codec::chain(&self.tip, record.seq, &body);
        self.staged.push((record.seq, body, self.tip));
        self.remembered.push(Changes::of(record, life));
        self.decided.extend(decisions(record).cloned());
    }

    /// Writes down what a host log has of this life and its own file has not.
    pub fn catch_up(&mut self, golem: &mut Golem, lines: &[Line]) -> Result<(), Error> {
        let known = golem.seq();
        for line in lines.iter().filter(|line| line.seq > known) {
            let (record, _) = codec::decode(line.seq, &line.body)
                .map_err(|why| Error::damaged(format!("record {} of the host log cannot be read: {why}", line.seq)))?;
            live_again(golem, &record)?;
            self.stage(&record, golem.life());
            if self.tip != line.hash {
                self.spoilt = true;
                return Err(Error::damaged(format!("record {} of the host log does not follow", line.seq)));
            }
        }
        self.commit(golem.life())
    }

    /// The hash of the newest record.
    pub fn tip(&self) -> Hash {
        self.tip
    }

    /// Makes everything staged durable in one transaction, then anchors it. Only after this may anything
    /// leave the process. If it fails, the life in memory is ahead of its record: drop it and open again.
    pub fn commit(&mut self, life: &Life) -> Result<(), Error> {
        let Some(&(seq, _, hash)) = self.staged.last() else { return Ok(()) };
        assert!(!self.spoilt, "a vault that failed must be opened again");
        self.spoilt = true;
        self.parting.forget();
        self.write(seq, life).map_err(Error::sqlite("cannot write the journal"))?;
        self.head.advance(Anchor { seq, hash, seal: Seal::Open })?;
        self.spoilt = false;
        self.parting.note(life, seq, hash);
        Ok(())
    }

    fn write(&mut self, seq: u64, life: &Life) -> rusqlite::Result<()> {
        // Nobody knows how many ticks are left of a life on its way down.
        let every = if life.phase() <= Phase::Declining { self.snapshot_every.min(DYING) } else { self.snapshot_every };
        let due = seq - self.last_snapshot.0 >= every
            || (life.now.since(self.last_snapshot.1) >= SNAPSHOT_SPAN && seq > self.last_snapshot.0);
        let tx = self.db.transaction()?;
        {
            let mut insert = tx.prepare_cached("INSERT INTO journal(seq, body, hash) VALUES(?1, ?2, ?3)")?;
            for (seq, body, hash) in &self.staged {
                insert.execute(params![*seq as i64, body, hash])?;
            }
            for changes in self.remembered.iter().filter(|changes| !changes.is_empty()) {
                changes.write(&tx)?;
            }
            for decision in &self.decided {
                grimoire::write(&tx, decision)?;
            }
            if due {
                let body = codec::encode_life(life);
                let check = snapshot_check(seq, &body, &self.tip);
                tx.prepare_cached("INSERT INTO snapshot(seq, layout, body, hash) VALUES(?1, ?2, ?3, ?4)")?
                    .execute(params![seq as i64, codec::LIFE, body, check])?;
                // Where a journal is kept for a span, one in each stretch waits to be cut at.
                let marks = if matches!(self.retention, Retention::Span(_)) { archive::STRETCH } else { 0 };
                tx.prepare_cached(
                    "DELETE FROM snapshot WHERE seq NOT IN (SELECT seq FROM snapshot ORDER BY seq DESC LIMIT ?1)
                     AND seq <> ?2 AND (?3 = 0 OR seq NOT IN (SELECT MIN(seq) FROM snapshot GROUP BY seq / ?3))",
                )?
                .execute(params![SNAPSHOTS_KEPT as i64, self.base as i64, marks as i64])?;
            }
        }
        tx.commit()?;
        self.staged.clear();
        self.remembered.clear();
        self.decided.clear();
        if due {
            self.last_snapshot = (seq, life.now);
        }
        Ok(())
    }

    /// Everything it knows, by number.
    pub fn entries(&self) -> Result<Vec<golem::grimoire::Entry>, Error> {
        all_entries(&self.db)
    }

    /// Entries that have no vector of this model yet.
    pub fn to_embed(&self, model: &str, most: usize) -> Result<Vec<grimoire::Waiting>, Error> {
        grimoire::to_embed(&self.db, model, most)
    }

    /// Keeps what a model made of an entry's text; false if the text has changed since.
    pub fn embed(&self, waiting: &grimoire::Waiting, model: &str, vector: &[f32]) -> Result<bool, Error> {
        grimoire::embed(&self.db, waiting, model, vector)
    }

    /// Begins a move: this copy refuses to live from now on.
    pub fn seal(mut self, folder: &Path, to: &str) -> Result<Head, Error> {
        let note = folder.join("MOVED");
        std::fs::write(&note, to).map_err(Error::io("cannot write", &note))?;
        self.head.seal(Seal::Leaving)?;
        Ok(self.head)
    }
}

impl Reader {
    pub fn open(database: &Path) -> Result<Reader, Error> {
        if !database.exists() {
            return Err(Error::Missing(database.to_owned()));
        }
        let db = reading::open(database).map_err(Error::sqlite("cannot open the journal"))?;
        db.busy_timeout(std::time::Duration::from_secs(5)).map_err(Error::sqlite("cannot open the journal"))?;
        check_format(&db)?;
        Ok(Reader { db })
    }

    pub fn id(&self) -> Result<GolemId, Error> {
        identity(&self.db)
    }

    /// The life as of its newest record.
    pub fn wake(&self) -> Result<(Golem, Vec<Notice>), Error> {
        let _view = self.view()?;
        let view = &self.db;
        let (golem, _, _, notices) = wake(view)?;
        Ok((golem, notices))
    }

    /// The same, and the hash of that record, which must be the newest that was acknowledged or come after it.
    pub fn wake_held(&self, heads: &Path) -> Result<(Golem, Hash, Vec<Notice>), Error> {
        let anchor = Head::peek(heads, identity(&self.db)?);
        let _view = self.view()?;
        let (golem, tip, _, notices) = wake(&self.db)?;
        if let Some(anchor) = anchor {
            hold_against(&self.db, &anchor, golem.seq())?;
        }
        Ok((golem, tip, notices))
    }

    /// The life before the first record that [`Reader::replay`] gives; none where that is its birth. From here on this
    /// reader sees the life as it is now, however it goes on and is cut meanwhile.
    pub fn beginning(&self) -> Result<Option<Golem>, Error> {
        if self.db.is_autocommit() {
            self.db.execute_batch("BEGIN").map_err(Error::sqlite("cannot read the journal"))?;
        }
        Ok(archive::beginning(&self.db)?.map(|(golem, _)| golem))
    }

    /// One view of everything for as long as it is held, unless there is one already.
    pub(crate) fn view(&self) -> Result<Option<rusqlite::Transaction<'_>>, Error> {
        let free = self.db.is_autocommit();
        free.then(|| self.db.unchecked_transaction()).transpose().map_err(Error::sqlite("cannot read the journal"))
    }

    /// Every record from the first that is here, each with its chain verified, handed to `each`.
    pub fn replay(&self, mut each: impl FnMut(Record) -> Result<(), Error>) -> Result<Check, Error> {
        let _view = self.view()?;
        let view = &self.db;
        let (before, mut tip) = begin(view)?;
        let after = before.map_or(0, |golem| golem.seq());
        let mut check = Check { after, records: after, ..Check::default() };
        rows(view, (check.after, u64::MAX), &mut tip, |record, state, bytes| {
            check.records = record.seq;
            check.bytes += bytes as u64;
            check.state_hashes += u64::from(state.is_some());
            each(record)
        })?;
        Ok(check)
    }

    /// Every record from this one on, each with its chain verified, handed to `each`.
    pub fn replay_from(&self, seq: u64, mut each: impl FnMut(Record) -> Result<(), Error>) -> Result<(), Error> {
        let _view = self.view()?;
        let after = seq.saturating_sub(1);
        let mut tip = match after {
            0 => genesis(identity(&self.db)?),
            _ => self.hash_at(after)?.ok_or_else(|| Error::damaged(format!("record {after} is missing")))?,
        };
        rows(&self.db, (after, u64::MAX), &mut tip, |record, _, _| each(record)).map(|_| ())
    }

    /// Everything that can be known to be right: SQLite's own structure, the chain, every state hash, every
    /// snapshot, and that the anchored head is there.
    pub fn verify(&self, heads: &Path) -> Result<(Golem, Check), Error> {
        // Before the view is taken: a life that is being lived meanwhile only gets ahead of its old head.
        let anchor = Head::peek(heads, identity(&self.db)?);
        self.must_be_ours()?;
        let _view = self.view()?;
        let view = &self.db;
        let sound: String = view
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .map_err(Error::sqlite("cannot check the file"))?;
        if sound != "ok" {
            return Err(Error::damaged(format!("the file is damaged: {sound}")));
        }
        if meta(view, "layout_hash")? != blake3::hash(meta(view, "layout")?.as_bytes()).to_hex().as_str() {
            return Err(Error::damaged("the description of the records is damaged"));
        }
        let snapshots = good_snapshots(view)?;
        let (mut golem, mut tip) = begin(view)?;
        let after = golem.as_ref().map_or(0, Golem::seq);
        let hole = archive::hole(view)?;
        let (mut check, mut expected) =
            (Check { after, hole, records: after, ..Check::default() }, Expected::default());
        let mut known = grimoire::Expected::default();
        rows(view, (after, u64::MAX), &mut tip, |record, state, bytes| {
            let seq = record.seq;
            fold(&mut golem, &record)?;
            let golem = golem.as_ref().expect("just folded");
            check_state(golem, state)?;
            expected.after(&record, golem);
            decisions(&record).for_each(|decision| known.after(decision));
            if let Some((_, life)) = snapshots.iter().find(|(at, _)| *at == seq)
                && *life != codec::encode_life(golem.life())
            {
                return Err(Error::damaged(format!("the snapshot at record {seq} is not the life lived until then")));
            }
            check.records = seq;
            check.bytes += bytes as u64;
            check.state_hashes += u64::from(state.is_some_and(|mark| mark.layout == codec::LIFE));
            Ok(())
        })?;
        let golem = golem.ok_or_else(|| Error::damaged("the journal is empty"))?;
        // What was made from records that are not here cannot be held against them.
        if after == 0 && episodes::exists(view).map_err(Error::sqlite("cannot read the episodes"))? {
            expected.check(view)?;
        }
        if after == 0 && grimoire::exists(view).map_err(Error::sqlite("cannot read the entries"))? {
            grimoire::check(view, &known)?;
        }
        if let Some(anchor) = anchor {
            hold_against(view, &anchor, golem.seq())?;
        }
        Ok((golem, check))
    }

    /// Refuses a file that holds anything but the tables that are made here: what else there is could act by itself.
    fn must_be_ours(&self) -> Result<(), Error> {
        let what = "cannot read what this file is";
        let ours = Connection::open_in_memory().map_err(Error::sqlite(what))?;
        prepare(&ours).map_err(Error::sqlite(what))?;
        let ours = reading::schema(&ours).map_err(Error::sqlite(what))?;
        match reading::schema(&self.db).map_err(Error::sqlite(what))?.iter().find(|thing| !ours.contains(thing)) {
            None => Ok(()),
            Some((kind, name, _)) => {
                Err(Error::damaged(format!("the file has a {kind} named {name:?} that no version of bardo makes")))
            }
        }
    }

    /// The newest so many remembered ticks, oldest of them first.
    pub fn episodes(&self, most: u64) -> Result<Vec<Episode>, Error> {
        episodes::newest(&self.db, most)
    }

    /// Everything it knows, by number.
    pub fn entries(&self) -> Result<Vec<golem::grimoire::Entry>, Error> {
        all_entries(&self.db)
    }

    /// What comes to mind, by words and by the vectors of this model.
    pub fn search(&self, model: Option<&str>, query: &grimoire::Query) -> Result<Vec<grimoire::Hit>, Error> {
        grimoire::Recall::open(&self.db, model)?.search(&self.db, query)
    }

    /// A consistent copy, even of a life that is being lived.
    pub fn copy_to(&self, database: &Path) -> Result<(), Error> {
        let mut copy = Connection::open(database).map_err(Error::sqlite("cannot create the copy"))?;
        let backup = rusqlite::backup::Backup::new(&self.db, &mut copy).map_err(Error::sqlite("cannot copy"))?;
        backup.run_to_completion(4_096, std::time::Duration::ZERO, None).map_err(Error::sqlite("cannot copy"))?;
        drop(backup);
        copy.pragma_update(None, "journal_mode", "DELETE").map_err(Error::sqlite("cannot copy"))?;
        drop(copy);
        std::fs::File::open(database).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", database))
    }

    /// The first record of its file.
    pub fn begins_at(&self) -> Result<u64, Error> {
        Ok(archive::base(&self.db)?.max(1))
    }

    /// The hash of one record, if there is one by this number; an error if it was archived and is not here.
    pub fn hash_at(&self, seq: u64) -> Result<Option<Hash>, Error> {
        let here = self
            .db
            .query_row("SELECT hash FROM journal WHERE seq = ?1", [seq as i64], |row| row.get(0))
            .optional()
            .map_err(Error::sqlite("cannot read the journal"))?;
        here.map_or_else(|| archive::hash_at(&self.db, seq), |hash| Ok(Some(hash)))
    }

    /// The newest record's number and hash.
    pub fn tip(&self) -> Result<Anchor, Error> {
        let sql = "SELECT seq, hash FROM journal ORDER BY seq DESC LIMIT 1";
        let (seq, hash): (i64, Hash) = self
            .db
            .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(Error::sqlite("cannot read the journal"))?;
        Ok(Anchor { seq: seq as u64, hash, seal: Seal::Open })
    }
}

fn existing(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    if !path.exists() {
        return Err(Error::Missing(path.to_owned()));
    }
    connect(path, flags)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(Error::sqlite("cannot open the journal"))?;
    reading::inert(&db).map_err(Error::sqlite("cannot open the journal"))?;
    Ok(db)
}

fn prepare(db: &Connection) -> rusqlite::Result<()> {
    configure(db)?;
    db.execute_batch(
        "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
         CREATE TABLE journal(seq INTEGER PRIMARY KEY, body BLOB NOT NULL, hash BLOB NOT NULL) STRICT;
         CREATE TABLE snapshot(seq INTEGER PRIMARY KEY, layout INTEGER NOT NULL, body BLOB NOT NULL,
                               hash BLOB NOT NULL) STRICT;",
    )?;
    episodes::prepare(db)?;
    grimoire::prepare(db)
}

/// A file from before something was added gets it now: the layout of what may be written to it from here on, and
/// the table of episodes, made from the journal.
fn bring_up_to_date(db: &mut Connection, life: &Life) -> Result<(), Error> {
    let what = "cannot bring the journal up to date";
    let format = if archive::base(db)? > 0 { archive::CUT } else { FORMAT }.to_string();
    let layout = codec::layout_now();
    if meta(db, "layout")? != layout || meta(db, "format")? != format {
        let hash = blake3::hash(layout.as_bytes()).to_hex().to_string();
        let tx = db.transaction().map_err(Error::sqlite(what))?;
        for (key, value) in [("layout", layout), ("layout_hash", &hash), ("format", &format)] {
            set_meta(&tx, key, value).map_err(Error::sqlite(what))?;
        }
        tx.commit().map_err(Error::sqlite(what))?;
    }
    let whole = episodes::count(db).is_ok_and(|rows| rows == life.episodes.made)
        && grimoire::exists(db).map_err(Error::sqlite(what))?
        && meta(db, DERIVED).is_ok_and(|made| made == TABLES);
    if whole {
        return grimoire::prepare(db).map_err(Error::sqlite(what));
    }
    let (mut golem, mut expected, mut tip) = (None, Expected::default(), genesis(identity(db)?));
    let mut known = grimoire::Expected::default();
    rows(db, (0, u64::MAX), &mut tip, |record, _, _| {
        fold(&mut golem, &record)?;
        expected.after(&record, golem.as_ref().expect("just folded"));
        decisions(&record).for_each(|decision| known.after(decision));
        Ok(())
    })?;
    // Marked only when all of it is there, so that a crash in between starts over.
    expected.write(db).map_err(Error::sqlite(what))?;
    grimoire::rebuild(db, &known).map_err(Error::sqlite(what))?;
    grimoire::prepare(db).and_then(|()| set_meta(db, DERIVED, TABLES)).map_err(Error::sqlite(what))
}

pub(crate) fn set_meta(db: &Connection, key: &str, value: &str) -> rusqlite::Result<()> {
    db.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)", params![key, value]).map(|_| ())
}

fn decisions(record: &Record) -> impl Iterator<Item = &Decision> {
    record.events.iter().filter_map(|event| match event {
        Event::Kept(decision) => Some(&**decision),
        _ => None,
    })
}

fn all_entries(db: &Connection) -> Result<Vec<golem::grimoire::Entry>, Error> {
    let mut entries = Vec::new();
    grimoire::all(db, |entry| entries.push(entry))?;
    Ok(entries)
}

fn configure(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "cell_size_check", true)?;
    db.busy_timeout(std::time::Duration::from_secs(10))
}

pub(crate) fn genesis(id: GolemId) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(GENESIS).update(&id.0);
    *hasher.finalize().as_bytes()
}

fn snapshot_check(seq: u64, body: &[u8], tip: &Hash) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seq.to_le_bytes()).update(tip).update(body);
    *hasher.finalize().as_bytes()
}

pub(crate) fn meta(db: &Connection, key: &str) -> Result<String, Error> {
    db.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
        .map_err(Error::sqlite("cannot read what this file is"))
}

pub(crate) fn identity(db: &Connection) -> Result<GolemId, Error> {
    check_format(db)?;
    let text = meta(db, "golem")?;
    text.parse().map_err(|_| Error::damaged("the file does not say whose life it is"))
}

fn check_format(db: &Connection) -> Result<(), Error> {
    match meta(db, "format")?.parse::<u32>() {
        Ok(1..=archive::CUT) => Ok(()),
        Ok(newer) if newer > archive::CUT => Err(Error::TooNew(newer)),
        _ => Err(Error::damaged("the file does not say which format it has")),
    }
}

/// The newest good snapshot, and everything after it.
fn wake(db: &Connection) -> Result<(Golem, Hash, u64, Vec<Notice>), Error> {
    let mut notices = Vec::new();
    let (mut golem, mut from, mut tip) = (None, 0, genesis(identity(db)?));
    for row in snapshots(db)? {
        match try_snapshot(db, &row) {
            Ok(Some((waking, hash))) => {
                (golem, from, tip) = (Some(waking), row.seq, hash);
                break;
            }
            Ok(None) => {}
            Err(why) => {
                notices.push(format!("the snapshot at record {} is damaged ({why}); used an older one", row.seq))
            }
        }
    }
    rows(db, (from, u64::MAX), &mut tip, |record, state, _| {
        fold(&mut golem, &record)?;
        check_state(golem.as_ref().expect("just folded"), state)
    })?;
    let golem = golem.ok_or_else(|| Error::damaged("the journal is empty"))?;
    Ok((golem, tip, from, notices))
}

pub(crate) struct SnapshotRow {
    pub(crate) seq: u64,
    layout: u16,
    body: Vec<u8>,
    hash: Vec<u8>,
}

pub(crate) fn snapshots(db: &Connection) -> Result<Vec<SnapshotRow>, Error> {
    let what = "cannot read the snapshots";
    let mut query =
        db.prepare("SELECT seq, layout, body, hash FROM snapshot ORDER BY seq DESC").map_err(Error::sqlite(what))?;
    let rows = query
        .query_map([], |row| {
            let seq = row.get::<_, i64>(0)? as u64;
            Ok(SnapshotRow { seq, layout: row.get(1)?, body: row.get(2)?, hash: row.get(3)? })
        })
        .map_err(Error::sqlite(what))?;
    rows.collect::<rusqlite::Result<_>>().map_err(Error::sqlite(what))
}

/// The life in a snapshot, if it is in today's layout; an error if it is not what was written.
pub(crate) fn try_snapshot(db: &Connection, row: &SnapshotRow) -> Result<Option<(Golem, Hash)>, String> {
    if row.layout != codec::LIFE {
        return Ok(None);
    }
    let tip: Option<Hash> = db
        .query_row("SELECT hash FROM journal WHERE seq = ?1", [row.seq as i64], |r| r.get(0))
        .optional()
        .map_err(|e| e.to_string())?;
    let tip = tip.ok_or("the record it belongs to is missing")?;
    if snapshot_check(row.seq, &row.body, &tip) != row.hash[..] {
        return Err("its hash does not match".to_owned());
    }
    codec::decode_life(&row.body, row.seq).map(|golem| Some((golem, tip)))
}

fn good_snapshots(db: &Connection) -> Result<Vec<(u64, Vec<u8>)>, Error> {
    let mut good = Vec::new();
    for row in snapshots(db)? {
        match try_snapshot(db, &row) {
            Ok(Some(_)) => good.push((row.seq, row.body)),
            Ok(None) => {}
            Err(why) => return Err(Error::damaged(format!("the snapshot at record {} is damaged ({why})", row.seq))),
        }
    }
    Ok(good)
}

/// The life before the first record that is here, and what that record is chained to.
pub(crate) fn begin(db: &Connection) -> Result<(Option<Golem>, Hash), Error> {
    Ok(match archive::beginning(db)? {
        Some((golem, hash)) => (Some(golem), hash),
        None => (None, genesis(identity(db)?)),
    })
}

/// Reads on after one record until another, in the archive and then in the file; gives the last.
pub(crate) fn rows(
    db: &Connection,
    (after, until): (u64, u64),
    tip: &mut Hash,
    mut each: impl FnMut(Record, Option<codec::StateMark>, usize) -> Result<(), Error>,
) -> Result<u64, Error> {
    let after = archive::rows(db, (after, until), tip, &mut each)?;
    if after < until { read(db, (after, until), tip, &mut each) } else { Ok(after) }
}

/// Reads on in one file, checking that no record is missing and that each chains to the one before; gives the last.
pub(crate) fn read(
    db: &Connection,
    (after, until): (u64, u64),
    tip: &mut Hash,
    each: &mut impl FnMut(Record, Option<codec::StateMark>, usize) -> Result<(), Error>,
) -> Result<u64, Error> {
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
            return Err(Error::damaged(format!("record {expected} is missing; the next one is {seq}")));
        }
        let body = row.get_ref(1).map_err(Error::sqlite(what))?.as_blob().map_err(cell)?;
        let hash = row.get_ref(2).map_err(Error::sqlite(what))?.as_blob().map_err(cell)?;
        *tip = codec::chain(tip, seq, body);
        if hash != &tip[..] {
            return Err(Error::damaged(format!("record {seq} is damaged: its hash does not match")));
        }
        let (record, state) =
            codec::decode(seq, body).map_err(|why| Error::damaged(format!("record {seq} cannot be read: {why}")))?;
        each(record, state, body.len())?;
        expected += 1;
    }
    Ok(expected - 1)
}

fn fold(golem: &mut Option<Golem>, record: &Record) -> Result<(), Error> {
    match golem {
        Some(golem) => live_again(golem, record),
        None => guarded(record, || Golem::reborn(record)).map(|born| *golem = Some(born)),
    }
}

fn live_again(golem: &mut Golem, record: &Record) -> Result<(), Error> {
    guarded(record, || golem.fold(record))
}

/// A forged record with a valid hash may claim the impossible; the core then panics rather than bend.
fn guarded<T>(record: &Record, folding: impl FnOnce() -> Result<T, FoldError>) -> Result<T, Error> {
    let folded = catch_unwind(AssertUnwindSafe(folding));
    let folded = folded.map_err(|_| Error::damaged(format!("record {} cannot have happened", record.seq)))?;
    folded.map_err(|e| Error::damaged(format!("record {}: {e}", record.seq)))
}

fn check_state(golem: &Golem, state: Option<codec::StateMark>) -> Result<(), Error> {
    match state {
        Some(mark) if mark.layout == codec::LIFE && Some(mark) != codec::state_mark(golem.seq(), golem.life()) => {
            Err(Error::damaged(format!("after record {} the life is not the one that was lived", golem.seq())))
        }
        _ => Ok(()),
    }
}

/// The anchored record must be here, and be the same.
fn hold_against(db: &Connection, anchor: &Anchor, here: u64) -> Result<(), Error> {
    if anchor.seq == 0 {
        return Ok(());
    }
    if here < anchor.seq {
        return Err(Error::Stale { here, known: anchor.seq });
    }
    let hash = if anchor.seq < archive::base(db)? {
        // What it knows of has been archived since. If it cannot be asked, what came after still speaks for the life.
        match archive::hash_at(db, anchor.seq) {
            Err(Error::Archived { .. }) => return Ok(()),
            found => found?,
        }
    } else {
        db.query_row("SELECT hash FROM journal WHERE seq = ?1", [anchor.seq as i64], |row| row.get(0))
            .optional()
            .map_err(Error::sqlite("cannot read the journal"))?
    };
    if hash == Some(anchor.hash) { Ok(()) } else { Err(Error::Forked(anchor.seq)) }
}

/// The number of the newest record.
fn tip_of(db: &Connection) -> Result<u64, Error> {
    let newest = db.query_row("SELECT seq FROM journal ORDER BY seq DESC LIMIT 1", [], |row| row.get::<_, i64>(0));
    newest.map(|seq| seq as u64).map_err(Error::sqlite("cannot read the journal"))
}
