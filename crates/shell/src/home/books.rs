//! Three books that must agree: the golem's own journal, the owner's treasury, and the world's record of what was
//! done. Each can be lost or be put back to an older copy without the others, so every process that opens a life
//! compares them first. If they contradict each other, the life is not run: money would be made, or a thing be done
//! twice.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use golem::event::Event;
use golem::owner;
use golem::policy;
use golem::world::Outcome;
use golem::{Life, Name, Record, Usdc};
use serde::{Deserialize, Serialize};
use vault::treasury::{Transfer, TreasuryRow};
use vault::{Anchor, Passing, Reader, Treasury};
use world::{Ledger, LedgerEntry};

use crate::{Error, hash};

/// Transfers and money of a life from another home at its arrival: this treasury knows nothing of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Arrival {
    transfers: u64,
    deposits: u64,
    given: Usdc,
    withdrawn: Usdc,
}

/// One golem in the treasury's book.
#[derive(Debug)]
pub struct Account {
    arrival: Arrival,
    pub(crate) sent: Vec<TreasuryRow>,
    pub(crate) received: Vec<TreasuryRow>,
}

/// Money and outcomes in a golem's own journal, as far back as it can be read.
#[derive(Debug, Default)]
pub struct Own {
    pub(crate) transfers: BTreeMap<u64, Transfer>,
    pub(crate) deposits: BTreeMap<u64, Usdc>,
    pub(crate) outcomes: BTreeMap<u64, (golem::Time, Outcome)>,
}

impl Arrival {
    fn of(life: &Life) -> Arrival {
        Arrival {
            transfers: life.transfers_taken(),
            deposits: life.deposits_made(),
            given: life.purse().given + life.capital().given,
            withdrawn: life.purse().withdrawn + life.capital().withdrawn,
        }
    }

    /// Records how a life stood when it came from elsewhere; a second record changes nothing. An archive that moved it
    /// has a number, under which it is never taken in twice.
    pub(crate) fn declare(treasury: &mut Treasury, life: &Life, moved: Option<u64>, tip: &Anchor) -> Result<(), Error> {
        let text = serde_json::to_string(&Arrival::of(life)).expect("plain numbers");
        let (passing, number) = match moved {
            Some(number) => (Passing::Arriving, number),
            None => (Passing::Arrived, hash::number(&tip.hash)),
        };
        Ok(treasury.note(passing, life.id(), number, Some(&text))?)
    }

    /// The latest that this life is not before: one that was taken back may be older than its last arrival.
    fn behind(life: &Life, mut lines: Vec<TreasuryRow>) -> Arrival {
        let now = Arrival::of(life);
        lines.sort_by_key(|row| row.line);
        let all = lines.iter().filter_map(|row| serde_json::from_str::<Arrival>(row.about.as_deref()?).ok());
        let mut behind = all.filter(|then| then.transfers <= now.transfers && then.deposits <= now.deposits);
        behind.next_back().unwrap_or_default()
    }
}

impl Account {
    pub fn of(treasury: &Treasury, life: &Life) -> Result<Account, Error> {
        let mut arrivals = treasury.noted(Passing::Arriving, life.id())?;
        arrivals.extend(treasury.noted(Passing::Arrived, life.id())?);
        let rows = |kind| treasury.rows(kind, life.id(), 0);
        Ok(Account { arrival: Arrival::behind(life, arrivals), sent: rows("sent")?, received: rows("received")? })
    }

    /// The account of a life from lines of a ledger that cannot be opened.
    pub(crate) fn among(lines: &[TreasuryRow], life: &Life) -> Account {
        let id = life.id().to_string();
        let rows = |kind: &str| -> Vec<TreasuryRow> {
            let mut rows: Vec<TreasuryRow> =
                lines.iter().filter(|row| row.kind == kind && row.golem.as_ref() == Some(&id)).cloned().collect();
            rows.sort_by_key(|row| row.number);
            rows
        };
        let arrivals = [Passing::Arriving, Passing::Arrived].into_iter().flat_map(|passing| rows(passing.word()));
        Account { arrival: Arrival::behind(life, arrivals.collect()), sent: rows("sent"), received: rows("received") }
    }

