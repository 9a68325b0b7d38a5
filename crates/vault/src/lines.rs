//! Which lineages go on. The treasury's ledger says so, because it outlives every golem: the end of a lineage is a line
//! without an amount, and the birth of an heir is marked on the line that gave it its first money. So the decision that
//! an heir may be born and its birth are one transaction, whatever happens to the golems' files.

use golem::{GolemId, Usdc};
use rusqlite::{Connection, OptionalExtension};

use crate::error::Error;
use crate::treasury::{Post, Transfer, Treasury, newest, post};

/// The order after which a golem gets no automatic heir.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The golem was retired.
    Retired,
    /// All golems were halted.
    Halted,
}

/// The predecessor of the heir that a first payment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeirOf {
    pub parent: GolemId,
    /// An automatic heir, which the owner did not ask for: its endowment may be refused.
    pub by_itself: bool,
}

impl Treasury {
    /// Ends a lineage: this golem gets no automatic heir any more, whether it lives, is dying or is dead.
    pub fn end(&mut self, golem: GolemId) -> Result<(), Error> {
        self.write(|tx| {
            if end_of(tx, golem)?.is_none() {
                post(tx, &Post { kind: "ended", golem: Some(golem), number: 1, ..Post::default() })?;
            }
            Ok(Ok(()))
        })
    }

    /// Ends the lineage of every golem this treasury has ever given anything.
    pub fn end_all(&mut self) -> Result<(), Error> {
        self.write(|tx| {
            let number = newest(tx)?.map_or(0, |row| row.line) + 1;
            post(tx, &Post { kind: "halted", number, ..Post::default() })?;
            Ok(Ok(()))
        })
    }

    pub fn end_of(&self, golem: GolemId) -> Result<Option<End>, Error> {
        end_of(&self.db, golem).map_err(Error::store("cannot read the treasury"))
    }

    /// Whether this treasury has endowed an heir of this golem.
    pub fn has_heir(&self, of: GolemId) -> Result<bool, Error> {
        has_heir(&self.db, of).map_err(Error::store("cannot read the treasury"))
    }

    /// The first money of a golem, if it came from this treasury.
    pub fn first_sent(&self, to: GolemId) -> Result<Option<(Usdc, Usdc)>, Error> {
        let sql = "SELECT credit, capital FROM ledger WHERE kind = 'sent' AND golem = ?1 AND number = 1";
        let read = |row: &rusqlite::Row<'_>| Ok((Usdc::micros(row.get(0)?), Usdc::micros(row.get(1)?)));
        let found = self.db.query_row(sql, [to.to_string()], read).optional();
        found.map_err(Error::store("cannot read the treasury"))
    }

    /// Sends the first money of a life, once. An automatic heir gets it only if its predecessor has no other heir and
    /// its lineage was not ended meanwhile.
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
        let asked = credit + capital;
        self.write(|tx| {
            if let Some(HeirOf { parent, by_itself: true }) = heir_of {
                if end_of(tx, parent)?.is_some() {
                    return Ok(Err(Error::LineEnded));
                }
                if has_heir(tx, parent)? {
                    return Ok(Err(Error::HasHeir));
                }
            }
            let there = newest(tx)?.map_or(Usdc::ZERO, |row| row.balance);
            if asked > there {
                return Ok(Err(Error::TreasuryShort { asked, there }));
            }
            let letter = heir_of.map(|of| of.letter(newborn));
            let letter = letter.as_deref();
            post(tx, &Post { kind: "sent", golem: Some(newborn), number: 1, credit, capital, letter, about: None })?;
            Ok(Ok(Transfer { number: 1, credit, capital }))
        })
    }
}

impl HeirOf {
    /// The unique mark on the line of an heir's first money: no two automatic heirs can have the same predecessor.
    pub fn letter(&self, newborn: GolemId) -> String {
        if self.by_itself { format!("heir {}", self.parent) } else { format!("heir {} {newborn}", self.parent) }
    }
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
    // A halt counts for every golem that was given something before it.
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
        let open = || Treasury::begin(dir.path(), dir.path(), Usdc::ZERO).unwrap();
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
        // An heir made by the owner, after the halt, was not halted.
        treasury.endow(CYD, Some(HeirOf { parent: BOB, by_itself: false }), one, one).unwrap();
        assert_eq!((treasury.end_of(CYD).unwrap(), treasury.has_heir(BOB).unwrap()), (None, true));
        assert_eq!(treasury.balance().unwrap(), Usdc::dollars(94));
        treasury.audit().unwrap();
    }
}
