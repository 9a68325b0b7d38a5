//! How much a call may cost now, and what keeps it from costing more.

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
    let (policy, calls) = (&life.policy, &life.calls);
    if calls.open.len() >= (policy.calls_at_once as usize).min(limits::CALLS) {
        return Err(Denied::Busy);
    }
    let left = |cap: Option<Usdc>, spell: Spell| cap.map_or(Usdc::MOST, |cap| (cap - spell.taken).max(Usdc::ZERO));
    let month = life.month();
    let lack = if life.purse.promised == Usdc::ZERO { Denied::Broke } else { Denied::Funds };
    let caps = [
        (policy.call_most.unwrap_or(Usdc::MOST), Denied::Call),
        (left(policy.calls_hour, calls.hour.at(hour(at))), Denied::Hour),
        (left(policy.calls_day, calls.day.at(day(at))), Denied::Day),
        (left(policy.calls_month, calls.month.at(month)), Denied::Month),
        (economic::unpromised_allowance(life), Denied::Allowance),
        (economic::free(life), lack),
    ];
    Ok(caps.into_iter().min_by_key(|(left, _)| *left).expect("there are some"))
}