    /// Deposits the treasury has that this life has not made: those it made in records that are lost.
    pub(crate) fn beyond(&self, life: &Life) -> Vec<(u64, Usdc)> {
        let lost = self.received.iter().filter(|row| row.number > life.deposits_made());
        lost.map(|row| (row.number, row.credit + row.capital)).collect()
    }

    /// Money that was sent to it and that it has not taken yet, or no longer has.
    pub(crate) fn on_its_way(&self, life: &Life) -> Usdc {
        self.sent.iter().filter(|row| row.number > life.transfers_taken()).map(|row| row.credit + row.capital).sum()
    }

    /// Checks that the highest numbers and the sums are the same, but for money on its way.
    pub fn agrees(&self, life: &Life) -> Result<(), String> {
        let (own, base) = (Arrival::of(life), &self.arrival);
        let (sent, received) = (last(&self.sent), last(&self.received));
        if received > own.deposits {
            return Err(format!(
                "the treasury has received deposit {received}, but this life has made only {}: its newest records are missing",
                own.deposits
            ));
        }
        if own.transfers > sent.max(base.transfers) {
            return Err(format!(
                "this life has taken transfer {}, but the treasury has sent only {}: the treasury's newest lines are missing",
                own.transfers,
                sent.max(base.transfers)
            ));
        }
        let sum = |rows: &[TreasuryRow], above: u64, upto: u64| -> Usdc {
            let some = rows.iter().filter(|row| row.number > above && row.number <= upto);
            some.map(|row| row.credit + row.capital).sum()
        };
        let given = base.given + sum(&self.sent, base.transfers, own.transfers);
        if given != own.given {
            return Err(format!("the treasury has sent it {given}, but it was given {}", own.given));
        }
        // Money on its way when it arrived is part of what it had returned by then.
        let waiting = life.deposits().iter().filter(|d| d.number > received.max(base.deposits));
        let on_its_way: Usdc = waiting.map(|d| d.amount).sum();
        let returned = base.withdrawn + sum(&self.received, base.deposits, u64::MAX) + on_its_way;
        if returned != own.withdrawn {
            return Err(format!("the treasury has received {returned} from it, but it has returned {}", own.withdrawn));
        }
        Ok(())
    }

    /// Compares line by line, as far as the journal can be read.
    pub fn agrees_line_by_line(&self, own: &Own, life: &Life) -> Result<(), String> {
        let received = last(&self.received);
        for row in self.sent.iter().filter(|row| row.number <= life.transfers_taken()) {
            let taken = own.transfers.get(&row.number);
            if taken.is_some_and(|taken| (taken.credit, taken.capital) != (row.credit, row.capital)) {
                return Err(format!(
                    "transfer {} is one amount in the treasury and another in its journal",
                    row.number
                ));
            }
        }
        for row in &self.received {
            if own.deposits.get(&row.number).is_some_and(|made| *made != row.credit + row.capital) {
                return Err(format!("deposit {} is one amount in the treasury and another in its journal", row.number));
            }
        }
        let missing = |rows: &[TreasuryRow], number: u64| rows.binary_search_by_key(&number, |row| row.number).is_err();
        for number in own.transfers.keys().filter(|number| **number > self.arrival.transfers) {
            if missing(&self.sent, *number) {
                return Err(format!("the treasury knows nothing of transfer {number}, which it has taken"));
            }
        }
        for number in own.deposits.keys().filter(|number| **number > self.arrival.deposits && **number <= received) {
            if missing(&self.received, *number) {
                return Err(format!("the treasury knows nothing of deposit {number}, which it has made"));
            }
        }
        Ok(())
    }

    /// Lines the journal has and the treasury lacks: transfers it took, deposits that are no longer on their way.
    pub(crate) fn unknown(&self, own: &Own, life: &Life) -> (Vec<Transfer>, Vec<(u64, Usdc)>) {
        let missing = |rows: &[TreasuryRow], number: u64| rows.binary_search_by_key(&number, |row| row.number).is_err();
        let sent = own.transfers.values().filter(|taken| taken.number > self.arrival.transfers);
        let sent = sent.filter(|taken| missing(&self.sent, taken.number)).copied().collect();
        let done =
            |number: &u64| *number > self.arrival.deposits && life.deposits().iter().all(|d| d.number != *number);
        let returned = own.deposits.iter().filter(|(number, _)| done(number) && missing(&self.received, **number));
        (sent, returned.map(|(number, amount)| (*number, *amount)).collect())
    }
}

