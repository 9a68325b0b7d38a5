//! Episodes as rows: which ticks are remembered, why, and how they turned out. Everything in a row follows from the
//! journal, so the table can be lost and made again; what the world looked like stays in the record itself.

use golem::episode;
use golem::{Event, Golem, Life, Record};
use rusqlite::{Connection, Transaction, params};
use serde::Serialize;

use crate::error::Error;

/// One remembered tick.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Episode {
    pub number: u64,
    /// The record it stands in.
    pub seq: u64,
    pub tick: u64,
    /// Reasons, added up, as in [`golem::episode::why`].
    pub why: u8,
    /// 0 calm, 1 usual, 2 unsettled.
    pub regime: u8,
    pub surprise: f32,
    /// How stirred up it was, from −1 to 1.
    pub arousal: f32,
    pub exposed: bool,
    /// How a unit's worth changed over the horizon of the claims; none until that is over.
    pub change: Option<f32>,
    /// How much better the other choice would have been; none until the horizon is over.
    pub regret: Option<f32>,
}

/// Rows that a record adds or completes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    begun: Option<Episode>,
    ended: Vec<(u64, f32, f32)>,
}

const CREATE: &str = "CREATE TABLE IF NOT EXISTS episode(number INTEGER PRIMARY KEY, seq INTEGER NOT NULL,
    tick INTEGER NOT NULL, why INTEGER NOT NULL, regime INTEGER NOT NULL, surprise REAL NOT NULL,
    arousal REAL NOT NULL, exposed INTEGER NOT NULL, change REAL, regret REAL) STRICT;";

impl Changes {
    /// The changes of a record, given the life it led to.
    pub(crate) fn of(record: &Record, life: &Life) -> Changes {
        let mut changes = Changes::default();
        for event in &record.events {
            match event {
                Event::Episode(episode::Event::Remembered { why, .. }) => {
                    changes.begun = Some(Episode {
                        number: life.episodes().made,
                        seq: record.seq,
                        tick: life.tick(),
                        why: *why,
                        regime: life.regimes().now as u8,
                        surprise: life.episodes().surprise.last as f32,
                        arousal: life.daimon().last.arousal.max(life.daimon().mood.arousal) as f32,
                        exposed: life.episodes().pending.back().is_some_and(|pending| pending.exposed),
                        change: None,
                        regret: None,
                    });
                }
                Event::Episode(episode::Event::LookedBack { change, regret }) => {
                    changes.ended.push((0, *change, *regret))
                }
                _ => {}
            }
        }
        // Those that ended are the ones right before the oldest that has not.
        let first = life.episodes().made + 1 - life.episodes().pending.len() as u64 - changes.ended.len() as u64;
        for (at, ended) in changes.ended.iter_mut().enumerate() {
            ended.0 = first + at as u64;
        }
        changes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.begun.is_none() && self.ended.is_empty()
    }

    pub(crate) fn write(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        for (number, change, regret) in &self.ended {
            tx.prepare_cached("UPDATE episode SET change = ?2, regret = ?3 WHERE number = ?1")?.execute(params![
                *number as i64,
                change,
                regret
            ])?;
        }
        if let Some(e) = &self.begun {
            tx.prepare_cached("INSERT INTO episode VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL, NULL)")?.execute(
                params![
                    e.number as i64,
                    e.seq as i64,
                    e.tick as i64,
                    e.why,
                    e.regime,
                    e.surprise,
                    e.arousal,
                    e.exposed
                ],
            )?;
        }
        Ok(())
    }

    fn keep(&self, into: &mut Vec<Episode>) {
        for (number, change, regret) in &self.ended {
            if let Some(episode) = into.get_mut(*number as usize - 1) {
                (episode.change, episode.regret) = (Some(*change), Some(*regret));
            }
        }
        into.extend(self.begun);
    }
}

/// Collects what the table should hold while a journal is folded.
#[derive(Debug, Default)]
pub(crate) struct Expected(Vec<Episode>);

impl Expected {
    pub(crate) fn after(&mut self, record: &Record, golem: &Golem) {
        Changes::of(record, golem.life()).keep(&mut self.0);
    }

    /// Returns an error that names the first row that differs from the journal.
    pub(crate) fn check(&self, db: &Connection) -> Result<(), Error> {
        let rows = newest(db, u64::MAX)?;
        let wrong = (0..self.0.len().max(rows.len())).find(|at| self.0.get(*at) != rows.get(*at));
        match wrong {
            Some(at) => Err(Error::damaged(format!("episode {} is not what the journal says", at + 1))),
            None => Ok(()),
        }
    }

    pub(crate) fn write(&self, db: &mut Connection) -> rusqlite::Result<()> {
        let tx = db.transaction()?;
        tx.execute_batch(&format!("DROP TABLE IF EXISTS episode; {CREATE}"))?;
        for episode in &self.0 {
            let ended = episode.change.zip(episode.regret).map(|(change, regret)| (episode.number, change, regret));
            Changes { begun: Some(*episode), ended: Vec::new() }.write(&tx)?;
            Changes { begun: None, ended: ended.into_iter().collect() }.write(&tx)?;
        }
        tx.commit()
    }
}

pub(crate) fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(CREATE)
}

/// Whether the table has today's columns; a table of an earlier version counts as missing until it is rebuilt.
pub(crate) fn exists(db: &Connection) -> rusqlite::Result<bool> {
    let newest = "SELECT count(*) FROM pragma_table_info('episode') WHERE name = 'arousal'";
    db.query_row(newest, [], |row| row.get::<_, i64>(0)).map(|columns| columns > 0)
}

/// The number of episodes; an error where there is no table.
pub(crate) fn count(db: &Connection) -> rusqlite::Result<u64> {
    db.query_row("SELECT count(*) FROM episode", [], |row| row.get::<_, i64>(0)).map(|rows| rows as u64)
}

/// The newest episodes, `most` at most, oldest first.
pub(crate) fn newest(db: &Connection, most: u64) -> Result<Vec<Episode>, Error> {
    let what = "cannot read the episodes";
    if !exists(db).map_err(Error::sqlite(what))? {
        return Ok(Vec::new());
    }
    let sql = "SELECT number, seq, tick, why, regime, surprise, arousal, exposed, change, regret FROM episode
               ORDER BY number DESC LIMIT ?1";
    let mut query = db.prepare(sql).map_err(Error::sqlite(what))?;
    let rows = query
        .query_map([i64::try_from(most).unwrap_or(i64::MAX)], |row| {
            Ok(Episode {
                number: row.get::<_, i64>(0)? as u64,
                seq: row.get::<_, i64>(1)? as u64,
                tick: row.get::<_, i64>(2)? as u64,
                why: row.get(3)?,
                regime: row.get(4)?,
                surprise: row.get(5)?,
                arousal: row.get(6)?,
                exposed: row.get(7)?,
                change: row.get(8)?,
                regret: row.get(9)?,
            })
        })
        .map_err(Error::sqlite(what))?;
    let mut rows = rows.collect::<rusqlite::Result<Vec<_>>>().map_err(Error::sqlite(what))?;
    rows.reverse();
    Ok(rows)
}
