//! Duties and errands that a life owes the outside: a function of Life, so a crash cannot lose them and a restart
//! cannot add to them.
//!
//! There are two kinds. A *duty* is done here and now by the host. An *errand* goes out into the world, and its answer
//! comes when it comes: late, twice or never. So each says what a crash in between means for it.

use life::clade::News;
use life::constitution::MindKind;
use life::money::Usdc;
use life::policy::{Flight, Stage, still_permitted};
use life::thanatopsis::{self, Rite};
use life::thought::Purpose;
use life::world::Order;
use life::{Life, dream, grimoire};

/// Something to be done outside, and whose answer must come back as an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Owed {
    Duty(Duty),
    Errand(Errand),
}

/// A task that the host does here and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Run a round of the Curator over the Grimoire.
    Curate,
    /// Do the work of this phase of a night, from the memory of what was lived.
    Dream { phase: dream::SleepStage },
    /// Write its testament.
    Reflect,
    /// Pass on what it knew.
    Bequeath,
    /// Hand money back to the treasury.
    Deposit { deposit: u64, amount: Usdc },
}

/// A request that is sent, and answered in its own time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Errand {
    /// Ask the world what this would do.
    Preview { key: u64, look: u8, order: Order },
    /// Have the world do it; never twice.
    Commit { key: u64, order: Order },
    /// Ask the world what became of it; never send it.
    Reconcile { key: u64 },
    /// Pass a word on to its owner's other golems.
    Tell { number: u64, news: News },
    /// Ask a model this question of its thoughts; never twice.
    Ask { key: u64 },
    /// Settle a call of the agent's that is under way, once the gateway knows its outcome.
    Call { key: u64 },
    /// Give up a question asked by a process that is gone, whose answer is lost: no model is asked again.
    Forfeit { key: u64 },
}

/// The way to treat an errand that was under way when the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// Send it again: twice does no harm.
    Send,
    /// Ask what became of it before anything else, since it may have been done.
    AskFirst,
    /// Count it as spent, since it may have been paid for.
    Forfeit,
}

/// The identity of an errand, whatever its content: two with the same are never under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Which {
    Preview { key: u64, look: u8 },
    Commit { key: u64 },
    Reconcile { key: u64 },
    Tell { number: u64 },
    Ask { key: u64 },
    Call { key: u64 },
    Forfeit { key: u64 },
}

impl Errand {
    pub fn which(&self) -> Which {
        match *self {
            Errand::Preview { key, look, .. } => Which::Preview { key, look },
            Errand::Commit { key, .. } => Which::Commit { key },
            Errand::Reconcile { key } => Which::Reconcile { key },
            Errand::Tell { number, .. } => Which::Tell { number },
            Errand::Ask { key } => Which::Ask { key },
            Errand::Call { key } => Which::Call { key },
            Errand::Forfeit { key } => Which::Forfeit { key },
        }
    }

    pub fn after_a_crash(&self) -> Again {
        match self {
            Errand::Commit { .. } => Again::AskFirst,
            Errand::Ask { .. } | Errand::Call { .. } => Again::Forfeit,
            Errand::Preview { .. } | Errand::Reconcile { .. } | Errand::Tell { .. } | Errand::Forfeit { .. } => {
                Again::Send
            }
        }
    }
}

/// Duties and errands that a life owes, in the order in which to see to them.
pub(crate) fn owed(life: &Life) -> impl Iterator<Item = Owed> + '_ {
    let curate = curation_due(life).then_some(Duty::Curate);
    let dream = dream::owes(life).map(|phase| Duty::Dream { phase });
    let deposits = life.deposits().iter().map(|d| Duty::Deposit { deposit: d.number, amount: d.amount });
    let closing = || match thanatopsis::phase(life)? {
        // The testament waits for last words that were asked for.
        Rite::Reflection => (!life.thoughts().asks(Purpose::Reflect)).then_some(Duty::Reflect),
        Rite::Legacy => Some(Duty::Bequeath),
        _ => None,
    };
    let flights = life.flights().iter().filter_map(|flight| errand(life, flight));
    let tell = life.clade().untold.first().map(|(number, news)| Errand::Tell { number: *number, news: *news });
    let first = curate.into_iter().chain(dream).map(Owed::Duty);
    let thoughts = life.thoughts().open.iter().map(|question| Errand::Ask { key: question.key });
    let calls = life.calls().open.iter().map(|open| Errand::Call { key: open.key });
    let then = flights
        .chain(thoughts)
        .chain(calls)
        .map(Owed::Errand)
        .chain(deposits.map(Owed::Duty))
        .chain(tell.map(Owed::Errand));
    first.chain(then).chain(closing().map(Owed::Duty))
}

fn errand(life: &Life, flight: &Flight) -> Option<Errand> {
    let key = flight.key;
    match flight.stage {
        Stage::Asked | Stage::Approved => {
            Some(Errand::Preview { key, look: flight.look(), order: Order::open(flight.action, flight.units) })
        }
        Stage::Permitted if still_permitted(life, flight).is_ok() => {
            Some(Errand::Commit { key, order: flight.order(life) })
        }
        Stage::Permitted | Stage::Sent => Some(Errand::Reconcile { key }),
        Stage::Waiting => None,
    }
}

/// A round of the Curator is due: only minds that keep knowledge have one, and only while they live.
pub(crate) fn curation_due(life: &Life) -> bool {
    life.tick() >= life.knowing().last_tick + grimoire::ROUND
        && !life.is_dead()
        && life.constitution().mind.kind == MindKind::Rules
}
