//! The owner's purse: one ledger in the home, from which golems are funded and to which they return.
//!
//! Money on its way is never nowhere: a transfer to a golem is numbered here before the golem takes it, a
//! deposit is numbered by the golem before the treasury does, and each number counts once.

use std::path::Path;

use golem::{GolemId, Usdc};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use serde::Serialize;

use crate::error::Error;
use crate::reading;

#[derive(Debug)]
pub struct Treasury {
    pub(crate) db: Connection,
}

/// How a life passes between homes. It carries its own money, so the line that says so moves none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// An archive is being taken in; it may be tried again.
    Arriving,
    /// It was taken in, and is never again.
    Arrived,
    /// It was moved out.
    Left,
}

impl Passing {
    fn word(self) -> &'static str {
        match self {
            Passing::Arriving => "arriving",
            Passing::Arrived => "arrived",
            Passing::Left => "left",
        }
    }
}

/// Money sent to a golem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Transfer {
    pub number: u64,
    pub credit: Usdc,
    pub capital: Usdc,
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    pub kind: String,
    pub golem: Option<String>,
    pub number: u64,
    pub amount: Usdc,
    pub balance: Usdc,
}

impl Treasury {
    pub fn open(path: &Path) -> Result<Treasury, Error> {
        Ok(Treasury { db: connect(path).map_err(Error::sqlite("cannot open the treasury"))? })
    }

    /// For whoever only looks: where nothing can be written, such as on a full disk, it can still be read. Nobody who
    /// means to write may hold on to it.
    pub fn to_read(path: &Path) -> Result<Treasury, Error> {
        let db = connect(path).or_else(|why| if reading::no_room(&why) { reading::open(path) } else { Err(why) });
        Ok(Treasury { db: db.map_err(Error::sqlite("cannot open the treasury"))? })
    }

    /// A consistent copy of the whole ledger.
    pub fn copy_to(&self, path: &Path) -> Result<(), Error> {
        let what = "cannot copy the treasury";
        let mut copy = Connection::open(path).map_err(Error::sqlite(what))?;
        let backup = rusqlite::backup::Backup::new(&self.db, &mut copy).map_err(Error::sqlite(what))?;
        backup.run_to_completion(4_096, std::time::Duration::ZERO, None).map_err(Error::sqlite(what))?;
        drop(backup);
        copy.pragma_update(None, "journal_mode", "DELETE").map_err(Error::sqlite(what))?;
        drop(copy);
        std::fs::File::open(path).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", path))
    }

    pub fn balance(&self) -> Result<Usdc, Error> {
        balance(&self.db).map_err(Error::sqlite("cannot read the treasury"))
    }

    /// The first money of a treasury that has never had any; does nothing to one that has.
    pub fn begin_with(&mut self, amount: Usdc) -> Result<Usdc, Error> {
        self.write(|tx| match rows(tx)? {
            0 if amount.is_positive() => post(tx, "added", None, 1, amount, Usdc::ZERO, amount),
            _ => balance(tx),
        })
    }

