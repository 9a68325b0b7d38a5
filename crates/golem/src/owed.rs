//! What a life owes the outside: a function of Life, so a crash cannot lose it and a restart cannot add to it.

use crate::constitution::MindKind;
use crate::dream;
use crate::grimoire;
use crate::life::Life;
use crate::money::Usdc;
use crate::policy::{Stage, still_permitted};
use crate::stress::Word;
use crate::thanatopsis::{self, Phase};

/// Something the host must do, and whose answer must come back as an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Owed {
    Preview {
        key: u64,
        action: u8,
        units: i64,
    },
    /// Send it, now that it is on record; never twice.
    Commit {
        key: u64,
        action: u8,
        units: i64,
        limit: Usdc,
    },
    /// Ask what became of it; never send it.
    Reconcile {
        key: u64,
    },
    /// Go through what is known, with whoever keeps it.
    Curate,
    /// Do the work of this phase of a night, with whoever keeps what was lived.
    Dream {
        phase: dream::Phase,
    },
    /// Write its testament.
    Reflect,
    /// Pass on what it knew.
    Bequeath,
    /// Pass a word on to its owner's other golems.
    Tell {
        number: u64,
        word: Word,
    },
    /// Hand money back to the treasury.
    Deposit {
        deposit: u64,
        amount: Usdc,
    },
}

pub(crate) fn owed(life: &Life) -> Vec<Owed> {
    let flights = life.flights.iter().filter_map(|flight| {
        let (key, action, units) = (flight.key, flight.action, flight.units);
        match flight.stage {
            Stage::Asked | Stage::Approved => Some(Owed::Preview { key, action, units }),
            Stage::Permitted if still_permitted(life, flight).is_ok() => {
                Some(Owed::Commit { key, action, units, limit: flight.reserved })
            }
            Stage::Permitted => Some(Owed::Reconcile { key }),
            Stage::Waiting => None,
        }
    });
    let deposits = life.deposits.iter().map(|d| Owed::Deposit { deposit: d.number, amount: d.amount });
    let curate = curation_due(life).then_some(Owed::Curate);
    let tell = life.stress.word.map(|(number, word)| Owed::Tell { number, word });
    let dream = dream::owes(life).map(|phase| Owed::Dream { phase });
    let closing = match thanatopsis::phase(life) {
        Some(Phase::Reflection) => Some(Owed::Reflect),
        Some(Phase::Legacy) => Some(Owed::Bequeath),
        _ => None,
    };
    curate.into_iter().chain(dream).chain(flights).chain(deposits).chain(tell).chain(closing).collect()
}

/// A round of the Curator is due: only minds that keep knowledge have one, and only while they live.
pub(crate) fn curation_due(life: &Life) -> bool {
    life.tick >= life.knowing.last_tick + grimoire::ROUND
        && !life.is_dead()
        && life.constitution().mind.kind == MindKind::Rules
}
