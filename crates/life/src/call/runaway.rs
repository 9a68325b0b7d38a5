//! Loops, which are what ruins people: the same call again and again, more calls at once than ever, a minute that costs
//! more than any before. A golem is stopped before the call that would cross one of these, and its owner is asked.
//!
//! A golem that has made few calls has no habits yet, and is judged by them only once it has.

use super::{Alike, Calls, Runaway};
use crate::life::Life;
use crate::limits;
use crate::money::Usdc;
use crate::time::{Span, Time};

/// Time within which repeated calls belong to one loop.
const LOOP: Span = Span::seconds(120);
/// A call repeated less often than this is not a loop, whatever it costs.
const FEW: u32 = 3;
/// Of everything it was ever given, in basis points: what the same call may come to, what a minute may be beyond the busiest
/// so far, what is asked about even if it is only a few calls, and what is too little to ask about.
const SAME: i64 = 200;
const BEYOND: i64 = 30;
const DEAR: i64 = 40;
const LITTLE: i64 = 8;
/// Calls at once, and calls within a minute, that are too few to ask about.
const NARROW: u32 = 4;
const SLOW: u32 = 5;

impl Calls {
    /// How often a call like this was made lately, and its cost as far as that is known.
    fn like(&self, what: u64, at: Time) -> (u32, Usdc) {
        let known = self.alike.iter().find(|alike| alike.what == what && at < alike.since + LOOP);
        known.map_or((0, Usdc::ZERO), |alike| (alike.times, alike.sum))
    }

    pub(super) fn note_alike(&mut self, what: u64, at: Time) {
        let (times, sum) = self.like(what, at);
        let since = self.alike.iter().find(|alike| alike.what == what && times > 0).map_or(at, |alike| alike.since);
        self.alike.retain(|alike| alike.what != what);
        if self.alike.len() >= limits::ALIKE {
            self.alike.pop_front();
        }
        self.alike.push_back(Alike { what, since, times: times + 1, sum });
    }

    /// The call that was held, found by how often it was made and for how much. The newest of these is the one that
    /// crossed.
    pub(super) fn made_like(&self, times: u32, sum: Usdc) -> Option<u64> {
        self.alike.iter().rev().find(|alike| alike.times + 1 == times && alike.sum == sum).map(|alike| alike.what)
    }

    /// Makes the call that was stopped a usual one, since its owner has said yes to it.
    pub(super) fn make_usual(&mut self) {
        let Some(what) = self.looped.take().filter(|what| !self.usual.contains(what)) else { return };
        if self.usual.len() >= limits::USUAL {
            self.usual.pop_front();
        }
        self.usual.push_back(what);
    }

    /// Adds a call's cost; if no provider was reached, trying again is not a loop.
    pub(super) fn pay_alike(&mut self, what: u64, asked: Time, cost: Usdc, reached: bool) {
        if let Some(alike) = self.alike.iter_mut().find(|alike| alike.what == what && asked >= alike.since) {
            alike.sum += cost;
            alike.times -= u32::from(!reached && alike.times > 0);
        }
    }
}

/// The sum that calls are measured against: what the golem was given. Where money is imputed, it is at most what its
/// capped tokens and calls would cost by what they have cost so far.
fn whole(life: &Life) -> Usdc {
    let (given, calls, caps) = (life.purse.given, &life.calls, &life.policy.caps);
    if !life.policy.imputed || calls.spent == Usdc::ZERO {
        return given;
    }
    let worth = |(cap, taken): (Option<u64>, u64)| {
        let (cap, taken) = (i128::from(cap?), i128::from(taken.max(1)));
        i64::try_from(i128::from(calls.spent.as_micros()) * cap / taken).ok().map(Usdc::micros)
    };
    let worths = [(caps.tokens, calls.units.tokens), (caps.calls, calls.units.calls)];
    worths.into_iter().filter_map(worth).fold(given, Usdc::min)
}

/// The limit that one more call would cross, with the number of calls and their sum.
pub fn crossed(life: &Life, at: Time, most: Usdc, alike: u64) -> Option<(Runaway, u32, Usdc)> {
    let (policy, calls, whole) = (&life.policy, &life.calls, whole(life));
    let of = |share: i64| whole.share(share, 10_000);
    let (times, sum) = calls.like(alike, at);
    // One more is taken to cost what those before did: the most it can cost is far more, where the request does not say
    // how long an answer may be.
    let expected = sum + sum.share(1, i64::from(times.max(1)));
    let asked_about = policy.calls_alike > 0 && !calls.usual.contains(&alike);
    if asked_about && (times >= policy.calls_alike || (times >= FEW && expected > of(SAME))) {
        return Some((Runaway::Alike, times + 1, sum));
    }
    let habits = calls.habits.at(at);
    let (wide, promised) = (calls.open.len() as u32 + 1, calls.promised() + most);
    if policy.calls_fan > 0 && wide > policy.calls_fan.max(habits.allowed) {
        return Some((Runaway::Fan, wide, promised));
    }
    if policy.calls_leap == 0 || !habits.are_settled() {
        return None;
    }
    let leap = policy.calls_leap;
    if wide > NARROW.max(habits.widest.saturating_mul(leap)).max(habits.allowed) && promised > of(LITTLE) {
        return Some((Runaway::Fan, wide, promised));
    }
    if !habits.pay_is_settled() {
        return None;
    }
    let (asked, taken) = (habits.minute.asked + 1, habits.minute.taken);
    let usual = habits.busiest.share(i64::from(leap), 1).min(habits.busiest + of(BEYOND));
    let rest = taken - habits.dearest;
    let fast = (asked >= SLOW && rest > of(LITTLE)) || (asked >= FEW && rest > of(DEAR));
    (fast && rest > usual).then_some((Runaway::Pace, asked, taken))
}
