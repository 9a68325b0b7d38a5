//! The owner's treasury: one ledger in the home, from which golems are funded and to which their money returns.
//!
//! Money in transit is always on record: a transfer to a golem is numbered here before the golem takes it, a deposit is
//! numbered by the golem before the treasury takes it, and each number counts once.
//!
//! Lines are only ever added, each chained to the one before by hash, and a head outside the file knows the newest.
//! Opening the ledger checks its end against that head; taking money by a line checks that line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use golem::{GolemId, Usdc};
use rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};
use serde::Serialize;

use crate::codec::Hash;
use crate::disk;
use crate::error::Error;
use crate::head::{Anchor, Head, Seal};
use crate::reading;

/// The head of the treasury stands among those of lives.
pub(crate) const HEAD: GolemId = GolemId(*b"bardo's treasury");
/// How long to wait for another process that is writing a line.
const PATIENCE: Duration = Duration::from_secs(10);
/// The seed of the chain of lines.
const GENESIS: &[u8] = b"bardo treasury";
const ROW: &str = "line, kind, golem, number, credit, capital, balance, letter, about, hash";

#[derive(Debug)]
pub struct Treasury {
    pub(crate) db: Connection,
    heads: PathBuf,
}

/// A step of a life's move between homes. The life carries its own money, so the line that records the step moves none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// An archive is being taken in; it may be tried again.
    Arriving,
    /// The archive was taken in, and never can be again.
    Arrived,
    /// The life was moved out.
    Left,
}

impl Passing {
    pub fn word(self) -> &'static str {
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
pub struct TreasuryEntry {
    pub kind: String,
    pub golem: Option<String>,
    pub number: u64,
    pub amount: Usdc,
    pub balance: Usdc,
}

/// A line as written and chained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreasuryRow {
    pub line: u64,
    pub kind: String,
    pub golem: Option<String>,
    pub number: u64,
    pub credit: Usdc,
    pub capital: Usdc,
    pub balance: Usdc,
    /// The letter that asked for this money.
    pub letter: Option<String>,
    /// The text of a line that moves no money.
    pub about: Option<String>,
    pub hash: Hash,
}

/// The content of a new line; number, balance and hash follow from the line before.
#[derive(Debug, Default)]
pub(crate) struct Post<'a> {
    pub(crate) kind: &'a str,
    pub(crate) golem: Option<GolemId>,
    pub(crate) number: u64,
    pub(crate) credit: Usdc,
    pub(crate) capital: Usdc,
    pub(crate) letter: Option<&'a str>,
    pub(crate) about: Option<&'a str>,
}

impl TreasuryRow {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<TreasuryRow> {
        Ok(TreasuryRow {
            line: row.get::<_, i64>(0)? as u64,
            kind: row.get(1)?,
            golem: row.get(2)?,
            number: row.get::<_, i64>(3)? as u64,
            credit: Usdc::micros(row.get(4)?),
            capital: Usdc::micros(row.get(5)?),
            balance: Usdc::micros(row.get(6)?),
            letter: row.get(7)?,
            about: row.get(8)?,
            hash: row.get(9)?,
        })
    }

    /// The hash over the hash of the line before and everything this line says, as a JSON list.
    fn chained(&self, before: &Hash) -> Hash {
        let said = (self.line, &self.kind, &self.golem, self.number, self.credit, self.capital, self.balance);
        let said = serde_json::to_vec(&(said, &self.letter, &self.about)).expect("plain data");
        *blake3::Hasher::new().update(before).update(&said).finalize().as_bytes()
    }

    /// The change this line makes to the balance.
    fn change(&self) -> Usdc {
        if self.kind == "sent" { -(self.credit + self.capital) } else { self.credit + self.capital }
    }
}

impl Treasury {
    pub fn path(root: &Path) -> PathBuf {
        root.join("treasury.db")
    }

    /// Whether there is a treasury, or ever was.
    pub fn is_known(root: &Path, heads: &Path) -> bool {
        Treasury::path(root).exists() || Head::path(heads, HEAD).exists()
    }

