//! How much a call may cost now, what keeps it from costing more, and what is left for the next ones.

use super::Denied;
use crate::life::Life;
use crate::limits;
use crate::money::Usdc;
use crate::mortality::economic;
use crate::mortality::phase::Tier;
use crate::spell::{Spell, day, hour};
use crate::time::Time;

/// The most that may be set aside for a call of this tier now, and what keeps it from being more; or why there can be none.
pub fn room(life: &Life, at: Time, tier: Tier) -> Result<(Usdc, Denied), Denied> {
    if life.is_dead() {
        return Err(Denied::Dead);
    }
    if life.heartbeat.frozen {
        return Err(Denied::Frozen);
    }
    if life.heartbeat.paused {
        return Err(Denied::Paused);
    }
    if let Some(hold) = life.calls.hold {
        return Err(Denied::Held(hold.by));
    }
    // Who is dying may still wind up, with the cheapest there is.
    if tier > life.phase().behaviour().tier.max(Tier::Cheap) {
        return Err(Denied::Phase(life.phase()));
    }
    if life.calls.open.len() >= (life.policy.calls_at_once as usize).min(limits::CALLS) {
        return Err(Denied::Busy);
    }
    let caps = [(life.policy.call_most.unwrap_or(Usdc::MOST), Denied::Call)].into_iter().chain(sums(life, at));
    Ok(caps.min_by_key(|(left, _)| *left).expect("there are some"))
}

/// What is left of each sum that calls are paid from, and how it is called where it is the least of them.
fn sums(life: &Life, at: Time) -> [(Usdc, Denied); 5] {
    let (policy, calls) = (&life.policy, &life.calls);
    let left = |cap: Option<Usdc>, spell: Spell| cap.map_or(Usdc::MOST, |cap| (cap - spell.taken).max(Usdc::ZERO));
    let month = life.month();
    let lack = if life.purse.promised == Usdc::ZERO { Denied::Broke } else { Denied::Funds };
    [
        (left(policy.calls_hour, calls.hour.at(hour(at))), Denied::Hour),
        (left(policy.calls_day, calls.day.at(day(at))), Denied::Day),
        (left(policy.calls_month, calls.month.at(month)), Denied::Month),
        (economic::unpromised_allowance(life), Denied::Allowance),
        (economic::free(life), lack),
    ]
}

/// What calls may use from here on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// All of them together, until the hour, the day or the thirty days are over.
    pub all: Usdc,
    /// Any one of them.
    pub one: Usdc,
}

impl Left {
    /// What the next may use, once one has come to so much.
    pub fn after(self, cost: Usdc) -> Usdc {
        (self.all - cost).max(Usdc::ZERO).min(self.one)
    }
}

/// Nothing while none is let through, whatever there is. Who only has to wait for a place, or may ask cheaper models alone, has
/// what these may cost.
pub fn left(life: &Life, at: Time) -> Left {
    if life.is_dead() || life.heartbeat.frozen || life.heartbeat.paused || life.calls.hold.is_some() {
        return Left::default();
    }
    let all = sums(life, at).into_iter().map(|(left, _)| left).min().unwrap_or(Usdc::ZERO);
    Left { all, one: life.policy.call_most.unwrap_or(Usdc::MOST) }
}
