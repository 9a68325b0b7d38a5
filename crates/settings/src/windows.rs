//! Hours of sleep: what an owner writes, and what the clocks of that place will show.
//!
//! A life knows no time zones, so the hours are given to it with everything it needs to tell them: by how much the
//! clocks of the place are ahead, from every change of them to the next.

use golem::Time;
use golem::constitution::Window;
use jiff::Timestamp;
use jiff::civil::date;
use jiff::tz::TimeZone;
use toml_edit::Array;

/// The years for which changes of clocks are written down; beyond, clocks stay as they are then.
const YEARS: (i16, i16) = (2015, 2045);

/// Reads `02:00-06:00 UTC, 14:00-15:00 Europe/Berlin`.
pub(super) fn read(text: &str) -> Option<Vec<Window>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    text.split(',').map(|window| read_one(window.trim())).collect()
}

fn read_one(text: &str) -> Option<Window> {
    let (hours, zone) = text.split_once(' ')?;
    let (start, end) = hours.split_once('-')?;
    let (start, end) = (minutes(start)?, minutes(end)?);
    (start != end).then_some(())?;
    let zone = zone.trim();
    Some(Window { start, end, zone: zone.to_owned(), ahead: ahead(&TimeZone::get(zone).ok()?)? })
}

fn minutes(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes): (u16, u16) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

/// How far ahead the clocks are, from the beginning of time on and from each change.
fn ahead(zone: &TimeZone) -> Option<Vec<(Time, i32)>> {
    let first = |year| date(year, 1, 1).to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp());
    let (begins, ends) = (first(YEARS.0)?, first(YEARS.1)?);
    let at = |stamp: Timestamp| u64::try_from(stamp.as_second()).ok().map(Time::seconds);
    let mut ahead = vec![(Time::seconds(0), zone.to_offset(begins).seconds())];
    for change in zone.following(begins).take_while(|change| change.timestamp() < ends) {
        ahead.push((at(change.timestamp())?, change.offset().seconds()));
    }
    Some(ahead)
}

/// The documents' way of writing them: a list of tables.
pub(super) fn from_tables(tables: &Array) -> Option<String> {
    let one = |value: &toml_edit::Value| {
        let table = value.as_inline_table()?;
        let text = |key| table.get(key).and_then(toml_edit::Value::as_str);
        Some(format!("{}-{} {}", text("start")?, text("end")?, text("timezone").unwrap_or("UTC")))
    };
    tables.iter().map(one).collect::<Option<Vec<_>>>().map(|windows| windows.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        Time::seconds(text.parse::<Timestamp>().unwrap().as_second() as u64)
    }

    /// In Berlin two in the morning is one o'clock UTC in winter and midnight in summer.
    #[test]
    fn hours_of_sleep_are_those_of_the_place_all_year_round() {
        let berlin = &read("02:00-06:00 Europe/Berlin").unwrap()[0];
        let asleep = |when: &str| berlin.around(at(when)).is_some();
        for (when, is) in [
            ("2026-01-15T00:59:59Z", false),
            ("2026-01-15T01:00:00Z", true),
            ("2026-01-15T04:59:59Z", true),
            ("2026-01-15T05:00:00Z", false),
            ("2026-07-15T00:00:00Z", true),
            ("2026-07-15T03:59:59Z", true),
            ("2026-07-15T04:00:00Z", false),
            // The clocks went forward an hour at one o'clock UTC that day.
            ("2026-03-29T01:00:00Z", true),
        ] {
            assert_eq!(asleep(when), is, "{when}");
        }
        let over_midnight = &read("23:00-01:30 UTC").unwrap()[0];
        let night = over_midnight.around(at("2026-01-15T23:30:00Z"));
        assert!(night.is_some() && night == over_midnight.around(at("2026-01-16T01:00:00Z")), "one night, two days");
        assert_eq!(over_midnight.around(at("2026-01-16T01:30:00Z")), None);
        assert_ne!(night, over_midnight.around(at("2026-01-16T23:30:00Z")));
    }
}
