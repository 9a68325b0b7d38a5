//! One life in one file: an append-only journal, each record chained to the one before by hash, and
//! snapshots that only save time.
//!
//! To open a life is to take its lock, find the newest good snapshot, fold what came after, and hold the
//! end against the anchored head.

use std::ops::ControlFlow;
use std::path::Path;

use golem::grimoire::Decision;
use golem::mortality::phase::Phase;
use golem::{Golem, Life, Record, Span, Time};
use rusqlite::{Connection, OpenFlags, params};

use crate::archive::{self, Retention};
use crate::calls::{self, Calls};
use crate::codec::{self, Hash};
use crate::episodes::{self, Changes, Expected};
use crate::error::Error;
use crate::file::{self, FORMAT, Place, configure, connect, existing, genesis, identity, meta, prepare, set_meta};
use crate::glance::Parting;
use crate::head::{Anchor, Head, Seal};
use crate::log::LogLine;
use crate::reader::{Notice, all_entries, decisions, fold, hold_against, live_again, rows, wake};
use crate::{disk, grimoire, snapshot};

/// Records between two snapshots of a life that declines.
const DYING: u64 = 50;
/// World time between two snapshots at most. Snapshots bound how long waking up takes, not how much is lost: nothing
/// is.
const SNAPSHOT_SPAN: Span = Span::seconds(6 * 3_600);
/// The key that says by which version the tables were derived from the journal.
const DERIVED: &str = "derived";
/// The version of the derived tables.
const TABLES: &str = "4";

/// An open, locked, writable life.
#[derive(Debug)]
pub struct Vault {
    db: Connection,
    /// Dropped after the file, which must be closed first, and before the lock, which must be released last.
    parting: Parting,
    head: Head,
    tip: Hash,
    staged: Vec<(u64, Vec<u8>, Hash)>,
    remembered: Vec<Changes>,
    called: Calls,
    /// Decisions about the Grimoire, in order.
    decided: Vec<Decision>,
    snapshot_every: u64,
    last_snapshot: (u64, Time),
    retention: Retention,
    /// The record the file begins with, if that is not the birth.
    base: u64,
    /// The snapshot that was last considered for a cut.
    considered: u64,
    /// A write failed: leave every file as it is.
    spoilt: bool,
}

