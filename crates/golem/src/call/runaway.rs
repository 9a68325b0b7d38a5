//! Loops, which is what ruins people: the same call again and again, more calls at once than ever, a minute that costs more
//! than any before. Whoever crosses one of these is stopped before the call that does, and its owner is asked.
//!
//! A golem that has made few calls has no habits yet, and is judged by them only once it has.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Calls;
use crate::life::Life;
use crate::limits;
use crate::money::Usdc;
use crate::spell::{Spell, day_of_minute, minute};
use crate::time::{Span, Time};

/// How long the same call is the same loop.
const LOOP: Span = Span::seconds(120);
/// A call made so often is no loop yet, whatever it costs.
const FEW: u32 = 3;
/// Of everything it was ever given, in basis points: what the same call may come to, what a minute may be beyond the busiest
/// so far, what is asked about even if it is only a few calls, and what is too little to ask about.
const SAME: i64 = 200;
const BEYOND: i64 = 30;
const DEAR: i64 = 40;
const LITTLE: i64 = 8;
/// Minutes with calls in them that make habits.
const SETTLED: u32 = 20;
/// Calls at once, and calls within a minute, that are nothing yet.
const NARROW: u32 = 4;
const SLOW: u32 = 5;

/// What was crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runaway {
    /// The same call again and again.
    Alike,
    /// More at once than ever.
    Fan,
    /// A minute that costs more than any.
    Pace,
}

impl fmt::Display for Runaway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Runaway::Alike => "the same call was made again and again",
            Runaway::Fan => "far more calls were made at once than usual",
            Runaway::Pace => "calls of a minute were to cost far more than usual",
        })
    }
}

/// Calls are stopped until their golem's owner says yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// What a yes must name.
    pub key: u64,
    pub by: Runaway,
    /// How often the same, how many at once, or how many within the minute.
    pub times: u32,
    /// What those had cost, or could.
    pub sum: Usdc,
    pub since: Time,
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hold { times, sum, .. } = self;
        match self.by {
            Runaway::Alike => write!(f, "the same call {times} times within two minutes, for {sum} so far"),
            Runaway::Fan => write!(f, "{times} calls at once, for up to {sum}"),
            Runaway::Pace => write!(f, "{times} calls within a minute, which came to {sum} so far"),
        }
    }
}

/// One call that was made more than once, perhaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alike {
    pub what: u64,
    pub since: Time,
    pub times: u32,
    pub sum: Usdc,
}

/// How a golem usually calls, by the minutes in which it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Habits {
    pub minutes: u32,
    /// What was paid for calls in the busiest minute, and how many were under way at once at most; both fade by an eighth a
    /// day.
    pub busiest: Usdc,
    pub widest: u32,
    /// So many at once has its owner said yes to.
    pub allowed: u32,
    /// The minute that is not over.
    pub minute: Spell,
    pub wide: u32,
    /// The dearest call of it: one long document is no loop.
    pub dearest: Usdc,
}

impl Habits {
    /// As they are once every minute before this one is over.
    pub(super) fn at(mut self, at: Time) -> Habits {
        let number = minute(at);
        if self.minute.number == number {
            return self;
        }
        if self.minute.asked == 0 && self.minute.taken == Usdc::ZERO {
            self.minute.number = number;
            return self;
        }
        self.minutes = self.minutes.saturating_add(1);
        // One minute changes habits by so much at most, or the first of a loop would make the rest of it usual.
        let (most, wide) = if self.are_settled() {
            (self.busiest.share(5, 4), self.widest.saturating_mul(2))
        } else {
            (Usdc::MOST, u32::MAX)
        };
        self.busiest = self.busiest.max(self.minute.taken.min(most));
        self.widest = self.widest.max(self.wide.min(wide));
        for _ in day_of_minute(self.minute.number)..day_of_minute(number).min(day_of_minute(self.minute.number) + 64) {
            self.busiest -= self.busiest.share(1, 8);
            self.widest -= self.widest / 8;
        }
        (self.minute, self.wide, self.dearest) = (Spell::default().at(number), 0, Usdc::ZERO);
        self
    }

    fn are_settled(&self) -> bool {
        self.minutes >= SETTLED
    }
}

impl Calls {
    /// How often this one was made lately, and what that came to as far as it is known.
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

    /// What it came to; and if nobody was reached, trying again is no loop.
    pub(super) fn pay_alike(&mut self, what: u64, asked: Time, cost: Usdc, reached: bool) {
        if let Some(alike) = self.alike.iter_mut().find(|alike| alike.what == what && asked >= alike.since) {
            alike.sum += cost;
            alike.times -= u32::from(!reached && alike.times > 0);
        }
    }
}

/// What one more call would cross, with how many and what they would come to.
pub(super) fn crossed(life: &Life, at: Time, most: Usdc, alike: u64) -> Option<(Runaway, u32, Usdc)> {
    let (policy, calls, given) = (&life.policy, &life.calls, life.purse.given);
    let of = |share: i64| given.share(share, 10_000);
    let (times, sum) = calls.like(alike, at);
    // One more is taken to cost what those before did: what it can cost at most is far more, where nobody says how long an
    // answer may be.
    let expected = sum + sum.share(1, i64::from(times.max(1)));
    if policy.calls_alike > 0 && (times >= policy.calls_alike || (times >= FEW && expected > of(SAME))) {
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
    let (asked, taken) = (habits.minute.asked + 1, habits.minute.taken);
    let usual = habits.busiest.share(i64::from(leap), 1).min(habits.busiest + of(BEYOND));
    let rest = taken - habits.dearest;
    let fast = (asked >= SLOW && rest > of(LITTLE)) || (asked >= FEW && rest > of(DEAR));
    (fast && rest > usual).then_some((Runaway::Pace, asked, taken))
}
