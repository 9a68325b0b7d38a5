//! How much a call may take now, what keeps it from taking more, and what is left for the next ones.

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
    /// The reason to refuse a call of this cost and these tokens, if there is one.
    pub fn keeps(&self, most: Usdc, tokens: u64) -> Option<Denied> {
        if most > self.money { Some(self.by) } else { (tokens > self.tokens).then_some(self.tokens_by) }
    }
}

/// Caps of the owner beside money, and how much of each is taken. Hours are the golem's age since its first call, or
/// since the first of the day: the time it has lived with calls, whether it was observed or not.
pub fn caps(life: &Life, at: Time) -> impl Iterator<Item = Cap> {
    let (caps, calls) = (life.policy.caps, &life.calls);
    let (units, today) = (calls.units, calls.units.today.at(day(at)));
    let since = |then: Option<Span>| then.map_or(0, |then| life.age.as_millis().saturating_sub(then.as_millis()));
    let open = calls.open.len() as u64;
    let in_all =
        (units.tokens.saturating_add(calls.tokens_promised()), units.calls.saturating_add(open), since(units.since));
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
    // A dying golem may still wind up, with the cheapest model there is.
    if tier > life.phase().behaviour().tier.max(Tier::Cheap) {
        return Err(Denied::Phase(life.phase()));
    }
    if life.calls.open.len() >= (life.policy.calls_at_once as usize).min(limits::CALLS) {
        return Err(Denied::Busy);
    }
    let mut tokens = (u64::MAX, Denied::Short(Unit::Tokens));
    for cap in caps(life, at) {
        let by = match (cap.a_day, life.calls.open.is_empty()) {
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
    let call = (life.policy.call_most.unwrap_or(Usdc::MOST), Denied::Call);
    let sums = [call].into_iter().chain(sums(life, at));
    let (money, by) = sums.min_by_key(|(left, _)| *left).expect("there are some");
    Ok(Room { money, by, tokens: tokens.0, tokens_by: tokens.1 })
}

/// The rest of each sum that calls are paid from, with the refusal to give where that rest is the smallest.
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

/// Money that calls may use from here on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// All of them together, until the hour, the day or the thirty days are over.
    pub all: Usdc,
    /// Any one of them.
    pub one: Usdc,
}

impl Left {
    /// Money that the next call may use after one of this cost.
    pub fn after(self, cost: Usdc) -> Usdc {
        (self.all - cost).max(Usdc::ZERO).min(self.one)
    }
}

/// Returns nothing while no call is let through at all. Where a call would only have to wait for a slot, or use a
/// cheaper model, it returns what such calls may cost.
pub fn left(life: &Life, at: Time) -> Left {
    if life.is_dead() || life.heartbeat.frozen || life.heartbeat.paused || life.calls.hold.is_some() {
        return Left::default();
    }
    if caps(life, at).any(|cap| cap.unit != Unit::Tokens && cap.left() == 0) {
        return Left::default();
    }
    let all = sums(life, at).into_iter().map(|(left, _)| left).min().unwrap_or(Usdc::ZERO);
    Left { all, one: life.policy.call_most.unwrap_or(Usdc::MOST) }
}
