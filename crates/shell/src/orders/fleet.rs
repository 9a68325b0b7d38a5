//! An order to every golem of a home at once: freeze, pause and back. Everyone is told before anyone is waited for, and
//! a freeze is marked in every folder before the first golem is told, so that it holds while a host hangs or is down.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use golem::Command;
use vault::Glance;

use super::order::{self, Heard, OrderState};
use crate::home::GolemHome;
use crate::home::inbox::Body;
use crate::{Error, Runtime};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Brake {
    Freeze {
        reason: String,
    },
    Pause,
    /// Undoes both.
    Resume,
}

/// One golem, and the result of the order or why there is none.
pub type FleetResult = (GolemHome, Result<Heard, Error>);

impl Brake {
    pub fn command(&self) -> Command {
        match self {
            Brake::Freeze { reason } => Command::Freeze { reason: reason.clone() },
            Brake::Pause => Command::Pause,
            Brake::Resume => Command::Resume,
        }
    }

    /// The new state of a golem, in words.
    pub fn done(&self) -> &'static str {
        match self {
            Brake::Freeze { .. } => "is frozen: no new exposure",
            Brake::Pause => "is paused; its clocks stand still",
            Brake::Resume => "goes on: neither paused nor frozen",
        }
    }

    /// Sets or removes the marker, which works without the golem.
    fn mark(&self, place: &GolemHome) -> Result<(), Error> {
        match self {
            Brake::Freeze { reason } => order::mark_frozen(place, reason),
            Brake::Pause => Ok(()),
            Brake::Resume => order::unmark_frozen(place),
        }
    }
}

/// Tells all who may still be alive here, and waits for all answers together no longer than this. Only what certainly
/// has no future is left out: a life that cannot be read is frozen all the same.
pub fn tell_all(
    runtime: &Arc<Runtime>,
    brake: &Brake,
    snapshot_every: u64,
    patience: Duration,
) -> Result<Vec<FleetResult>, Error> {
    let home = runtime.home();
    let has_a_future = |place: &GolemHome| Glance::read(&place.vault()).is_none_or(|glance| !glance.dead);
    let all: Vec<GolemHome> = home.list_still()?.into_iter().filter(has_a_future).collect();
    let marked: Vec<Result<(), Error>> = all.iter().map(|place| brake.mark(place)).collect();
    let pass_on = |place: &GolemHome| order::pass_on(runtime, place, Body::Command(brake.command()), snapshot_every);
    let told: Vec<Result<OrderState, Error>> =
        all.iter().zip(marked).map(|(place, marked)| marked.and_then(|()| pass_on(place))).collect();
    let deadline = Instant::now() + patience;
    let answers = all.into_iter().zip(told).filter_map(|(place, told)| {
        let left = deadline.saturating_duration_since(Instant::now());
        match told.and_then(|order| order::hear(runtime, &place, order, left)) {
            // The dead are past all this, and a golem that was moved away is another home's to order.
            Err(Error::Dead(..) | Error::Vault(vault::Error::Sealed(_))) => {
                let _ = order::unmark_frozen(&place);
                None
            }
            answer => Some((place, answer)),
        }
    });
    Ok(answers.collect())
}

/// The result of the kill switch.
#[derive(Debug)]
pub struct Halted {
    /// Whether the treasury has it on record, so that no golem gets an automatic heir.
    pub ended: Result<(), Error>,
    /// Every golem that could still be ended.
    pub answers: Vec<FleetResult>,
}

/// Ends every golem here for good. The owner's own book comes first; then everyone is told before anyone is waited for,
/// and whatever happens at one of them happens to no other.
pub fn halt_all(
    runtime: &Arc<Runtime>,
    trigger: &str,
    snapshot_every: u64,
    patience: Duration,
) -> Result<Halted, Error> {
    let home = runtime.home();
    let end_all = || home.treasury().and_then(|mut treasury| Ok(treasury.end_all()?));
    let mut ended = end_all();
    if ended.as_ref().is_err_and(Error::is_of_disk) && !home.is_read_only() && home.give_up_reserve() {
        ended = end_all();
    }
    let broke = |_| Err(Error::Host("it broke while it was told; `bardo doctor` looks at it".into()));
    let command = || Body::Command(Command::Halt { trigger: trigger.to_owned() });
    let told: Vec<(GolemHome, Result<OrderState, Error>)> = home
        .list_still()?
        .into_iter()
        .map(|place| {
            let told = catch_unwind(AssertUnwindSafe(|| order::pass_on(runtime, &place, command(), snapshot_every)));
            (place, told.unwrap_or_else(broke))
        })
        .collect();
    let deadline = Instant::now() + patience;
    let answers = told.into_iter().filter_map(|(place, told)| {
        let left = deadline.saturating_duration_since(Instant::now());
        match told.and_then(|order| order::hear(runtime, &place, order, left)) {
            // The dead cannot be ended, and a golem that was moved away is another home's to end.
            Err(Error::Dead(..) | Error::Vault(vault::Error::Sealed(_))) => None,
            answer => Some((place, answer)),
        }
    });
    Ok(Halted { ended, answers: answers.collect() })
}
