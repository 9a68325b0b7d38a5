//! The reader of a life: wakes it as of its newest record, replays it record by record, checks it from end to end.
//! Damage is reported in plain words and never skipped.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use golem::grimoire::Decision;
use golem::{Event, FoldError, Golem, GolemId, Record, Time};
use rusqlite::{Connection, OptionalExtension};

use crate::archive;
use crate::calls::{self, Call, CallOrigins, Calls, Refused};
use crate::codec::{self, Hash};
use crate::episodes::{self, Episode, Expected};
use crate::error::Error;
use crate::file::{check_format, genesis, identity, meta, prepare, read};
use crate::grimoire;
use crate::head::{Anchor, Head, Seal};
use crate::{reading, snapshot};

/// Something that was wrong and did no harm.
pub type Notice = String;

/// A life opened for reading; another process may be running it meanwhile.
#[derive(Debug)]
pub struct Reader {
    pub(crate) db: Connection,
}

/// A life and its calls, as of one moment.
#[derive(Debug)]
pub struct CallAccount {
    pub golem: Golem,
    /// Calls that are over, by number.
    pub calls: Vec<Call>,
    /// Of calls that are over or under way.
    pub origins: CallOrigins,
}

/// The result of a full check.
#[derive(Debug, Default)]
pub struct Check {
    /// Only records after this one were there to be checked.
    pub after: u64,
    /// Records that are missing in the middle of its archive.
    pub hole: Option<(u64, u64)>,
    pub records: u64,
    pub state_hashes: u64,
    pub bytes: u64,
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

    /// The life as of its newest record, and that record's hash; the record must be the newest that was acknowledged or
    /// come after it.
    pub fn wake_held(&self, heads: &Path) -> Result<(Golem, Hash, Vec<Notice>), Error> {
        let anchor = Head::peek(heads, identity(&self.db)?);
        let _view = self.view()?;
        let (golem, tip, _, notices) = wake(&self.db)?;
        if let Some(anchor) = anchor {
            hold_against(&self.db, &anchor, golem.seq())?;
        }
        Ok((golem, tip, notices))
    }

    /// The life before the first record that [`Reader::replay`] gives; none where that record is the birth. From here
    /// on this reader sees the life as it is now, even if it goes on and is cut meanwhile.
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

    /// Hands every record from the first that is here to `each`, its chain verified, until `each` has enough. The check
    /// returned is of the records up to there.
    pub fn replay<E: From<Error>>(
        &self,
        mut each: impl FnMut(Record) -> Result<ControlFlow<()>, E>,
    ) -> Result<Check, E> {
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

    /// Hands every record from this one on to `each`, its chain verified, until `each` has enough.
    pub fn replay_from<E: From<Error>>(
        &self,
        seq: u64,
        mut each: impl FnMut(Record) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let _view = self.view()?;
        let after = seq.saturating_sub(1);
        let mut tip = match after {
            0 => genesis(identity(&self.db)?),
            _ => self.hash_at(after)?.ok_or_else(|| Error::damaged(format!("record {after} is missing")))?,
        };
        rows(&self.db, (after, u64::MAX), &mut tip, |record, _, _| each(record)).map(|_| ())
    }

    /// Checks everything that can be checked: SQLite's own structure, the chain, every state hash, every snapshot, and
    /// that the anchored record is there.
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
        let snapshots = snapshot::good(view)?;
        let (mut golem, mut tip) = begin(view)?;
        let after = golem.as_ref().map_or(0, Golem::seq);
        let hole = archive::hole(view)?;
        let (mut check, mut expected) =
            (Check { after, hole, records: after, ..Check::default() }, Expected::default());
        let (mut known, mut called) = (grimoire::Expected::default(), Calls::default());
        rows(view, (after, u64::MAX), &mut tip, |record, state, bytes| {
            let seq = record.seq;
            fold(&mut golem, &record)?;
            let golem = golem.as_ref().expect("just folded");
            check_state(golem, state)?;
            expected.after(&record, golem);
            called.after(&record);
            decisions(&record).for_each(|decision| known.after(decision));
            if let Some((_, life)) = snapshots.iter().find(|(at, _)| *at == seq)
                && *life != codec::encode_life(golem.life())
            {
                return Err(Error::damaged(format!("the snapshot at record {seq} is not the life lived until then")));
            }
            check.records = seq;
            check.bytes += bytes as u64;
            check.state_hashes += u64::from(state.is_some_and(|mark| mark.layout == codec::LIFE));
            Ok(ControlFlow::Continue(()))
        })?;
        let golem = golem.ok_or_else(|| Error::damaged("the journal is empty"))?;
        // Tables made from records that are not here cannot be checked against them.
        if after == 0 && episodes::exists(view).map_err(Error::sqlite("cannot read the episodes"))? {
            expected.check(view)?;
        }
        if after == 0 && calls::exist(view).map_err(Error::sqlite("cannot read the calls"))? {
            called.check(view)?;
        }
        if after == 0 && grimoire::exists(view).map_err(Error::sqlite("cannot read the entries"))? {
            grimoire::check(view, &known)?;
        }
        if let Some(anchor) = anchor {
            hold_against(view, &anchor, golem.seq())?;
        }
        Ok((golem, check))
    }

    /// Refuses a file that holds anything but our own tables: a trigger, say, could act by itself.
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

    /// The newest remembered ticks, `most` at most, oldest first.
    pub fn episodes(&self, most: u64) -> Result<Vec<Episode>, Error> {
        episodes::newest(&self.db, most)
    }