    /// Whether anything was ever sent to a golem from here.
    pub fn has_sent(&self, to: GolemId) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM ledger WHERE kind = 'sent' AND golem = ?1 LIMIT 1";
        let found = self.db.query_row(sql, [to.to_string()], |_| Ok(())).optional();
        Ok(found.map_err(Error::sqlite("cannot read the treasury"))?.is_some())
    }

    /// Recomputes every balance from the first line; the number of the first line that does not add up.
    pub fn audit(&self) -> Result<Option<u64>, Error> {
        let read = || -> rusqlite::Result<Option<u64>> {
            let mut query =
                self.db.prepare("SELECT line, kind, credit + capital, balance FROM ledger ORDER BY line")?;
            let mut rows = query.query([])?;
            let mut sum = 0_i64;
            while let Some(row) = rows.next()? {
                let amount: i64 = row.get(2)?;
                sum += if row.get::<_, String>(1)? == "sent" { -amount } else { amount };
                if sum != row.get::<_, i64>(3)? {
                    return row.get::<_, i64>(0).map(|line| Some(line as u64));
                }
            }
            Ok(None)
        };
        read().map_err(Error::sqlite("cannot read the treasury"))
    }

    /// Money from outside. Paper, until an owner says otherwise.
    pub fn add(&mut self, amount: Usdc) -> Result<Usdc, Error> {
        if !amount.is_positive() || amount > Usdc::MOST {
            return Err(Error::Amount);
        }
        self.write(|tx| {
            let number = rows(tx)? + 1;
            post(tx, "added", None, number, amount, Usdc::ZERO, amount)
        })
    }

    /// Sets money aside for a golem, which will take it under the number returned. `taken` is the highest
    /// number the golem has taken already, perhaps from another home's treasury.
    pub fn send(&mut self, to: GolemId, taken: u64, credit: Usdc, capital: Usdc) -> Result<Transfer, Error> {
        self.send_for(None, to, taken, credit, capital)
    }

    /// The same, on account of a letter: the same letter again sends nothing more.
    pub fn send_for(
        &mut self,
        letter: Option<&str>,
        to: GolemId,
        taken: u64,
        credit: Usdc,
        capital: Usdc,
    ) -> Result<Transfer, Error> {
        let bounded = |amount: Usdc| amount >= Usdc::ZERO && amount <= Usdc::MOST;
        if !bounded(credit) || !bounded(capital) {
            return Err(Error::Amount);
        }
        let (asked, mut number, mut there) = (credit + capital, 0, Usdc::ZERO);
        self.write(|tx| {
            there = balance(tx)?;
            let known = "SELECT number FROM ledger WHERE letter = ?1";
            if let Some(sent) = tx.query_row(known, [letter], |row| row.get::<_, i64>(0)).optional()? {
                number = sent as u64;
                return Ok(there);
            }
            if asked > there {
                return Ok(there);
            }
            let sql = "SELECT MAX(number) FROM ledger WHERE kind = 'sent' AND golem = ?1";
            let last: Option<i64> = tx.query_row(sql, [to.to_string()], |row| row.get(0))?;
            number = taken.max(last.unwrap_or(0) as u64) + 1;
            let after = post(tx, "sent", Some(to), number, credit, capital, -asked)?;
            let mark = "UPDATE ledger SET letter = ?1 WHERE kind = 'sent' AND golem = ?2 AND number = ?3";
            tx.execute(mark, params![letter, to.to_string(), number as i64])?;
            Ok(after)
        })?;
        if number == 0 { Err(Error::TreasuryShort { asked, there }) } else { Ok(Transfer { number, credit, capital }) }
    }

    /// What was sent to a golem after the last it took, in order.
    pub fn undelivered(&self, to: GolemId, taken: u64) -> Result<Vec<Transfer>, Error> {
        let read = || -> rusqlite::Result<Vec<Transfer>> {
            let sql = "SELECT number, credit, capital FROM ledger
                       WHERE kind = 'sent' AND golem = ?1 AND number > ?2 ORDER BY number";
            let mut query = self.db.prepare_cached(sql)?;
            let rows = query.query_map(params![to.to_string(), taken as i64], |row| {
                Ok(Transfer {
                    number: row.get::<_, i64>(0)? as u64,
                    credit: Usdc::micros(row.get(1)?),
                    capital: Usdc::micros(row.get(2)?),
                })
            })?;
            rows.collect()
        };
        read().map_err(Error::sqlite("cannot read the treasury"))
    }

    /// Takes a deposit in, once: the same number again changes nothing.
    pub fn receive(&mut self, from: GolemId, number: u64, amount: Usdc) -> Result<(), Error> {
        self.write(|tx| {
            let sql = "SELECT 1 FROM ledger WHERE kind = 'received' AND golem = ?1 AND number = ?2";
            let known = tx.query_row(sql, params![from.to_string(), number as i64], |_| Ok(())).optional()?;
            if known.is_some() {
                return balance(tx);
            }
            post(tx, "received", Some(from), number, amount, Usdc::ZERO, amount)
        })
        .map(|_| ())
    }

    /// The highest deposit number received from a golem.
    pub fn received(&self, from: GolemId) -> Result<u64, Error> {
        let sql = "SELECT MAX(number) FROM ledger WHERE kind = 'received' AND golem = ?1";
        self.db
            .query_row(sql, [from.to_string()], |row| row.get::<_, Option<i64>>(0))
            .map(|number| number.unwrap_or(0) as u64)
            .map_err(Error::sqlite("cannot read the treasury"))
    }

    /// Writes down that a life came or went under this number; once, however often it is said.
    pub fn note(&mut self, passing: Passing, golem: GolemId, number: u64) -> Result<(), Error> {
        self.write(|tx| {
            let known = "SELECT 1 FROM ledger WHERE kind = ?1 AND golem = ?2 AND number = ?3";
            let known = tx
                .query_row(known, params![passing.word(), golem.to_string(), number as i64], |_| Ok(()))
                .optional()?;
            match known {
                Some(()) => balance(tx),
                None => post(tx, passing.word(), Some(golem), number, Usdc::ZERO, Usdc::ZERO, Usdc::ZERO),
            }
        })
        .map(|_| ())
    }

    /// The numbers under which a life came or went.
    pub fn noted(&self, passing: Passing, golem: GolemId) -> Result<Vec<u64>, Error> {
        let read = || -> rusqlite::Result<Vec<u64>> {
            let sql = "SELECT number FROM ledger WHERE kind = ?1 AND golem = ?2 ORDER BY line";
            let mut query = self.db.prepare_cached(sql)?;
            let rows = query.query_map(params![passing.word(), golem.to_string()], |row| row.get::<_, i64>(0))?;
            rows.map(|number| number.map(|number| number as u64)).collect()
        };
        read().map_err(Error::sqlite("cannot read the treasury"))
    }

    /// The newest lines, newest first.
    pub fn entries(&self, most: usize) -> Result<Vec<Entry>, Error> {
        let read = || -> rusqlite::Result<Vec<Entry>> {
            let sql = "SELECT kind, golem, number, credit + capital, balance FROM ledger ORDER BY line DESC LIMIT ?1";
            let mut query = self.db.prepare(sql)?;
            let rows = query.query_map([most as i64], |row| {
                Ok(Entry {
                    kind: row.get(0)?,
                    golem: row.get(1)?,
                    number: row.get::<_, i64>(2)? as u64,
                    amount: Usdc::micros(row.get(3)?),
                    balance: Usdc::micros(row.get(4)?),
                })
            })?;
            rows.collect()
        };
        read().map_err(Error::sqlite("cannot read the treasury"))
    }

    pub(crate) fn write(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<Usdc>,
    ) -> Result<Usdc, Error> {
        let what = "cannot write the treasury";
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(Error::sqlite(what))?;
        let balance = work(&tx).map_err(Error::sqlite(what))?;
        tx.commit().map_err(Error::sqlite(what))?;
        Ok(balance)
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.busy_timeout(std::time::Duration::from_secs(10))?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.execute_batch(
        "CREATE TABLE IF NOT EXISTS ledger(
           line INTEGER PRIMARY KEY, kind TEXT NOT NULL, golem TEXT, number INTEGER NOT NULL,
           credit INTEGER NOT NULL, capital INTEGER NOT NULL, balance INTEGER NOT NULL CHECK(balance >= 0),
           letter TEXT UNIQUE, UNIQUE(kind, golem, number)) STRICT;",
    )?;
    Ok(db)
}

