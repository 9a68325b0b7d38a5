//! Questions to the owner, to answer with yes or no.

use std::fmt;

use life::Life;
use life::money::Usdc;
use life::mortality::{Partition, economic};
use life::policy::{Day, Flight, Refusal, Stage, TELL_AGAIN, gate, grown_careful};
use life::time::Time;
use life::world::{Effect, Quote};
use serde::{Deserialize, Serialize};

/// A question to the owner whether an action may go ahead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// The key that a yes or a no must name, so that owners only answer what they have seen.
    pub key: u64,
    pub action: String,
    /// Millionths of a unit.
    pub units: i64,
    /// The name of one unit.
    pub unit: String,
    /// The most the action may cost, everything included.
    pub most: Usdc,
    /// The preview at the time of asking.
    pub quote: Option<Quote>,
    /// When silence becomes a no, in the time of its world.
    pub until: Time,
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.units / 1_000_000, self.units % 1_000_000);
        let units = format!("{whole}.{part:06}");
        let units = units.trim_end_matches('0').trim_end_matches('.');
        write!(f, "{} {units} {} for at most {}", self.action, self.unit, self.most)
    }
}

/// The action that waits for its owner's word, if any.
pub fn asks(life: &Life) -> Option<Ask> {
    let flight = life.flights().iter().find(|flight| flight.stage == Stage::Waiting)?;
    Some(Ask {
        key: flight.key,
        action: life.birth().world.actions[usize::from(flight.action)].name.clone(),
        units: flight.units,
        unit: life.birth().world.unit.clone(),
        most: flight.reserved,
        quote: flight.quote,
        until: flight.deadline,
    })
}

/// Whether an action is large enough to ask the owner about, and was not asked about yet.
pub(super) fn is_needed(life: &Life, flight: &Flight) -> bool {
    flight.stage == Stage::Asked
        && !flight.closing
        && flight.effect(life) == Effect::Adds
        && life.policy().approve_above.is_some_and(|most| flight.reserved > most)
}

pub(super) fn still_waits(life: &Life, at: Time, flight: &Flight) -> Result<(), Refusal> {
    gate(life, flight.effect(life))?;
    if flight.deadline < at {
        return Err(Refusal::Unanswered);
    }
    if flight.epoch != life.heartbeat().epoch || grown_careful(life, flight) {
        return Err(Refusal::Stale);
    }
    Ok(())
}

/// Whether an action is still within every cap: an owner takes their time, and may have taken money meanwhile.
pub(super) fn still_fits(life: &Life, at: Time, flight: &Flight) -> Result<(), Refusal> {
    let (policy, day) = (&life.policy(), Day::of(life, at));
    let share = life.capital().worth(life.seen().unit).share(i64::from(policy.per_action_bps), 10_000);
    if flight.reserved > share.min(policy.per_action_most) {
        return Err(Refusal::PerAction);
    }
    if day.actions >= policy.actions_per_day {
        return Err(Refusal::ActionsPerDay);
    }
    if day.value + flight.reserved > policy.per_day_most {
        return Err(Refusal::PerDay);
    }
    let gas = life.constitution().economic.per_action;
    let left = economic::budget(life, Partition::Gas).min(economic::allowance(life));
    if left < gas { Err(Refusal::Gas) } else { Ok(()) }
}

/// Whether it is too soon to ask the owner again: after a no, or no answer, they are left alone for as long as they had
/// to answer.
pub(super) fn is_tiresome(life: &Life) -> bool {
    let ticks = life.policy().approve_within.as_millis() / life.constitution().interval.as_millis().max(1);
    life.refused().is_some_and(|(rule, tick)| {
        matches!(rule, Refusal::Unapproved | Refusal::Unanswered) && life.tick() < tick + ticks.max(TELL_AGAIN)
    })
}
