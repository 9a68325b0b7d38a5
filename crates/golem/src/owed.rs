//! What a life owes the outside: a function of Life, so a crash cannot lose it and a restart cannot add to it.
//!
//! It falls in two. A *duty* is done here and now by whoever keeps the golem. An *errand* goes out into the world, and its
//! answer comes when it comes: late, twice or never. So each says what a crash in between means for it.

use life::Life;
use life::clade::News;
use life::constitution::MindKind;
use life::money::Usdc;
use life::policy::{Flight, Stage, still_permitted};
use life::thanatopsis::Rite;
use life::thought::Purpose;
use life::world::Order;

use crate::{dream, grimoire, thanatopsis};

/// Something to be done outside, and whose answer must come back as an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Owed {
    Duty(Duty),
    Errand(Errand),
}

/// What whoever keeps the golem does here and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Go through what is known, with whoever keeps it.
    Curate,
    /// Do the work of this phase of a night, with whoever keeps what was lived.
    Dream { phase: dream::SleepStage },
    /// Write its testament.
    Reflect,
    /// Pass on what it knew.
    Bequeath,
    /// Hand money back to the treasury.
    Deposit { deposit: u64, amount: Usdc },
}

/// What is sent, and answered in its own time.
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
    /// A call of an agent's is under way; whoever made it says what it came to.
    Call { key: u64 },
    /// It was asked by a process that is no more, and its answer is lost: nobody is asked again.
    Forfeit { key: u64 },
}

/// What to do about an errand that was under way when the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// Nothing comes of sending it twice.
    Send,
    /// It may have been done: ask what became of it before anything else.
    AskFirst,
    /// It may have been paid for, and nobody can say: it counts as spent.
    Forfeit,
}

/// Which errand it is, whatever is in it: two of the same are never under way at once.
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

/// What is owed, in the order in which it is to be seen to.
pub(crate) fn owed(life: &Life) -> impl Iterator<Item = Owed> + '_ {
    let curate = curation_due(life).then_some(Duty::Curate);
    let dream = dream::owes(life).map(|phase| Duty::Dream { phase });
    let deposits = life.deposits().iter().map(|d| Duty::Deposit { deposit: d.number, amount: d.amount });
    let closing = || match thanatopsis::phase(life)? {
        // Its last words are waited for.
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