    /// Begins a ledger where there never was one, with its first money; an existing ledger gets none.
    pub fn begin(root: &Path, heads: &Path, amount: Usdc) -> Result<Treasury, Error> {
        let path = Treasury::path(root);
        let known = Head::peek(heads, HEAD).map(|anchor| anchor.seq);
        if !Treasury::is_known(root, heads) {
            // The head first: a ledger without one is never trusted.
            Head::create(heads, HEAD, Anchor { seq: 0, hash: genesis(), seal: Seal::Open })?;
        }
        if !path.exists() && known.unwrap_or(0) == 0 {
            make(&path)?;
        }
        let mut treasury = Treasury::open(root, heads)?;
        if amount.is_positive() {
            let first = Post { kind: "added", number: 1, credit: amount, ..Post::default() };
            treasury.write(|tx| {
                if newest(tx)?.is_none() {
                    post(tx, &first)?;
                }
                Ok(Ok(()))
            })?;
        }
        Ok(treasury)
    }

    /// Opens the ledger, which must have everything that was acknowledged.
    pub fn open(root: &Path, heads: &Path) -> Result<Treasury, Error> {
        Treasury::held(root, heads, |path| connect(path, OpenFlags::default() & !OpenFlags::SQLITE_OPEN_CREATE))
    }

    /// Opens the ledger for reading: it works where nothing can be written, such as on a full disk. A caller that means
    /// to write must not keep it.
    pub fn to_read(root: &Path, heads: &Path) -> Result<Treasury, Error> {
        Treasury::held(root, heads, |path| {
            let db = connect(path, OpenFlags::default() & !OpenFlags::SQLITE_OPEN_CREATE);
            db.or_else(|why| if reading::no_room(&why) { reading::open(path) } else { Err(why) })
        })
    }

    fn held(
        root: &Path,
        heads: &Path,
        connect: impl FnOnce(&Path) -> rusqlite::Result<Connection>,
    ) -> Result<Treasury, Error> {
        // Before the file is looked at: another process that writes meanwhile only gets ahead of what is known now.
        let known = Head::peek(heads, HEAD).ok_or_else(|| headless(heads))?;
        let path = Treasury::path(root);
        if !path.exists() {
            return Err(Error::unanchored(format!(
                "{} is missing, and line {} of it was acknowledged",
                path.display(),
                known.seq
            )));
        }
        let what = "cannot open the treasury";
        let db = connect(&path).map_err(Error::store(what))?;
        // On damage nothing may be tidied away: a closing connection would fold the log into the file.
        db.set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(Error::store(what))?;
        hold_against(&db, &known)?;
        db.set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(Error::store(what))?;
        Ok(Treasury { db, heads: heads.to_owned() })
    }