impl Vault {
    /// Creates the file of a life with its birth record.
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
            called: Calls::default(),
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
        let last_snapshot = (snapshot, golem.life().now());
        let base = archive::base(&db)?;
        let vault = Vault {
            db,
            parting,
            head,
            tip,
            staged: Vec::new(),
            remembered: Vec::new(),
            called: Calls::default(),
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

    /// Sets how much of the journal stays in the file from now on; the rest is archived as [`Vault::tidy`] is called.
    pub fn retain(&mut self, retention: Retention) {
        self.retention = retention;
    }

    /// Moves records that need not be kept into the archive, now and then. Nothing is lost if it fails; it is tried
    /// again.
    pub fn tidy(&mut self, life: &Life) -> Result<(), Error> {
        let newest = self.last_snapshot.0;
        if self.retention == Retention::Whole || newest == self.considered || newest < self.base + archive::STRETCH {
            return Ok(());
        }
        self.considered = newest;
        // A head that is behind is harmless as long as its record is here: it must not be behind the cut.
        let seq = tip_of(&self.db)?;
        self.head.set(Anchor { seq, hash: self.tip, seal: Seal::Open })?;
        self.parting.forget();
        let cut = archive::cut(&mut self.db, self.retention, life.now())?;
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
        self.called.after(record);
        self.decided.extend(decisions(record).cloned());
    }

    /// Writes the records of this life that the host log has and its own file has not.
    pub fn catch_up(&mut self, golem: &mut Golem, lines: &[LogLine]) -> Result<(), Error> {
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
        // A declining life may end after any tick, so snapshots come closer together.
        let every = if life.phase() <= Phase::Declining { self.snapshot_every.min(DYING) } else { self.snapshot_every };
        let due = seq - self.last_snapshot.0 >= every
            || (life.now().since(self.last_snapshot.1) >= SNAPSHOT_SPAN && seq > self.last_snapshot.0);
        let tx = self.db.transaction()?;
        {
            let mut insert = tx.prepare_cached("INSERT INTO journal(seq, body, hash) VALUES(?1, ?2, ?3)")?;
            for (seq, body, hash) in &self.staged {
                insert.execute(params![*seq as i64, body, hash])?;
            }
            for changes in self.remembered.iter().filter(|changes| !changes.is_empty()) {
                changes.write(&tx)?;
            }
            self.called.write(&tx)?;
            for decision in &self.decided {
                grimoire::write(&tx, decision)?;
            }
            if due {
                // Where a journal is kept for a span, one snapshot in each stretch is kept to be cut at.
                let marks = if matches!(self.retention, Retention::Span(_)) { archive::STRETCH } else { 0 };
                snapshot::write(&tx, (seq, &self.tip), life, self.base, marks)?;
            }
        }
        disk::commit("a journal", tx)?;
        self.staged.clear();
        self.remembered.clear();
        self.called.clear();
        self.decided.clear();
        if due {
            self.last_snapshot = (seq, life.now());
        }
        Ok(())
    }

    /// All entries of the Grimoire, by number.
    pub fn entries(&self) -> Result<Vec<golem::grimoire::Entry>, Error> {
        all_entries(&self.db)
    }

    /// Entries that have no vector of this model yet.
    pub fn to_embed(&self, model: &str, most: usize) -> Result<Vec<grimoire::UnembeddedEntry>, Error> {
        grimoire::to_embed(&self.db, model, most)
    }

    /// Stores a model's vector of an entry's text; false if the text has changed since.
    pub fn embed(&self, waiting: &grimoire::UnembeddedEntry, model: &str, vector: &[f32]) -> Result<bool, Error> {
        grimoire::embed(&self.db, waiting, model, vector)
    }

    /// Begins a move: this copy refuses to run from now on.
    pub fn seal(mut self, folder: &Path, to: &str) -> Result<Head, Error> {
        let note = folder.join("MOVED");
        std::fs::write(&note, to).map_err(Error::io("cannot write", &note))?;
        self.head.seal(Seal::Leaving)?;
        Ok(self.head)
    }
}

/// Brings a file of an earlier version up to date: the layout of what may be written to it from here on, and the
/// derived tables (episodes, calls, Grimoire), made from the journal.
fn bring_up_to_date(db: &mut Connection, life: &Life) -> Result<(), Error> {
    let what = "cannot bring the journal up to date";
    let format = if archive::base(db)? > 0 { file::CUT } else { FORMAT }.to_string();
    let layout = codec::layout_now();
    if meta(db, "layout")? != layout || meta(db, "format")? != format {
        let hash = blake3::hash(layout.as_bytes()).to_hex().to_string();
        let tx = db.transaction().map_err(Error::sqlite(what))?;
        for (key, value) in [("layout", layout), ("layout_hash", &hash), ("format", &format)] {
            set_meta(&tx, key, value).map_err(Error::sqlite(what))?;
        }
        tx.commit().map_err(Error::sqlite(what))?;
    }
    let whole = episodes::count(db).is_ok_and(|rows| rows == life.episodes().made)
        && calls::exist(db).map_err(Error::sqlite(what))?
        && grimoire::exists(db).map_err(Error::sqlite(what))?
        && is_derived(db);
    if whole {
        return grimoire::prepare(db).and_then(|()| calls::prepare(db)).map_err(Error::sqlite(what));
    }
    let (mut golem, mut expected, mut tip) = (None, Expected::default(), genesis(identity(db)?));
    let (mut known, mut called) = (grimoire::Expected::default(), Calls::default());
    rows(db, (0, u64::MAX), &mut tip, |record, _, _| {
        fold(&mut golem, &record)?;
        expected.after(&record, golem.as_ref().expect("just folded"));
        called.after(&record);
        decisions(&record).for_each(|decision| known.after(decision));
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    // Marked only when all of it is there, so that a crash in between starts over.
    expected.write(db).map_err(Error::sqlite(what))?;
    called.rebuild(db).map_err(Error::sqlite(what))?;
    grimoire::rebuild(db, &known).map_err(Error::sqlite(what))?;
    grimoire::prepare(db).and_then(|()| set_meta(db, DERIVED, TABLES)).map_err(Error::sqlite(what))
}

/// Whether the derived tables are of this version.
pub(crate) fn is_derived(db: &Connection) -> bool {
    meta(db, DERIVED).is_ok_and(|made| made == TABLES)
}

/// The number of the newest record.
fn tip_of(db: &Connection) -> Result<u64, Error> {
    let newest = db.query_row("SELECT seq FROM journal ORDER BY seq DESC LIMIT 1", [], |row| row.get::<_, i64>(0));
    newest.map(|seq| seq as u64).map_err(Error::sqlite("cannot read the journal"))
}
