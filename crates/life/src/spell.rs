//! Money set aside or spent within one stretch of time.

use serde::{Deserialize, Serialize};

use crate::money::Usdc;
use crate::time::{Span, Time};

/// Money taken in one stretch of time. What was set aside and not spent is given back to the stretch it was taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spell {
    pub number: u64,
    pub taken: Usdc,
    pub asked: u32,
}

impl Spell {
    /// The stretch of this number, or the present one if that is later: a clock that is set back renews nothing.
    pub fn at(self, number: u64) -> Spell {
        if self.number >= number { self } else { Spell { number, ..Spell::default() } }
    }

    pub(crate) fn take(&mut self, number: u64, most: Usdc) {
        *self = self.at(number);
        self.taken += most;
        self.asked += 1;
    }

    pub(crate) fn give_back(&mut self, number: u64, rest: Usdc) {
        if self.number == number {
            self.taken -= rest;
        }
    }
}

/// The number of the minute a moment lies in.
pub(crate) fn minute(at: Time) -> u64 {
    at.as_seconds() / 60
}

pub(crate) fn day_of_minute(minute: u64) -> u64 {
    minute / 1_440
}

/// The number of the hour a moment lies in.
pub(crate) fn hour(at: Time) -> u64 {
    at.as_seconds() / 3_600
}

pub fn day(at: Time) -> u64 {
    at.as_millis() / Span::DAY.as_millis()
}
