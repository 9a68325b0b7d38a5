//! Questions about acting: what is open now, how large, and whether a permit still stands.

use super::flight::{Flight, policy_hash, preview_hash};
use super::{Day, Refusal};
use crate::heartbeat::State;
use crate::life::Life;
use crate::money::Usdc;
use crate::stress;
use crate::time::{Span, Time};
use crate::world::{Effect, Order};

/// Ticks before a refusal by the same rule is told again.
pub const TELL_AGAIN: u64 = 50;

impl Day {
    pub fn of(life: &Life, at: Time) -> Day {
        let number = at.as_millis() / Span::DAY.as_millis();
        if life.day.number == number { life.day } else { Day { number, ..Day::default() } }
    }
}

/// The first rule that forbids this kind of action now, if any. Reducing exposure is open to everyone alive.
pub fn gate(life: &Life, effect: Effect) -> Result<(), Refusal> {
    if life.is_dead() {
        return Err(Refusal::Dead);
    }
    if effect == Effect::Reduces {
        return Ok(());
    }
    if life.heartbeat.frozen {
        return Err(Refusal::Frozen);
    }
    if life.heartbeat.paused {
        return Err(Refusal::Paused);
    }
    if life.heartbeat.state == State::Dreaming {
        return Err(Refusal::Dreaming);
    }
    if !life.phase().permits(effect) {
        return Err(Refusal::Phase(life.phase()));
    }
    if !stress::allowed(life).add {
        return Err(Refusal::Load(stress::band(life)));
    }
    if life.avoiding { Err(Refusal::Strategy) } else { Ok(()) }
}

/// The share of the usual size that is risked where a sibling died, in per cent.
const STAINED: i64 = 50;

/// How much of the usual size is left, in per cent: phase, load, mood, warnings and the dead each have a say, and the
/// strictest wins.
pub fn caution(life: &Life, domain: Option<u8>) -> i64 {
    let phase = (life.phase().behaviour().risk * 100.0) as i64;
    let warned = domain.map_or(100, |domain| stress::heeded_percent(life, domain));
    let stained = if life.clade.near.is_some() { STAINED } else { 100 };
    phase.min(stress::allowed(life).size_percent).min(life.daimon.mood.size_percent()).min(warned).min(stained)
}

/// Intervals an ask may take.
const PATIENCE: u64 = 4;

pub fn patience(life: &Life) -> Span {
    life.constitution().interval.times(PATIENCE)
}

impl Flight {
    /// The order for the world, with its bounds.
    pub fn order(&self, life: &Life) -> Order {
        let gas = (self.gas - life.constitution().economic.per_action).max(Usdc::ZERO);
        let Flight { action, units, reserved: most, least, deadline: until, .. } = *self;
        Order { action, units, most, least, gas, until }
    }

    pub fn effect(&self, life: &Life) -> Effect {
        life.birth.world.actions[usize::from(self.action)].effect
    }
}

/// Whether there is reason by now to take on less than was asked for.
pub fn grown_careful(life: &Life, flight: &Flight) -> bool {
    let asked = life.stress.cautioned.filter(|(key, _)| *key == flight.key).map_or(100, |(_, percent)| percent);
    let domain = life.intent.filter(|intent| intent.key == flight.key).map(|intent| intent.domain);
    flight.effect(life) == Effect::Adds && caution(life, domain) < i64::from(asked)
}

/// Whether a permit may still be used, looked at just before anything is sent.
pub fn still_permitted(life: &Life, flight: &Flight) -> Result<(), Refusal> {
    let Some(permit) = life.permits.iter().find(|permit| permit.key == flight.key) else { return Err(Refusal::Stale) };
    let same = flight.quote.is_some_and(|quote| preview_hash(flight, &quote) == permit.preview);
    if !same || life.now > permit.expires {
        return Err(Refusal::Stale);
    }
    if flight.closing {
        return Ok(());
    }
    if flight.epoch != life.heartbeat.epoch || permit.policy != policy_hash(&life.policy) {
        return Err(Refusal::Stale);
    }
    if grown_careful(life, flight) {
        return Err(Refusal::Stale);
    }
    gate(life, flight.effect(life))
}
