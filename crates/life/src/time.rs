//! World time: milliseconds since the Unix epoch, as the world tells it. The core never asks what time it is.
//!
//! The documents count durations in ticks; a tick *as a duration* is forty seconds of world time
//! ([`REFERENCE_TICK`]), however often a golem happens to look.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub const REFERENCE_TICK: Span = Span::seconds(40);

/// An instant of world time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(u64);

/// A length of world time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(u64);

impl Time {
    pub const fn millis(millis: u64) -> Time {
        Time(millis)
    }

    pub const fn seconds(seconds: u64) -> Time {
        Time(seconds * 1_000)
    }

    pub const fn as_millis(self) -> u64 {
        self.0
    }

    pub const fn as_seconds(self) -> u64 {
        self.0 / 1_000
    }

    /// How long after `earlier` this is; zero if it is not after.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    pub const ZERO: Span = Span(0);
    pub const DAY: Span = Span::seconds(86_400);

    pub const fn millis(millis: u64) -> Span {
        Span(millis)
    }

    pub const fn seconds(seconds: u64) -> Span {
        Span(seconds * 1_000)
    }

    pub const fn as_millis(self) -> u64 {
        self.0
    }

    pub const fn times(self, n: u64) -> Span {
        Span(self.0.saturating_mul(n))
    }

    /// The documents' unit: how many ticks of forty seconds this is.
    pub fn reference_ticks(self) -> f64 {
        self.0 as f64 / REFERENCE_TICK.0 as f64
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Span {
    /// `40s`, `6h`, `2d 14h`: the two largest units that say something.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000;
        let units =
            [("d", seconds / 86_400), ("h", seconds / 3_600 % 24), ("m", seconds / 60 % 60), ("s", seconds % 60)];
        let first = units.iter().position(|(_, n)| *n > 0).unwrap_or(3);
        let mut text = format!("{}{}", units[first].1, units[first].0);
        if let Some((unit, n)) = units.get(first + 1)
            && *n > 0
        {
            text += &format!(" {n}{unit}");
        }
        f.pad(&text)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a length of time; write a number and a unit such as 40s, 5m, 1h or 90d")]
pub struct SpanError(String);

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Span, SpanError> {
        let wrong = || SpanError(text.to_owned());
        let text = text.trim();
        let split = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let n: u64 = text[..split].parse().map_err(|_| wrong())?;
        let unit = match text[split..].trim() {
            "ms" => 1,
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(wrong()),
        };
        n.checked_mul(unit).map(Span).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_shown_in_units_people_use() {
        for (text, shown) in [("40s", "40s"), ("90m", "1h 30m"), ("90d", "90d"), ("0s", "0s"), ("3601 s", "1h")] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), shown);
        }
        for text in ["40", "", "h", "1.5h", "-3s", "5 weeks"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_reference_lifespan_is_ninety_two_days_and_a_half() {
        assert_eq!(REFERENCE_TICK.times(200_000).to_string(), "92d 14h");
    }
}