    /// Calls of the golem's agent that were settled since then, by number.
    pub fn calls(&self, since: Time) -> Result<Vec<Call>, Error> {
        calls::settled_since(&self.db, since)
    }

    /// The life as of its newest record, with all calls until then.
    pub fn call_account(&self) -> Result<CallAccount, Error> {
        let _view = self.view()?;
        let (golem, ..) = wake(&self.db)?;
        let (calls, origins) = (calls::settled_since(&self.db, Time::default())?, calls::origins(&self.db)?);
        Ok(CallAccount { golem, calls, origins })
    }

    /// Refused calls, as the golem recorded them.
    pub fn refused(&self) -> Result<Vec<Refused>, Error> {
        calls::refused(&self.db)
    }

    /// All entries of the Grimoire, by number.
    pub fn entries(&self) -> Result<Vec<golem::grimoire::Entry>, Error> {
        all_entries(&self.db)
    }

    /// Entries that answer a question, by words and by the vectors of this model.
    pub fn search(&self, model: Option<&str>, query: &grimoire::Query) -> Result<Vec<grimoire::Hit>, Error> {
        grimoire::Recall::open(&self.db, model)?.search(&self.db, query)
    }

    /// Writes a consistent copy, even of a life that is running.
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

    /// The hash of one record, if there is one of this number; an error if it was archived and is not here.
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

pub(crate) fn decisions(record: &Record) -> impl Iterator<Item = &Decision> {
    record.events.iter().filter_map(|event| match event {
        Event::Grimoire(golem::grimoire::Event::Kept(decision)) => Some(&**decision),
        _ => None,
    })
}

pub(crate) fn all_entries(db: &Connection) -> Result<Vec<golem::grimoire::Entry>, Error> {
    let mut entries = Vec::new();
    grimoire::all(db, |entry| entries.push(entry))?;
    Ok(entries)
}

/// The newest good snapshot, and everything after it.
pub(crate) fn wake(db: &Connection) -> Result<(Golem, Hash, u64, Vec<Notice>), Error> {
    let mut notices = Vec::new();
    let (mut golem, mut from, mut tip) = (None, 0, genesis(identity(db)?));
    for row in snapshot::all(db)? {
        match snapshot::wake(db, &row) {
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
    // Snapshots of another version may be unreadable here, and a cut journal cannot be folded from its birth.
    if golem.is_none()
        && let Some((beginning, hash)) = archive::beginning(db)?
    {
        (from, tip) = (beginning.seq(), hash);
        golem = Some(beginning);
    }
    rows(db, (from, u64::MAX), &mut tip, |record, state, _| {
        fold(&mut golem, &record)?;
        check_state(golem.as_ref().expect("just folded"), state).map(ControlFlow::Continue)
    })?;
    let golem = golem.ok_or_else(|| Error::damaged("the journal is empty"))?;
    Ok((golem, tip, from, notices))
}

/// The life before the first record that is here, and what that record is chained to.
pub(crate) fn begin(db: &Connection) -> Result<(Option<Golem>, Hash), Error> {
    Ok(match archive::beginning(db)? {
        Some((golem, hash)) => (Some(golem), hash),
        None => (None, genesis(identity(db)?)),
    })
}

/// Reads the records after one and up to another, in the archive and then in the file, until `each` has enough; returns
/// the last one read.
pub(crate) fn rows<E: From<Error>>(
    db: &Connection,
    (after, until): (u64, u64),
    tip: &mut Hash,
    mut each: impl FnMut(Record, Option<codec::StateMark>, usize) -> Result<ControlFlow<()>, E>,
) -> Result<u64, E> {
    let (after, flow) = archive::rows(db, (after, until), tip, &mut each)?;
    if flow.is_break() || after >= until {
        return Ok(after);
    }
    read(db, (after, until), tip, &mut each).map(|(last, _)| last)
}

pub(crate) fn fold(golem: &mut Option<Golem>, record: &Record) -> Result<(), Error> {
    match golem {
        Some(golem) => live_again(golem, record),
        None => guarded(record, || Golem::reborn(record)).map(|born| *golem = Some(born)),
    }
}

pub(crate) fn live_again(golem: &mut Golem, record: &Record) -> Result<(), Error> {
    guarded(record, || golem.fold(record))
}

/// A forged record with a valid hash may claim the impossible; the core then panics rather than bend.
fn guarded<T>(record: &Record, folding: impl FnOnce() -> Result<T, FoldError>) -> Result<T, Error> {
    let folded = catch_unwind(AssertUnwindSafe(folding));
    let folded = folded.map_err(|_| Error::damaged(format!("record {} cannot have happened", record.seq)))?;
    folded.map_err(|why| Error::unfoldable(record.seq, &why))
}

fn check_state(golem: &Golem, state: Option<codec::StateMark>) -> Result<(), Error> {
    match state {
        Some(mark) if mark.layout == codec::LIFE && Some(mark) != codec::state_mark(golem.seq(), golem.life()) => {
            Err(Error::damaged(format!("after record {} the life is not the one that was lived", golem.seq())))
        }
        _ => Ok(()),
    }
}

/// Checks that the anchored record is here and is the same.
pub(crate) fn hold_against(db: &Connection, anchor: &Anchor, here: u64) -> Result<(), Error> {
    if anchor.seq == 0 {
        return Ok(());
    }
    if here < anchor.seq {
        return Err(Error::Stale { here, known: anchor.seq });
    }
    let hash = if anchor.seq < archive::base(db)? {
        // The anchored record has been archived since. If the archive is away, the later records still speak for the
        // life.
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
