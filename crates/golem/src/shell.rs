//! The shell around a golem, and the one driver that sees to what it owes.
//!
//! The lab answers everything at once; a host sends errands and goes on, and its golem has its ticks meanwhile. Both are
//! shells of the same driver, so both react to the same things in the same order.

use life::Life;
use life::dream::Found;
use life::event::{Event, Record};
use life::money::Usdc;
use life::thought::Silence;
use life::time::Time;
use life::world::{Fate, Order, Quote};

use crate::call::CallVerdict;
use crate::golem::{Consequence, Golem};
use crate::grimoire::Curation;
use crate::input::{Fault, Input, What};
use crate::owed::{Duty, Errand, Owed, Which};

/// The surroundings of a golem: chance, journal, duties and errands.
pub trait Shell {
    type Error: From<Fault>;

    /// Chance for the tick after this life's newest.
    fn roll(&mut self, life: &Life) -> u64;

    /// Does a duty, here and now.
    fn duty(&mut self, life: &Life, duty: Duty) -> Result<What, Self::Error>;

    /// Sends an errand, or brings its answer; nothing while it is under way.
    fn errand(&mut self, life: &Life, errand: &Errand) -> Result<Option<What>, Self::Error>;

    /// Takes down the record of one input.
    fn record(&mut self, record: Record, life: &Life);

    /// Sees to it that everything taken down is durable; asked before anything leaves or is done on its account.
    fn sync(&mut self, _life: &Life) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Called with each event beside the life it left behind, while it happens.
    fn show(&mut self, _event: &Event, _life: &Life) {}
}

/// An input that was lived, and the verdict on it.
#[derive(Clone, Debug)]
pub struct Feedback {
    /// The input itself, so that its memory can be used again.
    pub what: What,
    /// The verdict on a call; nothing for any other input.
    pub verdict: Option<CallVerdict>,
}

/// Has a golem live one input.
pub fn feed<S: Shell>(golem: &mut Golem, shell: &mut S, now: Time, what: What) -> Result<Feedback, S::Error> {
    let input = Input { now, roll: shell.roll(golem.life()), what };
    let Consequence { record, verdict } = golem.step_with(&input, |event, life| shell.show(event, life))?;
    if let Some(record) = record {
        shell.record(record, golem.life());
    }
    Ok(Feedback { what: input.what, verdict })
}

/// Sees to everything owed, until only what is under way is left. What is owed is read again after each answer: one
/// that brings a death, a freeze or another epoch stops what was owed before it.
pub fn perform<S: Shell>(golem: &mut Golem, shell: &mut S) -> Result<(), S::Error> {
    // Errands under way, or answered in a way that changed nothing: they are asked again the next time.
    let mut seen: Vec<Which> = Vec::new();
    loop {
        let left = |owed: &Owed| !matches!(owed, Owed::Errand(errand) if seen.contains(&errand.which()));
        let Some(owed) = golem.owed().find(left) else { return Ok(()) };
        let before = golem.seq();
        match owed {
            // A round leads to nothing outside, so it can wait for the next transaction.
            Owed::Duty(Duty::Curate) => {
                let what = shell.duty(golem.life(), Duty::Curate)?;
                feed(golem, shell, golem.life().now(), what)?;
            }
            Owed::Duty(duty) => {
                shell.sync(golem.life())?;
                let what = shell.duty(golem.life(), duty)?;
                feed(golem, shell, golem.life().now(), what)?;
                shell.sync(golem.life())?;
            }
            Owed::Errand(errand) => {
                shell.sync(golem.life())?;
                let what = match errand {
                    // The answer is lost, so there is nothing to ask the shell.
                    Errand::Forfeit { key } => Some(What::Forfeited { key }),
                    errand => shell.errand(golem.life(), &errand)?,
                };
                if let Some(what) = what {
                    feed(golem, shell, golem.life().now(), what)?;
                    shell.sync(golem.life())?;
                }
                if golem.seq() == before {
                    seen.push(errand.which());
                }
            }
        }
        // A duty that changes nothing would be owed for ever.
        if golem.seq() == before && matches!(owed, Owed::Duty(_)) {
            return Ok(());
        }
    }
}

impl Duty {
    /// The answer of a shell that keeps nothing: nothing was learned, dreamt or left behind.
    pub fn barely(self, life: &Life) -> What {
        match self {
            Duty::Curate => {
                What::Curated(Box::new(Curation { round: life.knowing().rounds + 1, ..Curation::default() }))
            }
            Duty::Dream { .. } => What::Dreamt(Box::new(Found::nothing(life))),
            Duty::Reflect => What::Reflected { hash: [0; 32] },
            Duty::Bequeath => What::Bequeathed { hash: [0; 32], entries: 0 },
            Duty::Deposit { deposit, .. } => What::Deposited { deposit },
        }
    }
}

impl Errand {
    /// The answer where a world is only these two functions, and there are no peers and no models.
    pub fn answered(&self, quote: impl FnOnce(&Order) -> Option<Quote>, act: impl FnOnce(&Order) -> Fate) -> What {
        match *self {
            Errand::Preview { key, look, order } => What::Previewed { key, look, quote: quote(&order) },
            Errand::Commit { key, order } => What::Landed { key, fate: act(&order) },
            Errand::Reconcile { key } => What::Landed { key, fate: Fate::Never },
            Errand::Tell { number, .. } => What::Told { number, peers: 0 },
            Errand::Ask { key } => What::Answered { key, cost: Usdc::ZERO, said: Err(Silence::Unknown) },
            Errand::Forfeit { key } => What::Forfeited { key },
            Errand::Call { key } => What::lost(key),
        }
    }
}

impl Owed {
    /// The answer of a shell that keeps nothing, in a world that is only these two functions.
    pub fn answered(
        &self,
        life: &Life,
        quote: impl FnOnce(&Order) -> Option<Quote>,
        act: impl FnOnce(&Order) -> Fate,
    ) -> What {
        match self {
            Owed::Duty(duty) => duty.barely(life),
            Owed::Errand(errand) => errand.answered(quote, act),
        }
    }
}