impl Own {
    /// Reads it from the journal, and on through what a host log has of it.
    pub fn read(database: &Path, lines: &[vault::LogLine]) -> Result<Own, Error> {
        let mut own = Own::default();
        let check = Reader::open(database)?.replay(|record| {
            own.note(&record);
            Ok::<_, Error>(ControlFlow::Continue(()))
        })?;
        for line in lines.iter().filter(|line| line.seq > check.records) {
            if let Ok((record, _)) = vault::codec::decode(line.seq, &line.body) {
                own.note(&record);
            }
        }
        Ok(own)
    }

    /// Entries that the world must have on record for it.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u64, LedgerEntry)> + '_ {
        self.outcomes.iter().map(|(key, (at, outcome))| (*key, LedgerEntry { at: *at, outcome: Some(*outcome) }))
    }

    fn note(&mut self, record: &Record) {
        for event in &record.events {
            match event {
                Event::Owner(owner::Event::Funded { transfer: number, credit, capital }) => {
                    let transfer = Transfer { number: *number, credit: *credit, capital: *capital };
                    self.transfers.insert(*number, transfer);
                }
                Event::Owner(owner::Event::Withdrew { deposit, amount, .. }) => {
                    self.deposits.insert(*deposit, *amount);
                }
                Event::Policy(policy::Event::Settled { key, outcome }) => {
                    self.outcomes.insert(*key, (record.at, *outcome));
                }
                _ => {}
            }
        }
    }
}

/// Compares the treasury's book and the life's, as far as that is possible at once.
pub(crate) fn hold_treasury(treasury: &Treasury, name: &Name, life: &Life) -> Result<(), Error> {
    Account::of(treasury, life)?.agrees(life).map_err(|why| apart(name, &why))
}

/// Compares the world's book and the life's: what was given out is what is held, but for pending actions, and nothing
/// was done that was never asked for.
pub(crate) fn hold_world(ledger: &Ledger, name: &Name, life: &Life) -> Result<(), Error> {
    world_agrees(ledger, life).map_err(|why| apart(name, &why))
}

pub fn world_agrees(ledger: &Ledger, life: &Life) -> Result<(), String> {
    if let Some((key, _)) = ledger.entries().find(|(key, _)| *key > life.flights_made()) {
        return Err(format!(
            "its world has a record of action {key}, but this life has asked for only {}: its newest records are missing",
            life.flights_made()
        ));
    }
    let under_way = |key: u64| life.flights().iter().any(|flight| flight.key == key);
    let unsettled: i64 = ledger
        .entries()
        .filter(|(key, _)| under_way(*key))
        .filter_map(|(_, entry)| entry.outcome)
        .map(|outcome| outcome.units)
        .sum();
    let (held, holding) = (ledger.held() - unsettled, life.capital().holding);
    if held == holding {
        return Ok(());
    }
    let whole = |units: i64| units as f64 / 1e6;
    Err(format!(
        "its world's record (world.log) says it holds {}, but it holds {}: lines are missing",
        whole(held),
        whole(holding)
    ))
}

/// Checks that every outcome the life was told of is in the world's record, as it was told.
pub fn world_agrees_line_by_line(ledger: &Ledger, own: &Own) -> Result<(), String> {
    let fates: BTreeMap<u64, Option<Outcome>> = ledger.entries().map(|(key, entry)| (key, entry.outcome)).collect();
    match own.outcomes.iter().find(|(key, (_, outcome))| fates.get(key) != Some(&Some(*outcome))) {
        Some((key, _)) => {
            Err(format!("its world's record (world.log) does not have action {key} as it was told of it"))
        }
        None => Ok(()),
    }
}

fn last(rows: &[TreasuryRow]) -> u64 {
    rows.last().map_or(0, |row| row.number)
}

fn apart(name: &Name, why: &str) -> Error {
    vault::Error::unanchored(format!("{name}: {why}")).into()
}
