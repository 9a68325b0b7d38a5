//! The report on a file of candles, in words an owner can act on: which line is wrong, and why; which stretch of time
//! is missing. Nothing is repaired in silence.

use std::fmt;

use golem::time::{Span, Time};
use serde::Serialize;

/// Problems and gaps shown before the rest is only counted.
const SHOWN: usize = 5;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Rows of data in the file.
    pub rows: u64,
    /// Bars that could be used.
    pub bars: u64,
    pub interval: Span,
    /// When the first bar opened.
    pub from: Time,
    /// When the last bar closed.
    pub until: Time,
    /// Rows that were skipped.
    pub problems: Vec<Problem>,
    pub gaps: Vec<Gap>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub line: u64,
    pub why: &'static str,
}

/// A stretch without bars, from the close before it to the open after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    pub from: Time,
    pub to: Time,
    pub missing: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, until) = (Date(self.from), Date(self.until));
        write!(f, "{} of {}, {from} to {until} UTC", count(self.bars, "bar"), self.interval)?;
        if !self.problems.is_empty() {
            write!(f, "\nskipped {} of {}:", count(self.problems.len() as u64, "row"), self.rows)?;
            list(f, &self.problems)?;
        }
        if !self.gaps.is_empty() {
            let missing = self.gaps.iter().map(|gap| gap.missing).sum();
            write!(f, "\n{} missing in {}:", count(missing, "bar"), count(self.gaps.len() as u64, "gap"))?;
            list(f, &self.gaps)?;
        }
        Ok(())
    }
}

fn list(f: &mut fmt::Formatter<'_>, items: &[impl fmt::Display]) -> fmt::Result {
    for item in items.iter().take(SHOWN) {
        write!(f, "\n  {item}")?;
    }
    match items.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => write!(f, "\n  and {more} more"),
    }
}

fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} – {}: {}", Date(self.from), Date(self.to), count(self.missing, "bar"))
    }
}

/// `2024-01-31 06:40`, in UTC.
struct Date(Time);

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_seconds();
        // Days are counted from 1 March of the year 0, so that a leap day ends its year.
        let days = seconds / 86_400 + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        let (hour, minute) = (seconds / 3_600 % 24, seconds / 60 % 60);
        write!(f, "{year}-{month:02}-{day:02} {hour:02}:{minute:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days_and_new_year() {
        for (seconds, date) in [
            (0, "1970-01-01 00:00"),
            (951_782_400, "2000-02-29 00:00"),
            (1_709_247_540, "2024-02-29 22:59"),
            (1_709_251_200, "2024-03-01 00:00"),
            (1_735_689_599, "2024-12-31 23:59"),
            (4_107_542_400, "2100-03-01 00:00"),
        ] {
            assert_eq!(Date(Time::seconds(seconds)).to_string(), date);
        }
    }

    #[test]
    fn a_report_shows_the_first_five_and_counts_the_rest() {
        let problems = (2..9).map(|line| Problem { line, why: "the high is below the low" }).collect();
        let gap = Gap { from: Time::seconds(3_600), to: Time::seconds(10_800), missing: 2 };
        let report = Report {
            rows: 17,
            bars: 10,
            interval: Span::seconds(3_600),
            from: Time::seconds(0),
            until: Time::seconds(43_200),
            problems,
            gaps: vec![gap],
        };
        let expected = "\
10 bars of 1h, 1970-01-01 00:00 to 1970-01-01 12:00 UTC
skipped 7 rows of 17:
  line 2: the high is below the low
  line 3: the high is below the low
  line 4: the high is below the low
  line 5: the high is below the low
  line 6: the high is below the low
  and 2 more
2 bars missing in 1 gap:
  1970-01-01 01:00 – 1970-01-01 03:00: 2 bars";
        assert_eq!(report.to_string(), expected);
    }
}
