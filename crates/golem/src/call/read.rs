//! How much a call may take now, and what keeps it from taking more.

use super::{Cap, Denied, Unit};
use crate::life::Life;
use crate::limits;
use crate::money::Usdc;
use crate::mortality::economic;
use crate::mortality::phase::Tier;
use crate::spell::{Spell, day, hour};
use crate::time::{Span, Time};

/// The most that may be set aside for one more call, and what keeps it from being more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub money: Usdc,
    pub by: Denied,
    pub tokens: u64,
    pub tokens_by: Denied,
}

impl Room {
    /// What keeps a call of so much from being let through, if anything does.
    pub fn keeps(&self, most: Usdc, tokens: u64) -> Option<Denied> {
        if most > self.money { Some(self.by) } else { (tokens > self.tokens).then_some(self.tokens_by) }
    }
}

/// What an owner has capped beside money, and how much of it is taken. Hours are its age since its first call, or since the first
/// of the day: the time it has lived with calls, looked at or not.
pub fn caps(life: &Life, at: Time) -> impl Iterator<Item = Cap> {
    let (caps, calls) = (life.policy.caps, &life.calls);
    let (counted, today) = (calls.counted, calls.counted.today.at(day(at)));
    let since = |then: Option<Span>| then.map_or(0, |then| life.age.as_millis().saturating_sub(then.as_millis()));
    let open = calls.open.len() as u64;
    let in_all = (
        counted.tokens.saturating_add(calls.tokens_promised()),
        counted.calls.saturating_add(open),
        since(counted.since),
    );
    let millis = |span: Option<Span>| span.map(Span::as_millis);
    let rows = [
        (Unit::Tokens, false, caps.tokens, in_all.0),
        (Unit::Tokens, true, caps.tokens_day, today.tokens),
        (Unit::Calls, false, caps.calls, in_all.1),
        (Unit::Calls, true, caps.calls_day, today.calls),
        (Unit::Hours, false, millis(caps.time), in_all.2),
        (Unit::Hours, true, millis(caps.time_day), since(today.since)),
    ];
    rows.into_iter().filter_map(|(unit, a_day, most, taken)| Some(Cap { unit, a_day, most: most?, taken }))
}

/// The most that may be set aside for a call of this tier now; or why there can be none.
pub fn room(life: &Life, at: Time, tier: Tier) -> Result<Room, Denied> {
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
    let mut tokens = (u64::MAX, Denied::Short(Unit::Tokens));
    for cap in caps(life, at) {
        let by = match (cap.a_day, calls.open.is_empty()) {
            (true, _) => Denied::Today(cap.unit),
            (false, true) => Denied::Spent(cap.unit),
            (false, false) => Denied::Short(cap.unit),
        };
        match cap.unit {
            Unit::Tokens if cap.left() < tokens.0 => tokens = (cap.left(), by),
            Unit::Calls | Unit::Hours if cap.left() == 0 => return Err(by),
            _ => {}
        }
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
    let (money, by) = caps.into_iter().min_by_key(|(left, _)| *left).expect("there are some");
    Ok(Room { money, by, tokens: tokens.0, tokens_by: tokens.1 })
}