    /// Writes a consistent copy of the whole ledger.
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
        let newest = newest(&self.db).map_err(Error::store("cannot read the treasury"))?;
        Ok(newest.map_or(Usdc::ZERO, |row| row.balance))
    }

    /// Whether anything was ever sent to a golem from here.
    pub fn has_sent(&self, to: GolemId) -> Result<bool, Error> {
        Ok(!self.rows("sent", to, 0)?.is_empty())
    }

    /// Checks everything: the file, the chain from its first line, every balance. Returns the number of lines.
    pub fn audit(&self) -> Result<u64, Error> {
        let what = "cannot read the treasury";
        let known = Head::peek(&self.heads, HEAD).ok_or_else(|| headless(&self.heads))?;
        let sound: String = self
            .db
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .map_err(Error::store("cannot check the treasury"))?;
        if sound != "ok" {
            return Err(Error::unanchored(format!("the treasury is damaged: {sound}")));
        }
        hold_against(&self.db, &known)?;
        let (rows, trouble) = chain(&self.db).map_err(Error::store(what))?;
        trouble.map_or(Ok(rows.len() as u64), |why| Err(Error::unanchored(why)))
    }

    /// Adds money from outside; paper, until an owner says otherwise.
    pub fn add(&mut self, amount: Usdc) -> Result<Usdc, Error> {
        if !amount.is_positive() || amount > Usdc::MOST {
            return Err(Error::Amount);
        }
        self.write(|tx| {
            let number = newest(tx)?.map_or(0, |row| row.line) + 1;
            post(tx, &Post { kind: "added", number, credit: amount, ..Post::default() })?;
            Ok(Ok(()))
        })?;
        self.balance()
    }

    /// Sets money aside for a golem, which will take it under the number returned. `taken` is the highest
    /// number the golem has taken already, perhaps from another home's treasury.
    pub fn send(&mut self, to: GolemId, taken: u64, credit: Usdc, capital: Usdc) -> Result<Transfer, Error> {
        self.send_for(None, to, taken, credit, capital)
    }

    /// Sends money on account of a letter: the same letter again sends nothing more.
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
        let asked = credit + capital;
        self.write(|tx| {
            let known = "SELECT number FROM ledger WHERE letter = ?1";
            if let Some(sent) = tx.query_row(known, [letter], |row| row.get::<_, i64>(0)).optional()? {
                return Ok(Ok(Transfer { number: sent as u64, credit, capital }));
            }
            let there = newest(tx)?.map_or(Usdc::ZERO, |row| row.balance);
            if asked > there {
                return Ok(Err(Error::TreasuryShort { asked, there }));
            }
            let sql = "SELECT MAX(number) FROM ledger WHERE kind = 'sent' AND golem = ?1";
            let last: Option<i64> = tx.query_row(sql, [to.to_string()], |row| row.get(0))?;
            let number = taken.max(last.unwrap_or(0) as u64) + 1;
            post(tx, &Post { kind: "sent", golem: Some(to), number, credit, capital, letter, about: None })?;
            Ok(Ok(Transfer { number, credit, capital }))
        })
    }

    /// Transfers to a golem after the last it took, in order.
    pub fn undelivered(&self, to: GolemId, taken: u64) -> Result<Vec<Transfer>, Error> {
        let transfer = |row: TreasuryRow| Transfer { number: row.number, credit: row.credit, capital: row.capital };
        Ok(self.rows("sent", to, taken)?.into_iter().map(transfer).collect())
    }

    /// Takes a deposit in, once: the same number again changes nothing, and must not name another amount.
    pub fn receive(&mut self, from: GolemId, number: u64, amount: Usdc) -> Result<(), Error> {
        self.write(|tx| {
            let sql = "SELECT credit FROM ledger WHERE kind = 'received' AND golem = ?1 AND number = ?2";
            let known = tx.query_row(sql, params![from.to_string(), number as i64], |row| row.get(0)).optional()?;
            match known.map(Usdc::micros) {
                None => {}
                Some(known) if known == amount => return Ok(Ok(())),
                Some(known) => {
                    return Ok(Err(Error::unanchored(format!(
                        "{amount} came in as deposit {number} of golem {from}, which was received already, as {known}"
                    ))));
                }
            }
            post(tx, &Post { kind: "received", golem: Some(from), number, credit: amount, ..Post::default() })?;
            Ok(Ok(()))
        })
    }

    /// The highest deposit number received from a golem.
    pub fn received(&self, from: GolemId) -> Result<u64, Error> {
        Ok(self.rows("received", from, 0)?.last().map_or(0, |row| row.number))
    }

    /// Every line of one kind about a golem with a number above this one, each checked against the chain.
    pub fn rows(&self, kind: &str, golem: GolemId, above: u64) -> Result<Vec<TreasuryRow>, Error> {
        let read = || -> rusqlite::Result<Vec<(TreasuryRow, bool)>> {
            let sql =
                format!("SELECT {ROW} FROM ledger WHERE kind = ?1 AND golem = ?2 AND number > ?3 ORDER BY number");
            let mut query = self.db.prepare_cached(&sql)?;
            let rows = query.query_map(params![kind, golem.to_string(), above as i64], TreasuryRow::read)?;
            let whole = |row: TreasuryRow| Ok((row.chained(&before(&self.db, row.line)?) == row.hash, row));
            rows.map(|row| row.and_then(whole).map(|(whole, row)| (row, whole))).collect()
        };
        let rows = read().map_err(Error::store("cannot read the treasury"))?;
        match rows.iter().find(|(_, whole)| !whole) {
            Some((row, _)) => Err(damaged_line(row.line)),
            None => Ok(rows.into_iter().map(|(row, _)| row).collect()),
        }
    }

    /// Records that a life arrived or left under this number, and how it stood then; once, however often it is called.
    pub fn note(&mut self, passing: Passing, golem: GolemId, number: u64, about: Option<&str>) -> Result<(), Error> {
        self.write(|tx| {
            let sql = "SELECT 1 FROM ledger WHERE kind = ?1 AND golem = ?2 AND number = ?3";
            let this = params![passing.word(), golem.to_string(), number as i64];
            if tx.query_row(sql, this, |_| Ok(())).optional()?.is_none() {
                post(tx, &Post { kind: passing.word(), golem: Some(golem), number, about, ..Post::default() })?;
            }
            Ok(Ok(()))
        })
    }

    /// Every arrival or departure of a life, the latest last.
    pub fn noted(&self, passing: Passing, golem: GolemId) -> Result<Vec<TreasuryRow>, Error> {
        let mut rows = self.rows(passing.word(), golem, 0)?;
        rows.sort_by_key(|row| row.line);
        Ok(rows)
    }

    /// The newest lines, newest first.
    pub fn entries(&self, most: usize) -> Result<Vec<TreasuryEntry>, Error> {
        let read = || -> rusqlite::Result<Vec<TreasuryEntry>> {
            let sql = "SELECT kind, golem, number, credit + capital, balance FROM ledger
                       WHERE kind != 'arriving' ORDER BY line DESC LIMIT ?1";
            let mut query = self.db.prepare(sql)?;
            let rows = query.query_map([most as i64], |row| {
                Ok(TreasuryEntry {
                    kind: row.get(0)?,
                    golem: row.get(1)?,
                    number: row.get::<_, i64>(2)? as u64,
                    amount: Usdc::micros(row.get(3)?),
                    balance: Usdc::micros(row.get(4)?),
                })
            })?;
            rows.collect()
        };
        read().map_err(Error::store("cannot read the treasury"))
    }

    /// Runs one transaction, under a lock that is released when the head knows of it.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<Result<T, Error>>,
    ) -> Result<T, Error> {
        let what = "cannot write the treasury";
        let mut head = match Head::wait_for(&self.heads, HEAD, PATIENCE) {
            Ok(head) => head,
            Err(Error::Locked(path)) => return Err(Error::Busy(path)),
            Err(Error::NoHead(_) | Error::Damaged { .. }) => return Err(headless(&self.heads)),
            Err(other) => return Err(other),
        };
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(Error::store(what))?;
        let before = hold_against(&tx, &head.anchor())?;
        let done = work(&tx).map_err(Error::store(what))??;
        let after = newest(&tx).map_err(Error::store(what))?;
        disk::commit("the treasury", tx).map_err(Error::store(what))?;
        match after {
            Some(row) if row.line > before => {
                head.advance(Anchor { seq: row.line, hash: row.hash, seal: Seal::Open })?;
            }
            _ => {}
        }
        Ok(done)
    }
}

