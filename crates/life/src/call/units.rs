//! Units that calls take beside money: tokens, their number, and the hours in which they are made. Where a seat or a
//! subscription pays, it is these that run out, and dollars are only what the same would have cost.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::figures::count;
use crate::spell::day;
use crate::time::{Span, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Tokens,
    Calls,
    Hours,
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Unit::Tokens => "tokens",
            Unit::Calls => "calls",
            Unit::Hours => "hours",
        }
    }

    /// The setting that caps it.
    pub fn key(self, a_day: bool) -> &'static str {
        match (self, a_day) {
            (Unit::Tokens, false) => "policy.cap.tokens",
            (Unit::Tokens, true) => "policy.cap.tokens_per_day",
            (Unit::Calls, false) => "policy.cap.calls",
            (Unit::Calls, true) => "policy.cap.calls_per_day",
            (Unit::Hours, false) => "policy.cap.time",
            (Unit::Hours, true) => "policy.cap.time_per_day",
        }
    }

    /// An amount of this unit; hours are counted in milliseconds.
    pub fn amount(self, n: u64) -> Amount {
        Amount(self, n)
    }
}

/// An amount of one unit, displayed for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount(Unit, u64);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Amount(unit, n) = *self;
        match (unit, n) {
            (Unit::Hours, millis) => write!(f, "{}", Span::millis(millis)),
            (unit, 1) => write!(f, "1 {}", unit.name().trim_end_matches('s')),
            _ => write!(f, "{} {}", count(n), unit.name()),
        }
    }
}

/// One cap, and what was taken of it; what is set aside for calls under way is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    pub unit: Unit,
    /// True for a cap of one day in UTC, false for a cap in all.
    pub a_day: bool,
    pub most: u64,
    pub taken: u64,
}

impl Cap {
    pub fn left(&self) -> u64 {
        self.most.saturating_sub(self.taken)
    }
}

impl fmt::Display for Cap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Hours => write!(f, "{}", Span::millis(self.left()))?,
            Unit::Tokens | Unit::Calls => f.write_str(&count(self.left()))?,
        }
        write!(f, " of {}{}", self.unit.amount(self.most), if self.a_day { " a day" } else { "" })
    }
}

/// Counts of each unit since the first call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitCounts {
    /// Tokens in and out of calls that are over, or all that was set aside where the provider did not say.
    pub tokens: u64,
    /// Calls that are over and reached a provider.
    pub calls: u64,
    /// How old it was at its first call.
    pub since: Option<Span>,
    pub today: Today,
}

/// Counts of each unit on the day of the newest call, with what is set aside for calls under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Today {
    pub number: u64,
    pub tokens: u64,
    pub calls: u64,
    /// How old it was at the first call of that day.
    pub since: Option<Span>,
}

impl Today {
    pub(super) fn at(self, number: u64) -> Today {
        if self.number == number { self } else { Today { number, ..Today::default() } }
    }
}

impl UnitCounts {
    pub(super) fn begin(&mut self, at: Time, age: Span) {
        self.since.get_or_insert(age);
        self.today = self.today.at(day(at));
        self.today.since.get_or_insert(age);
        self.today.calls = self.today.calls.saturating_add(1);
    }

    pub(super) fn set_aside(&mut self, asked: Time, tokens: u64) {
        if self.today.number == day(asked) {
            self.today.tokens = self.today.tokens.saturating_add(tokens);
        }
    }

    /// Counts a call that is over, by when it was asked and the tokens that were set aside for it.
    pub(super) fn end(&mut self, asked: Time, aside: u64, took: u64, reached: bool) {
        self.tokens = self.tokens.saturating_add(took);
        self.calls = self.calls.saturating_add(u64::from(reached));
        if self.today.number == day(asked) {
            self.today.tokens = self.today.tokens.saturating_sub(aside).saturating_add(took);
            self.today.calls = self.today.calls.saturating_sub(u64::from(!reached));
        }
    }
}
