//! Which lines of golems go on. The owner's book says it, because it outlives every golem: that somebody was ended stands
//! in the ledger as a line without an amount, and that an heir was made stands on the line that gave it its first money.
//! So whether an heir may be born and that it was born are one transaction, whatever became of anyone's files.

use golem::{GolemId, Usdc};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::Error;
use crate::treasury::{Transfer, Treasury, balance, post, rows};

/// By whose word nobody comes after a golem by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was retired.
    Retired,
    /// Everyone was halted.
    Halted,
}

/// Whose heir the first money is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeirOf {
    pub parent: GolemId,
    /// Nobody was asked: then it may be refused.
    pub by_itself: bool,
}

impl Treasury {
    /// From here on no heir of this golem is born by itself, whether it lives, is dying or is dead.
    pub fn end(&mut self, golem: GolemId) -> Result<(), Error> {
        self.write(|tx| {
            if end_of(tx, golem)?.is_some() {
                return balance(tx);
            }
            post(tx, "ended", Some(golem), 1, Usdc::ZERO, Usdc::ZERO, Usdc::ZERO)
        })
        .map(|_| ())
    }

    /// The same for every golem this treasury has ever given anything.
    pub fn end_all(&mut self) -> Result<(), Error> {
        self.write(|tx| {
            let number = rows(tx)? + 1;
            post(tx, "halted", None, number, Usdc::ZERO, Usdc::ZERO, Usdc::ZERO)
        })
        .map(|_| ())
    }

    pub fn end_of(&self, golem: GolemId) -> Result<Option<End>, Error> {
        end_of(&self.db, golem).map_err(Error::sqlite("cannot read the treasury"))
    }

    /// Whether this treasury has endowed an heir of this golem.
    pub fn has_heir(&self, of: GolemId) -> Result<bool, Error> {
        has_heir(&self.db, of).map_err(Error::sqlite("cannot read the treasury"))
    }

    /// What a golem was first given, if that was here.
    pub fn first_sent(&self, to: GolemId) -> Result<Option<(Usdc, Usdc)>, Error> {
        let sql = "SELECT credit, capital FROM ledger WHERE kind = 'sent' AND golem = ?1 AND number = 1";
        let read = |row: &rusqlite::Row<'_>| Ok((Usdc::micros(row.get(0)?), Usdc::micros(row.get(1)?)));
        let found = self.db.query_row(sql, [to.to_string()], read).optional();
        found.map_err(Error::sqlite("cannot read the treasury"))
    }

    /// The first money of a life, once. An heir nobody asked for gets it only if its predecessor has no other and was not
    /// ended meanwhile.
    pub fn endow(
        &mut self,
        newborn: GolemId,
        heir_of: Option<HeirOf>,
        credit: Usdc,
        capital: Usdc,
    ) -> Result<Transfer, Error> {
        if [credit, capital].iter().any(|amount| *amount < Usdc::ZERO || *amount > Usdc::MOST) {
            return Err(Error::Amount);
        }
        let (asked, mut refused) = (credit + capital, None);
        self.write(|tx| {
            let there = balance(tx)?;
            if let Some(HeirOf { parent, by_itself: true }) = heir_of {
                if end_of(tx, parent)?.is_some() {
                    refused = Some(Error::LineEnded);
                } else if has_heir(tx, parent)? {
                    refused = Some(Error::HasHeir);
                }
            }
            if refused.is_none() && asked > there {
                refused = Some(Error::TreasuryShort { asked, there });
            }
            if refused.is_some() {
                return Ok(there);
            }
            let after = post(tx, "sent", Some(newborn), 1, credit, capital, -asked)?;
            let mark = "UPDATE ledger SET letter = ?1 WHERE kind = 'sent' AND golem = ?2 AND number = 1";
            tx.execute(mark, params![heir_of.map(|of| letter(of, newborn)), newborn.to_string()])?;
            Ok(after)
        })?;
        refused.map_or(Ok(Transfer { number: 1, credit, capital }), Err)
    }
}

/// What the line of an heir's first money says: no two heirs nobody asked for can have the same predecessor.
fn letter(of: HeirOf, newborn: GolemId) -> String {
    if of.by_itself { format!("heir {}", of.parent) } else { format!("heir {} {newborn}", of.parent) }
}

fn has_heir(db: &Connection, of: GolemId) -> rusqlite::Result<bool> {
    let known = "SELECT 1 FROM ledger WHERE letter >= ?1 AND letter < ?1 || '!' LIMIT 1";
    Ok(db.query_row(known, [format!("heir {of}")], |_| Ok(())).optional()?.is_some())
}

fn end_of(db: &Connection, golem: GolemId) -> rusqlite::Result<Option<End>> {
    let golem = golem.to_string();
    let ended = "SELECT 1 FROM ledger WHERE kind = 'ended' AND golem = ?1 LIMIT 1";
    if db.query_row(ended, [&golem], |_| Ok(())).optional()?.is_some() {
        return Ok(Some(End::Retired));
    }
    // Whoever was given something before everyone was halted is one of everyone.
    let halted = "SELECT 1 FROM ledger WHERE kind = 'halted'
                  AND line > (SELECT MIN(line) FROM ledger WHERE kind = 'sent' AND golem = ?1) LIMIT 1";
    db.query_row(halted, [&golem], |_| Ok(End::Halted)).optional()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: GolemId = GolemId([1; 16]);
    const BOB: GolemId = GolemId([2; 16]);
    const CYD: GolemId = GolemId([3; 16]);

    fn by_itself(parent: GolemId) -> Option<HeirOf> {
        Some(HeirOf { parent, by_itself: true })
    }

    #[test]
    fn an_end_stays_an_end_and_an_owner_may_begin_again() {
        let dir = tempfile::tempdir().unwrap();
        let open = || Treasury::open(&dir.path().join("treasury.db")).unwrap();
        let one = Usdc::dollars(1);
        let mut treasury = open();
        treasury.add(Usdc::dollars(100)).unwrap();
        treasury.endow(ADA, None, one, one).unwrap();
        assert_eq!((treasury.end_of(ADA).unwrap(), treasury.has_heir(ADA).unwrap()), (None, false));
        treasury.endow(BOB, by_itself(ADA), one, one).unwrap();
        assert!(treasury.has_heir(ADA).unwrap() && !treasury.has_heir(BOB).unwrap());
        assert!(matches!(treasury.endow(CYD, by_itself(ADA), one, one), Err(Error::HasHeir)));
        treasury.end(BOB).unwrap();
        treasury.end(BOB).unwrap();
        assert_eq!((treasury.end_of(BOB).unwrap(), treasury.end_of(ADA).unwrap()), (Some(End::Retired), None));
        drop(treasury);

        let mut treasury = open();
        assert!(matches!(treasury.endow(CYD, by_itself(BOB), one, one), Err(Error::LineEnded)));
        assert_eq!(treasury.first_sent(CYD).unwrap(), None, "nothing was given");
        treasury.end_all().unwrap();
        assert_eq!(treasury.end_of(ADA).unwrap(), Some(End::Halted));
        // By hand, and whoever is made afterwards is nobody who was halted.
        treasury.endow(CYD, Some(HeirOf { parent: BOB, by_itself: false }), one, one).unwrap();
        assert_eq!((treasury.end_of(CYD).unwrap(), treasury.has_heir(BOB).unwrap()), (None, true));
        assert_eq!(treasury.balance().unwrap(), Usdc::dollars(94));
        assert_eq!(treasury.audit().unwrap(), None);
    }
}