pub(crate) fn genesis() -> Hash {
    *blake3::hash(GENESIS).as_bytes()
}

fn headless(heads: &Path) -> Error {
    let path = Head::path(heads, HEAD);
    Error::unanchored(format!("the head of the treasury ({}) is missing or damaged", path.display()))
}

fn damaged_line(line: u64) -> Error {
    Error::unanchored(format!("line {line} of the treasury is damaged: its hash does not match"))
}

pub(crate) fn make(path: &Path) -> Result<(), Error> {
    let made = connect(path, OpenFlags::default()).and_then(|db| {
        db.execute_batch(
            "CREATE TABLE IF NOT EXISTS ledger(
               line INTEGER PRIMARY KEY, kind TEXT NOT NULL, golem TEXT, number INTEGER NOT NULL,
               credit INTEGER NOT NULL CHECK(credit >= 0), capital INTEGER NOT NULL CHECK(capital >= 0),
               balance INTEGER NOT NULL CHECK(balance >= 0), letter TEXT UNIQUE, about TEXT, hash BLOB NOT NULL,
               UNIQUE(kind, golem, number)) STRICT;",
        )
    });
    made.map_err(Error::store("cannot make the treasury"))
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(PATIENCE)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "cell_size_check", true)?;
    Ok(db)
}

/// The newest line, unchecked.
pub(crate) fn newest(db: &Connection) -> rusqlite::Result<Option<TreasuryRow>> {
    let sql = format!("SELECT {ROW} FROM ledger ORDER BY line DESC LIMIT 1");
    db.prepare_cached(&sql)?.query_row([], TreasuryRow::read).optional()
}

/// The hash that a line is chained to.
fn before(db: &Connection, line: u64) -> rusqlite::Result<Hash> {
    let sql = "SELECT hash FROM ledger WHERE line = ?1 - 1";
    Ok(db.prepare_cached(sql)?.query_row([line as i64], |row| row.get(0)).optional()?.unwrap_or_else(genesis))
}

