//! Thanatopsis: the way from a death to its end, in four phases. Each is read off Life, so a way cut short anywhere goes
//! on from there, and nothing is settled twice.
//!
//! *Acceptance*: no more claims, no more learning, the siblings are told. *Settlement*: what is held is closed, held or
//! handed over as the owner chose, and all money but the reserve goes home. *Reflection*: the testament is written.
//! *Legacy*: what was known goes through the bottleneck and onto the shelf. Then the reserve goes home too. Rules do all
//! of it, so it needs neither money nor a model, and whatever the cause it completes.

mod review;
mod testament;

pub use review::{Arc, Moment, Review};
pub use testament::{Ancestry, Bloodstain, Outside, SECTIONS, Section, Statistics, Testament, write};

use serde::{Deserialize, Serialize};

use crate::constitution::OnDeath;
use crate::draft::Draft;
use crate::event::{Account, Event};
use crate::heartbeat::State;
use crate::life::Life;
use crate::money::Usdc;
use crate::policy;
use crate::stress::Word;
use crate::time::Span;
use crate::world::Effect;

/// Attempts to close what is held before it is handed over instead, and the time there is for it.
const CLOSING_ATTEMPTS: u32 = 3;
pub const LIMIT: Span = Span::seconds(30 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Acceptance,
    Settlement,
    Reflection,
    Legacy,
    Over,
}

/// What has been done of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The hash of the testament, and of what was bequeathed with the number of its entries.
    pub testament: Option<[u8; 32]>,
    pub legacy: Option<([u8; 32], u32)>,
}

/// What an owner is left to look after, as it stood: nobody else watches it any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// Millionths of a unit, what a unit is called, and what they were acquired for.
    pub holding: i64,
    pub unit: String,
    pub cost: Usdc,
    /// The worth of a unit at which it would have given them up.
    pub stop: Option<Usdc>,
    pub handed_over: bool,
}

/// What a death leaves in place of money; none if there is nothing, or while there is hope of closing it.
pub fn left(life: &Life) -> Option<Left> {
    let (capital, policy) = (&life.capital, &life.policy);
    (life.is_dead() && capital.holding > 0 && !closes(life)).then(|| Left {
        holding: capital.holding,
        unit: life.birth.world.unit.clone(),
        cost: capital.cost,
        stop: capital.stop(policy.stop_bps),
        handed_over: policy.on_death == OnDeath::HandOver,
    })
}

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let units = format!("{:.6}", self.holding as f64 / 1e6);
        let units = units.trim_end_matches('0').trim_end_matches('.');
        let how = if self.handed_over { "handed over to" } else { "left to" };
        write!(f, "{units} {} {how} its owner as it was, acquired for {}", self.unit, self.cost)?;
        match self.stop {
            Some(stop) => write!(f, "; its stop stands at {stop} a unit and is yours to watch"),
            None => write!(f, "; it has no stop"),
        }
    }
}

/// How far a death has come; none while it lives.
pub fn phase(life: &Life) -> Option<Phase> {
    let death = life.death.as_ref()?;
    Some(match () {
        () if life.heartbeat.state == State::Dead => Phase::Over,
        () if matches!(life.stress.word, Some((_, Word::Death))) => Phase::Acceptance,
        () if !is_settled(life) => Phase::Settlement,
        () if death.progress.testament.is_none() => Phase::Reflection,
        () if death.progress.legacy.is_none() => Phase::Legacy,
        () => Phase::Settlement,
    })
}

/// What stays with the dead for the way: the reserve, until there is nothing left to do.
fn kept(life: &Life) -> Usdc {
    let over = life.heartbeat.state == State::Dead;
    let done = over || life.death.as_ref().is_some_and(|death| death.progress.legacy.is_some());
    if done { Usdc::ZERO } else { life.purse.reserve(life).min(life.purse.credit) }
}

/// Nothing is under way, and no money is left that should go home by now.
fn is_settled(life: &Life) -> bool {
    life.flights.is_empty()
        && life.deposits.is_empty()
        && life.purse.credit <= kept(life)
        && !life.capital.cash.is_positive()
        && !closes(life)
}

fn closes(life: &Life) -> bool {
    let Some(death) = &life.death else { return false };
    life.policy.on_death == OnDeath::Close
        && life.heartbeat.state != State::Dead
        && life.capital.holding > 0
        && death.closing_attempts < CLOSING_ATTEMPTS
        && life.now < death.at + LIMIT
        && life.birth.world.action(Effect::Reduces).is_some()
}

/// Goes as far towards the end as it can without an answer from outside.
pub(crate) fn proceed(draft: &mut Draft<'_>) {
    if draft.death.is_none() {
        return;
    }
    policy::give_way(draft);
    if !draft.flights.is_empty() {
        return;
    }
    if closes(draft) {
        policy::close_all(draft);
        return;
    }
    let home = [(Account::Credit, draft.purse.credit - kept(draft)), (Account::Capital, draft.capital.cash)];
    for (account, amount) in home {
        if amount.is_positive() && !draft.deposits.is_full() {
            draft.emit(Event::Withdrew { deposit: draft.deposits_made + 1, from: account, amount });
        }
    }
    let done = draft.death.as_ref().is_some_and(|death| death.progress.legacy.is_some());
    if done && is_settled(draft) && draft.heartbeat.state != State::Dead {
        draft.emit(Event::Turned(State::Dead));
    }
}

/// The testament has been written, and is safe.
pub(crate) fn reflected(draft: &mut Draft<'_>, hash: [u8; 32]) {
    if phase(draft) == Some(Phase::Reflection) {
        draft.emit(Event::Reflected { hash });
    }
}

/// What was known has gone where it is to go.
pub(crate) fn bequeathed(draft: &mut Draft<'_>, hash: [u8; 32], entries: u32) {
    if phase(draft) == Some(Phase::Legacy) {
        draft.emit(Event::Bequeathed { hash, entries });
    }
}
