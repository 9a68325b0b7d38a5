//! How a golem usually calls, and the stops that catch it when it calls otherwise.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::money::Usdc;
use crate::spell::{Spell, day_of_minute, minute};
use crate::time::Time;

/// Minutes with calls in them that make habits.
const SETTLED: u32 = 20;

/// The limit that a runaway crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runaway {
    /// One call made again and again.
    Alike,
    /// More calls at once than ever.
    Fan,
    /// A minute that costs more than any.
    Pace,
    /// A provider billed more than the most that a call could cost.
    Bill,
}

impl fmt::Display for Runaway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Runaway::Alike => "the same call was made again and again",
            Runaway::Fan => "far more calls were made at once than usual",
            Runaway::Pace => "calls within a minute would have cost far more than usual",
            Runaway::Bill => "a provider billed more than the most that a call could cost",
        })
    }
}

/// Calls are stopped until their golem's owner says yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The key that a yes must name.
    pub key: u64,
    pub by: Runaway,
    /// Calls that crossed the limit: alike, at once, or within the minute.
    pub times: u32,
    /// The sum that those calls had cost, or could.
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
            Runaway::Bill => write!(f, "a call was billed {sum} above the most that it could cost"),
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
    /// Minutes in which calls cost something.
    pub paid: u32,
    /// The sum paid for calls in the busiest minute, and the most that were under way at once; both fade by an eighth a
    /// day.
    pub busiest: Usdc,
    pub widest: u32,
    /// Calls at once that its owner has said yes to.
    pub allowed: u32,
    /// The minute that is not over.
    pub minute: Spell,
    pub wide: u32,
    /// The dearest call of that minute: one long document is not a loop.
    pub dearest: Usdc,
}

impl Habits {
    /// The habits once every minute before this one is over.
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
        let costs = u32::from(self.minute.taken > Usdc::ZERO);
        self.paid = self.paid.saturating_add(costs);
        // One minute changes habits by so much at most, or the first of a loop would make the rest of it usual.
        let most = if self.pay_is_settled() { self.busiest.share(5, 4) } else { Usdc::MOST };
        let wide = if self.are_settled() { self.widest.saturating_mul(2) } else { u32::MAX };
        self.busiest = self.busiest.max(self.minute.taken.min(most));
        self.widest = self.widest.max(self.wide.min(wide));
        for _ in day_of_minute(self.minute.number)..day_of_minute(number).min(day_of_minute(self.minute.number) + 64) {
            self.busiest -= self.busiest.share(1, 8);
            self.widest -= self.widest / 8;
        }
        (self.minute, self.wide, self.dearest) = (Spell::default().at(number), 0, Usdc::ZERO);
        self
    }

    pub(super) fn are_settled(&self) -> bool {
        self.minutes >= SETTLED
    }

    /// True once enough minutes cost something: free calls say nothing about what is usually paid.
    pub(super) fn pay_is_settled(&self) -> bool {
        self.paid >= SETTLED
    }
}
