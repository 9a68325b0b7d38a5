//! Calls as rows: the outcome of each, and the refusals. Everything in a row follows from the journal, so the tables
//! can be lost and made again.

use std::collections::BTreeMap;

use golem::call::{self, CallOrigin, How};
use golem::{Event, Record, Time, Usdc};
use rusqlite::{Connection, Transaction, params};
use serde::Serialize;

use crate::error::Error;

/// Origins of calls, over or not, by their numbers; a call whose agent says nothing has none.
pub type CallOrigins = BTreeMap<u64, CallOrigin>;

/// One call that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Call {
    pub number: u64,
    /// When it was settled.
    pub at: Time,
    /// Empty for a call whose process was gone when it was settled.
    pub model: String,
    pub input: u32,
    pub output: u32,
    pub cost: Usdc,
    /// What the provider billed over the reservation; not paid.
    pub over: Usdc,
    pub how: How,
    pub took_ms: u32,
}

/// Calls refused for the same reason, counted together as the golem recorded them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    pub seq: u64,
    pub at: Time,
    pub code: String,
    pub times: u32,
}

const CREATE: &str = "CREATE TABLE IF NOT EXISTS call(number INTEGER PRIMARY KEY, at INTEGER NOT NULL,
    model TEXT NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, cost INTEGER NOT NULL,
    over INTEGER NOT NULL, how TEXT NOT NULL, took_ms INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS refusal(seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, code TEXT NOT NULL,
    times INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS origin(number INTEGER PRIMARY KEY, session TEXT NOT NULL, agent TEXT NOT NULL,
    under TEXT NOT NULL, kind TEXT NOT NULL, tool TEXT NOT NULL) STRICT;";

/// Rows that records add to the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    settled: Vec<Call>,
    refused: Vec<Refused>,
    origins: CallOrigins,
}

impl Calls {
    pub(crate) fn after(&mut self, record: &Record) {
        for event in &record.events {
            match event {
                Event::Call(call::Event::Settled { key, cost, over, how, used }) => self.settled.push(Call {
                    number: *key,
                    at: record.at,
                    model: used.model.clone(),
                    input: used.input,
                    output: used.output,
                    cost: *cost,
                    over: *over,
                    how: *how,
                    took_ms: used.took,
                }),
                Event::Call(call::Event::Refused { by, times }) => {
                    let code = by.code().to_owned();
                    self.refused.push(Refused { seq: record.seq, at: record.at, code, times: *times });
                }
                Event::Call(call::Event::Attributed { key, origin }) => {
                    self.origins.insert(*key, (**origin).clone());
                }
                _ => {}
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.settled.clear();
        self.refused.clear();
        self.origins.clear();
    }

    pub(crate) fn write(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        for call in &self.settled {
            tx.prepare_cached("INSERT OR REPLACE INTO call VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?.execute(
                params![
                    call.number as i64,
                    call.at.as_millis() as i64,
                    call.model,
                    call.input,
                    call.output,
                    call.cost.as_micros(),
                    call.over.as_micros(),
                    word(call.how),
                    call.took_ms
                ],
            )?;
        }
        for refused in &self.refused {
            tx.prepare_cached("INSERT OR REPLACE INTO refusal VALUES(?1, ?2, ?3, ?4)")?.execute(params![
                refused.seq as i64,
                refused.at.as_millis() as i64,
                refused.code,
                refused.times
            ])?;
        }
        for (number, origin) in &self.origins {
            let CallOrigin { session, agent, under, kind, tool } = origin;
            tx.prepare_cached("INSERT OR REPLACE INTO origin VALUES(?1, ?2, ?3, ?4, ?5, ?6)")?.execute(params![
                *number as i64,
                session,
                agent,
                under,
                kind,
                tool
            ])?;
        }
        Ok(())
    }

    /// Rebuilds the tables. Rows older than the first record of the file are known from the tables alone, and stay.
    pub(crate) fn rebuild(&self, db: &mut Connection) -> rusqlite::Result<()> {
        let tx = db.transaction()?;
        tx.execute_batch(CREATE)?;
        self.write(&tx)?;
        tx.commit()
    }

    /// Returns an error that names the first row that differs from the journal.
    pub(crate) fn check(&self, db: &Connection) -> Result<(), Error> {
        let (mut settled, refused) = (self.settled.clone(), refused(db)?);
        settled.sort_by_key(|call| call.number);
        let rows = settled_since(db, Time::default())?;
        if let Some(at) = (0..settled.len().max(rows.len())).find(|at| settled.get(*at) != rows.get(*at)) {
            let number = settled.get(at).or(rows.get(at)).map_or(0, |call| call.number);
            return Err(Error::damaged(format!("call {number} is not what the journal says")));
        }
        if refused != self.refused {
            return Err(Error::damaged("the refusals are not what the journal says"));
        }
        if origins(db)? != self.origins {
            return Err(Error::damaged("the origins of calls are not what the journal says"));
        }
        Ok(())
    }
}

fn word(how: How) -> &'static str {
    match how {
        How::Told => "told",
        How::Nothing => "nothing",
        How::Cut => "cut",
        How::Lost => "lost",
    }
}

pub(crate) fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(CREATE)
}