/// Checks that the line acknowledged last is here and is the same, and that the newest is what was written. Returns the
/// number of the newest.
fn hold_against(db: &Connection, known: &Anchor) -> Result<u64, Error> {
    let what = "cannot read the treasury";
    let row = newest(db).map_err(Error::store(what))?;
    let here = row.as_ref().map_or(0, |row| row.line);
    if here < known.seq {
        return Err(Error::unanchored(format!(
            "the treasury ends at line {here}, but line {} was acknowledged: it is an old copy, or its -wal file was \
             left behind or damaged",
            known.seq
        )));
    }
    if before(db, known.seq + 1).map_err(Error::store(what))? != known.hash {
        return Err(Error::unanchored(format!("line {} of the treasury is not the one acknowledged", known.seq)));
    }
    match row {
        Some(row) if row.chained(&before(db, row.line).map_err(Error::store(what))?) != row.hash => {
            Err(damaged_line(row.line))
        }
        _ => Ok(here),
    }
}

/// Every line from the first on, as far as they follow from each other, and why the chain stops there if that is not
/// the end.
pub(crate) fn chain(db: &Connection) -> rusqlite::Result<(Vec<TreasuryRow>, Option<String>)> {
    let mut query = db.prepare(&format!("SELECT {ROW} FROM ledger ORDER BY line"))?;
    let (mut good, mut tip, mut sum) = (Vec::new(), genesis(), Usdc::ZERO);
    for row in query.query_map([], TreasuryRow::read)? {
        let row = row?;
        let expected = good.len() as u64 + 1;
        if row.line != expected {
            return Ok((
                good,
                Some(format!("line {expected} of the treasury is missing; the next one is {}", row.line)),
            ));
        }
        sum += row.change();
        if row.chained(&tip) != row.hash {
            return Ok((good, Some(format!("line {expected} of the treasury is damaged: its hash does not match"))));
        }
        if row.balance != sum {
            return Ok((good, Some(format!("line {expected} of the treasury does not add up"))));
        }
        tip = row.hash;
        good.push(row);
    }
    Ok((good, None))
}

pub(crate) fn post(tx: &Transaction<'_>, post: &Post<'_>) -> rusqlite::Result<()> {
    let last = newest(tx)?;
    let (line, balance, tip) = last.map_or((0, Usdc::ZERO, genesis()), |row| (row.line, row.balance, row.hash));
    let mut row = TreasuryRow {
        line: line + 1,
        kind: post.kind.to_owned(),
        golem: post.golem.map(|id| id.to_string()),
        number: post.number,
        credit: post.credit,
        capital: post.capital,
        balance,
        letter: post.letter.map(str::to_owned),
        about: post.about.map(str::to_owned),
        hash: tip,
    };
    row.balance += row.change();
    row.hash = row.chained(&tip);
    insert(tx, &row)
}

