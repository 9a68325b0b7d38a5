//! Invariants of a step: what it leaves true, whatever was decided in it. Time and numbers go on, money is never less than
//! nothing, lists keep their limits, and the dead do nothing but end.
//!
//! They hold in production. A figure is held against the one before the step, so that a life of an older version is not
//! judged for what that left behind; and each is a comparison of integers, so that all of them together cost less than an
//! event. A fold does without these; the assertions in `apply` hold in a fold too, and the vault turns one that fails into a
//! damaged record.

use crate::dream::STAGED;
use crate::heartbeat::State;
use crate::life::Life;
use crate::limits;
use crate::money::Usdc;
use crate::time::{Span, Time};

/// The figures of a life before a step.
pub(crate) struct Before {
    now: Time,
    lived_until: Time,
    age: Span,
    tick: u64,
    epoch: u32,
    numbers: [u64; 10],
    transfers: u64,
    calls: u64,
    totals: [Usdc; 7],
    accounts: [Usdc; 4],
    promised: Usdc,
    holding: i64,
    dead: bool,
}

impl Before {
    pub(crate) fn of(life: &Life) -> Before {
        Before {
            now: life.now,
            lived_until: life.lived_until,
            age: life.age,
            tick: life.tick,
            epoch: life.heartbeat.epoch,
            numbers: numbers(life),
            transfers: life.transfers_taken,
            calls: life.calls.made,
            totals: totals(life),
            accounts: accounts(life),
            promised: life.purse.promised,
            holding: life.capital.holding,
            dead: life.is_dead(),
        }
    }

    /// Panics if the step broke something that everything else stands on.
    pub(crate) fn check(&self, life: &Life) {
        self.check_time(life);
        self.check_numbers(life);
        self.check_money(life);
        check_lists(life);
        self.check_death(life);
    }

    fn check_time(&self, life: &Life) {
        assert!(life.now >= self.now, "time ran backwards");
        assert!(life.lived_until >= self.lived_until, "a stretch of time would be lived twice");
        assert!(life.lived_until <= life.now, "a time that has not come was lived");
        assert!(life.age >= self.age, "it grew younger");
        assert!(life.age <= self.age + life.now.since(self.lived_until), "more was lived than time passed");
        assert!(life.tick == self.tick || life.tick == self.tick + 1, "a step is one tick at most");
        assert!(life.heartbeat.epoch >= self.epoch, "an epoch came again, and with it answers that were stale");
    }

    fn check_numbers(&self, life: &Life) {
        let [flights, claims, dated, heuristics, deposits, questions, nights, words, phages, episodes] = numbers(life);
        let before = &self.numbers;
        assert!(flights >= before[0], "a key of an action would be given twice");
        assert!(claims >= before[1], "a number of a claim would be given twice");
        assert!(dated >= before[2], "a number of a dated claim would be given twice");
        assert!(heuristics >= before[3], "a number of a heuristic would be given twice");
        assert!(deposits >= before[4], "a number of a deposit would be given twice");
        assert!(questions >= before[5], "a key of a question would be given twice");
        assert!(nights >= before[6], "a number of a night would be given twice");
        assert!(words >= before[7], "a number of a word to its peers would be given twice");
        assert!(phages >= before[8], "phages were forgotten");
        assert!(episodes >= before[9], "a number of an episode would be given twice");
        assert!((self.transfers..=self.transfers + 1).contains(&life.transfers_taken), "a transfer was passed over");
        assert!((self.calls..=self.calls + 1).contains(&life.calls.made), "a call was passed over");
    }

    fn check_money(&self, life: &Life) {
        let [given, withdrawn, gas, capital, taken, fees, harvested] = totals(life);
        let before = &self.totals;
        assert!(given >= before[0], "credit that was given is missing from the books");
        assert!(withdrawn >= before[1], "credit that was returned came back");
        assert!(gas >= before[2], "gas that was paid came back");
        assert!(capital >= before[3], "capital that was given is missing from the books");
        assert!(taken >= before[4], "capital that was returned came back");
        assert!(fees >= before[5], "fees that were paid came back");
        assert!(harvested >= before[6], "profit that was harvested came back");
        let [credit, promised, cash, reserved] = accounts(life);
        let least = self.accounts.map(|account| account.min(Usdc::ZERO));
        assert!(credit >= least[0], "credit is less than nothing");
        assert!(promised >= least[1], "less than nothing is promised");
        assert!(cash >= least[2], "cash is less than nothing");
        assert!(reserved >= least[3], "less than nothing is set aside");
        let covered = self.promised <= self.accounts[0];
        assert!(promised <= credit || !covered, "more is promised than there is");
        assert!(life.capital.holding >= self.holding.min(0), "more was given up than was held");
    }

    fn check_death(&self, life: &Life) {
        let state = life.heartbeat.state;
        let Some(death) = &life.death else {
            assert!(!self.dead, "the dead came back");
            assert!(!matches!(state, State::Dying | State::Dead), "the living are dying without a death");
            return;
        };
        assert!(matches!(state, State::Dying | State::Dead), "the dead have a heartbeat");
        assert!(death.tick == life.tick, "a tick passed after death");
        assert!(life.calls.open.is_empty(), "a death waits for a provider");
        assert!(state != State::Dead || life.flights.is_empty(), "an end leaves an action under way");
        if self.dead {
            let [flights, claims, dated, _, _, _, nights, ..] = self.numbers;
            assert!(life.age == self.age, "the dead grew older");
            assert!(life.claims_made == claims && life.dated_made == dated, "the dead made a claim");
            assert!(life.dreams.nights == nights, "the dead fell asleep");
            assert!(life.calls.made == self.calls, "the dead made a call");
            let protects = life.flights.iter().all(|flight| flight.closing || flight.key <= flights);
            assert!(protects, "the dead took something up");
        }
    }
}

fn check_lists(life: &Life) {
    assert!(life.calls.open.len() <= limits::CALLS, "more calls are open than may be");
    assert!(life.calls.known.len() <= limits::KNOWN, "more calls are remembered than may be");
    assert!(life.permits.len() <= life.flights.len(), "a permit is left of an action that is over");
    assert!(life.playbook.len() <= limits::HEURISTICS, "a heuristic has no bit of its own");
    assert!(life.episodes.pending.len() <= limits::EPISODES, "more episodes wait than may");
    assert!(life.dreams.staged.len() <= STAGED, "more ideas are on trial than may be");
    assert!(life.open.iter().all(|open| open.len() <= limits::OPEN), "more claims are open in a domain than may be");
}

/// Numbers that are given out one after another, and none twice.
fn numbers(life: &Life) -> [u64; 10] {
    [
        life.flights_made,
        life.claims_made,
        life.dated_made,
        life.heuristics_made,
        life.deposits_made,
        life.thoughts.made,
        life.dreams.nights,
        life.clade.told,
        life.phages.made,
        life.episodes.made,
    ]
}

/// Sums that only grow.
fn totals(life: &Life) -> [Usdc; 7] {
    let (purse, capital) = (&life.purse, &life.capital);
    let harvested = capital.harvested;
    [purse.given, purse.withdrawn, purse.gas, capital.given, capital.withdrawn, capital.fees, harvested]
}

/// Money that is there: credit, and what is promised of it; cash, and what is set aside of it.
fn accounts(life: &Life) -> [Usdc; 4] {
    [life.purse.credit, life.purse.promised, life.capital.cash, life.capital.reserved]
}