pub(crate) fn balance(db: &Connection) -> rusqlite::Result<Usdc> {
    let sql = "SELECT balance FROM ledger ORDER BY line DESC LIMIT 1";
    Ok(Usdc::micros(db.query_row(sql, [], |row| row.get(0)).optional()?.unwrap_or(0)))
}

pub(crate) fn rows(tx: &Transaction<'_>) -> rusqlite::Result<u64> {
    tx.query_row("SELECT COUNT(*) FROM ledger", [], |row| row.get::<_, i64>(0)).map(|n| n as u64)
}

pub(crate) fn post(
    tx: &Transaction<'_>,
    kind: &str,
    golem: Option<GolemId>,
    number: u64,
    credit: Usdc,
    capital: Usdc,
    change: Usdc,
) -> rusqlite::Result<Usdc> {
    let after = balance(tx)? + change;
    let sql = "INSERT INTO ledger(kind, golem, number, credit, capital, balance) VALUES(?1, ?2, ?3, ?4, ?5, ?6)";
    let golem = golem.map(|id| id.to_string());
    tx.execute(sql, params![kind, golem, number as i64, credit.as_micros(), capital.as_micros(), after.as_micros()])?;
    Ok(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_counts_once_and_nothing_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("treasury.db");
        let ada = GolemId([1; 16]);
        let mut treasury = Treasury::open(&path).unwrap();
        treasury.add(Usdc::dollars(100)).unwrap();
        let first = treasury.send(ada, 0, Usdc::dollars(10), Usdc::dollars(50)).unwrap();
        assert_eq!(first.number, 1);
        assert!(matches!(
            treasury.send(ada, 0, Usdc::dollars(41), Usdc::ZERO),
            Err(Error::TreasuryShort { there, .. }) if there == Usdc::dollars(40)
        ));
        drop(treasury);

        let mut treasury = Treasury::open(&path).unwrap();
        assert_eq!(treasury.undelivered(ada, 0).unwrap(), vec![first]);
        assert_eq!(treasury.undelivered(ada, 1).unwrap(), vec![]);
        for _ in 0..3 {
            treasury.receive(ada, 1, Usdc::dollars(60)).unwrap();
        }
        assert_eq!(treasury.balance().unwrap(), Usdc::dollars(100));
        assert_eq!(treasury.received(ada).unwrap(), 1);
        // A golem that came from another home goes on counting where it was.
        assert_eq!(treasury.send(ada, 7, Usdc::dollars(1), Usdc::ZERO).unwrap().number, 8);
    }
}