/// Whether there are such tables; a file from an earlier version has none until it is brought up to date.
pub(crate) fn exist(db: &Connection) -> rusqlite::Result<bool> {
    let names = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('call', 'refusal')";
    db.query_row(names, [], |row| row.get::<_, i64>(0)).map(|tables| tables == 2)
}

/// Calls settled since then, by number.
pub(crate) fn settled_since(db: &Connection, since: Time) -> Result<Vec<Call>, Error> {
    let what = "cannot read the calls";
    if !exist(db).map_err(Error::sqlite(what))? {
        return Ok(Vec::new());
    }
    let sql = "SELECT number, at, model, input, output, cost, over, how, took_ms FROM call WHERE at >= ?1
               ORDER BY number";
    let mut query = db.prepare(sql).map_err(Error::sqlite(what))?;
    let rows = query.query_map([since.as_millis() as i64], |row| {
        let how: String = row.get(7)?;
        let how = [How::Told, How::Nothing, How::Cut].into_iter().find(|known| word(*known) == how);
        Ok(Call {
            number: row.get::<_, i64>(0)? as u64,
            at: Time::millis(row.get::<_, i64>(1)? as u64),
            model: row.get(2)?,
            input: row.get(3)?,
            output: row.get(4)?,
            cost: Usdc::micros(row.get(5)?),
            over: Usdc::micros(row.get(6)?),
            how: how.unwrap_or(How::Lost),
            took_ms: row.get(8)?,
        })
    });
    rows.and_then(Iterator::collect).map_err(Error::sqlite(what))
}

pub(crate) fn refused(db: &Connection) -> Result<Vec<Refused>, Error> {
    let what = "cannot read what was refused";
    if !exist(db).map_err(Error::sqlite(what))? {
        return Ok(Vec::new());
    }
    let mut query = db.prepare("SELECT seq, at, code, times FROM refusal ORDER BY seq").map_err(Error::sqlite(what))?;
    let rows = query.query_map([], |row| {
        Ok(Refused {
            seq: row.get::<_, i64>(0)? as u64,
            at: Time::millis(row.get::<_, i64>(1)? as u64),
            code: row.get(2)?,
            times: row.get(3)?,
        })
    });
    rows.and_then(Iterator::collect).map_err(Error::sqlite(what))
}

pub(crate) fn origins(db: &Connection) -> Result<CallOrigins, Error> {
    let what = "cannot read where calls come from";
    // A file that an earlier version wrote last has no such table.
    let there = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'origin'";
    if db.query_row(there, [], |row| row.get::<_, i64>(0)).map_err(Error::sqlite(what))? == 0 {
        return Ok(CallOrigins::new());
    }
    let sql = "SELECT number, session, agent, under, kind, tool FROM origin";
    let mut query = db.prepare(sql).map_err(Error::sqlite(what))?;
    let rows = query.query_map([], |row| {
        let (session, agent, under) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let origin = CallOrigin { session, agent, under, kind: row.get(4)?, tool: row.get(5)? };
        Ok((row.get::<_, i64>(0)? as u64, origin))
    });
    rows.and_then(Iterator::collect).map_err(Error::sqlite(what))
}