pub(crate) fn insert(tx: &Transaction<'_>, row: &TreasuryRow) -> rusqlite::Result<()> {
    let sql = format!("INSERT INTO ledger({ROW}) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
    tx.prepare_cached(&sql)?.execute(params![
        row.line as i64,
        row.kind,
        row.golem,
        row.number as i64,
        row.credit.as_micros(),
        row.capital.as_micros(),
        row.balance.as_micros(),
        row.letter,
        row.about,
        row.hash
    ])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: GolemId = GolemId([1; 16]);

    fn open(root: &Path) -> Result<Treasury, Error> {
        Treasury::open(root, root)
    }

    fn begun(root: &Path) -> Treasury {
        Treasury::begin(root, root, Usdc::dollars(100)).unwrap()
    }

    #[test]
    fn every_number_counts_once_and_nothing_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let mut treasury = begun(dir.path());
        let first = treasury.send(ADA, 0, Usdc::dollars(10), Usdc::dollars(50)).unwrap();
        assert_eq!(first.number, 1);
        assert!(matches!(
            treasury.send(ADA, 0, Usdc::dollars(41), Usdc::ZERO),
            Err(Error::TreasuryShort { there, .. }) if there == Usdc::dollars(40)
        ));
        drop(treasury);

        let mut treasury = begun(dir.path());
        assert_eq!(treasury.undelivered(ADA, 0).unwrap(), vec![first]);
        assert_eq!(treasury.undelivered(ADA, 1).unwrap(), vec![]);
        for _ in 0..3 {
            treasury.receive(ADA, 1, Usdc::dollars(60)).unwrap();
        }
        let other = treasury.receive(ADA, 1, Usdc::dollars(61)).unwrap_err().to_string();
        assert!(other.contains("received already, as $60.00"), "{other}");
        assert_eq!(treasury.balance().unwrap(), Usdc::dollars(100));
        assert_eq!(treasury.received(ADA).unwrap(), 1);
        // A golem that came from another home goes on counting where it was.
        assert_eq!(treasury.send(ADA, 7, Usdc::dollars(1), Usdc::ZERO).unwrap().number, 8);
        treasury.note(Passing::Arriving, ADA, 9, Some("once")).unwrap();
        treasury.note(Passing::Arriving, ADA, 9, Some("never")).unwrap();
        let noted = treasury.noted(Passing::Arriving, ADA).unwrap();
        assert_eq!(noted.iter().map(|row| (row.number, row.about.as_deref())).collect::<Vec<_>>(), [(9, Some("once"))]);
        assert_eq!(treasury.audit().unwrap(), 5);
    }

    /// An older copy of the treasury was once trusted, and money it had sent since existed twice.
    #[test]
    fn a_treasury_that_is_lost_cut_or_old_is_not_believed() {
        let dir = tempfile::tempdir().unwrap();
        let path = Treasury::path(dir.path());
        let mut treasury = begun(dir.path());
        drop(treasury);
        let old = std::fs::read(&path).unwrap();
        treasury = open(dir.path()).unwrap();
        treasury.send(ADA, 0, Usdc::dollars(60), Usdc::ZERO).unwrap();
        drop(treasury);
        let new = std::fs::read(&path).unwrap();
        let complaint = |bytes: Option<&[u8]>| {
            match bytes {
                Some(bytes) => std::fs::write(&path, bytes).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            let told = open(dir.path()).unwrap_err().to_string();
            assert!(
                Treasury::begin(dir.path(), dir.path(), Usdc::dollars(1)).is_err(),
                "no new ledger is begun: {told}"
            );
            assert!(told.contains("bardo recover"), "{told}");
            told
        };
        assert!(complaint(Some(&old)).contains("ends at line 1, but line 2 was acknowledged"));
        assert!(complaint(None).contains("is missing, and line 2 of it was acknowledged"));
        complaint(Some(&[]));
        complaint(Some(&new[..new.len() / 2]));
        std::fs::write(&path, &new).unwrap();
        assert_eq!(open(dir.path()).unwrap().balance().unwrap(), Usdc::dollars(40));
        std::fs::remove_file(Head::path(dir.path(), HEAD)).unwrap();
        assert!(complaint(Some(&new)).contains("head of the treasury"));
    }

    #[test]
    fn a_line_that_was_tampered_with_is_paid_to_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let mut treasury = begun(dir.path());
        treasury.send(ADA, 0, Usdc::dollars(10), Usdc::ZERO).unwrap();
        treasury.add(Usdc::dollars(1)).unwrap();
        drop(treasury);
        let db = Connection::open(Treasury::path(dir.path())).unwrap();
        db.execute("UPDATE ledger SET credit = 90000000 WHERE kind = 'sent'", []).unwrap();
        drop(db);
        let treasury = open(dir.path()).unwrap();
        assert!(treasury.undelivered(ADA, 0).unwrap_err().to_string().contains("line 2 of the treasury is damaged"));
        assert!(treasury.audit().is_err());
    }

    #[test]
    fn many_may_write_at_once_and_the_head_knows_the_last() {
        let dir = tempfile::tempdir().unwrap();
        drop(begun(dir.path()));
        std::thread::scope(|scope| {
            for n in 0..4 {
                let root = dir.path();
                scope.spawn(move || {
                    for number in 1..=10 {
                        open(root).unwrap().receive(GolemId([n; 16]), number, Usdc::dollars(1)).unwrap();
                    }
                });
            }
        });
        let treasury = open(dir.path()).unwrap();
        assert_eq!((treasury.audit().unwrap(), treasury.balance().unwrap()), (41, Usdc::dollars(140)));
        assert_eq!(Head::peek(dir.path(), HEAD).unwrap().seq, 41);
    }
}
