//! What a key may hold. A kind reads text, says what it expects, and writes a value back so that it reads
//! the same; files, environment and flags all come through here.

use super::windows;
use golem::figures::count;
use golem::time::REFERENCE_TICK;
use golem::{Span, Time, Usdc};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use toml_edit::Value as Toml;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingKind {
    Bool,
    Integer {
        min: i64,
        max: i64,
    },
    Number {
        min: f64,
        max: f64,
    },
    /// A part of a whole, kept in basis points so that it never becomes money through a float.
    Share {
        max: f64,
    },
    Money,
    Span {
        min: Span,
        max: Span,
    },
    Choice(&'static [&'static str]),
    /// The name of something kept in the home folder; empty for none. It becomes part of a path, so it
    /// can hold nothing that leaves a folder.
    Name,
    /// One line of anything; empty for none.
    Text,
    /// Names with commas between them; empty for no list at all.
    Names,
    /// A number that fixes chance, or the word `random`: drawn at birth.
    Seed,
    /// An instant of world time; empty for none.
    Moment,
    /// Hours of the day somewhere, with commas between them; empty for none.
    Windows,
    /// How much is logged, of everything or of parts; empty for what is usual.
    Levels,
    /// Another kind, or empty for none.
    Maybe(&'static SettingKind),
    /// A figure of the documents that stands so here. Its own value is accepted and no other.
    Fixed(&'static str),
    /// The documents name the key; what it takes is decided when the feature arrives.
    NotYet,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Bool(bool),
    Integer(i64),
    Number(f64),
    /// In basis points.
    Share(u32),
    Money(Usdc),
    Span(Span),
    Text(String),
    Seed(Option<u64>),
    Moment(Option<Time>),
    Nothing,
}

const WHOLE: f64 = 10_000.0;
const NAME: usize = 64;
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

impl SettingKind {
    /// Reads the text of a variable, a flag or the table of defaults.
    pub fn read(&self, text: &str) -> Option<Value> {
        let text = text.trim();
        match *self {
            SettingKind::Bool => text.parse().ok().map(Value::Bool),
            SettingKind::Integer { min, max } => {
                let n: i64 = text.replace('_', "").parse().ok()?;
                (min <= n && n <= max).then_some(Value::Integer(n))
            }
            SettingKind::Number { min, max } => {
                // Adding zero turns minus nought into nought.
                let n = text.replace('_', "").parse::<f64>().ok()? + 0.0;
                (min <= n && n <= max).then_some(Value::Number(n))
            }
            SettingKind::Share { max } => {
                let points = text.replace('_', "").parse::<f64>().ok()? * WHOLE;
                let whole = points.round();
                let fits = (0.0..=max * WHOLE).contains(&whole) && (points - whole).abs() < 1e-6;
                fits.then_some(Value::Share(whole as u32))
            }
            SettingKind::Money => text.parse().ok().map(Value::Money),
            SettingKind::Span { min, max } => {
                let span = read_span(text)?;
                (min <= span && span <= max).then_some(Value::Span(span))
            }
            SettingKind::Choice(words) => {
                // The documents join words with hyphens.
                let word = if words.contains(&text) { text.to_owned() } else { text.replace('-', "_") };
                words.contains(&word.as_str()).then_some(Value::Text(word))
            }
            SettingKind::Name => is_name(text).then(|| Value::Text(text.to_owned())),
            SettingKind::Text => {
                (text.len() <= 4_000 && !text.chars().any(char::is_control)).then(|| Value::Text(text.to_owned()))
            }
            SettingKind::Names => {
                text.split(',').all(|name| is_name(name.trim())).then(|| Value::Text(text.to_owned()))
            }
            SettingKind::Seed if text == "random" => Some(Value::Seed(None)),
            SettingKind::Seed => text.parse().ok().map(|n| Value::Seed(Some(n))),
            SettingKind::Moment if text.is_empty() => Some(Value::Moment(None)),
            SettingKind::Moment => read_moment(text).map(|at| Value::Moment(Some(at))),
            SettingKind::Windows => windows::read(text).map(|_| Value::Text(text.to_owned())),
            SettingKind::Levels => is_levels(text).then(|| Value::Text(text.to_owned())),
            SettingKind::Maybe(_) if text.is_empty() => Some(Value::Nothing),
            SettingKind::Maybe(kind) => kind.read(text),
            SettingKind::Fixed(only) => {
                let same = match (text.parse::<f64>(), only.parse::<f64>()) {
                    (Ok(number), Ok(only)) => number == only,
                    _ => text == only,
                };
                same.then(|| Value::Text(only.to_owned()))
            }
            SettingKind::NotYet => None,
        }
    }

    /// Reads a value of a file. A file has types of its own, and a quoted number is not a number there.
    pub fn read_toml(&self, value: &Toml) -> Option<Value> {
        let text = match (self, value) {
            (SettingKind::Bool | SettingKind::Fixed(_), Toml::Boolean(b)) => b.value().to_string(),
            (
                SettingKind::Integer { .. }
                | SettingKind::Number { .. }
                | SettingKind::Share { .. }
                | SettingKind::Money
                | SettingKind::Seed
                | SettingKind::Fixed(_),
                Toml::Integer(n),
            ) => n.value().to_string(),
            // The shortest digits that name a float are those that were written, up to fifteen of them:
            // enough for any amount of money to pass through exactly.
            (
                SettingKind::Number { .. } | SettingKind::Share { .. } | SettingKind::Money | SettingKind::Fixed(_),
                Toml::Float(n),
            ) => n.value().to_string(),
            (
                SettingKind::Money
                | SettingKind::Span { .. }
                | SettingKind::Choice(_)
                | SettingKind::Name
                | SettingKind::Text
                | SettingKind::Names
                | SettingKind::Windows
                | SettingKind::Levels
                | SettingKind::Seed
                | SettingKind::Moment,
                Toml::String(text),
            ) => text.value().clone(),
            (SettingKind::Windows, Toml::Array(tables)) => windows::from_tables(tables)?,
            (SettingKind::Moment, Toml::Datetime(at)) => at.value().to_string(),
            (SettingKind::Maybe(_), Toml::String(text)) if text.value().is_empty() => return Some(Value::Nothing),
            (SettingKind::Maybe(kind), value) => return kind.read_toml(value),
            _ => return None,
        };
        self.read(&text)
    }

    /// The expected form, in words for people.
    pub fn expected(&self) -> String {
        match *self {
            SettingKind::Bool => "true or false".to_owned(),
            SettingKind::Integer { min, max } => format!("a whole number from {min} to {max}"),
            SettingKind::Number { min, max } => format!("a number from {min} to {max}"),
            SettingKind::Share { max } => format!("a share from 0 to {max} with at most four decimals"),
            SettingKind::Money => {
                format!("dollars from 0 to {} with at most six decimals", Usdc::MOST.as_micros() / 1_000_000)
            }
            SettingKind::Span { min, max } => {
                format!("a length of time from {} to {}", write_span(min), write_span(max))
            }
            SettingKind::Choice(words) => {
                let (last, first) = words.split_last().expect("a choice has words");
                if first.is_empty() { (*last).to_owned() } else { format!("{} or {last}", first.join(", ")) }
            }
            SettingKind::Name => format!("a name of at most {NAME} letters, digits, '.', '_' and '-'"),
            SettingKind::Text => "one line of text".to_owned(),
            SettingKind::Names => "names with commas between them, such as buy,sell".to_owned(),
            SettingKind::Seed => "a whole number from 0, or \"random\"".to_owned(),
            SettingKind::Windows => {
                "hours and a place, such as 02:00-06:00 UTC or 23:00-01:30 Europe/Berlin".to_owned()
            }
            SettingKind::Levels => {
                format!("{}; also for one part, such as server::up=debug, with commas between", LEVELS.join(", "))
            }
            SettingKind::Moment => "a date such as 2026-01-31 or 2026-01-31T12:00:00Z".to_owned(),
            SettingKind::Maybe(kind) => format!("{}, or \"\" for none", kind.expected()),
            SettingKind::Fixed(only) => format!("{only}, as it stands"),
            SettingKind::NotYet => "nothing yet".to_owned(),
        }
    }
}

impl Value {
    /// The value as a file has it; reading it back gives the same value.
    pub fn to_toml(&self) -> String {
        match self {
            Value::Bool(_) | Value::Integer(_) | Value::Number(_) | Value::Share(_) => self.plain(),
            // Half of all seeds are beyond the integers of TOML; those stand in quotes.
            Value::Seed(Some(n)) if i64::try_from(*n).is_ok() => self.plain(),
            _ => format!("\"{}\"", self.plain()),
        }
    }

    /// The value as a variable or a flag has it.
    pub fn plain(&self) -> String {
        match self {
            Value::Bool(yes) => yes.to_string(),
            Value::Integer(n) => n.to_string(),
            Value::Number(n) => format!("{n:?}"),
            Value::Share(points) => format!("{:?}", f64::from(*points) / WHOLE),
            Value::Money(amount) => write_money(*amount),
            Value::Span(span) => write_span(*span),
            Value::Text(text) => text.clone(),
            Value::Seed(seed) => seed.map_or("random".to_owned(), |n| n.to_string()),
            Value::Nothing => String::new(),
            Value::Moment(at) => at.and_then(stamp).map_or(String::new(), |at| at.to_string()),
        }
    }

    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Bool(yes) => (*yes).into(),
            Value::Integer(n) => (*n).into(),
            Value::Number(n) => (*n).into(),
            Value::Share(points) => (f64::from(*points) / WHOLE).into(),
            Value::Seed(Some(n)) => (*n).into(),
            _ => self.plain().into(),
        }
    }

    /// A remark on a long span: its days, and the documents' unit; none where the value speaks for itself.
    pub fn remark(&self) -> Option<String> {
        match self {
            Value::Span(span) if *span >= Span::DAY => {
                let ticks = span.reference_ticks();
                let unit = write_span(REFERENCE_TICK);
                Some(format!("{span}, {} ticks of {unit}", count(ticks as u64)))
            }
            _ => None,
        }
    }
}

/// A span also counts in the documents' ticks: `200000 ticks`.
pub fn read_span(text: &str) -> Option<Span> {
    match text.strip_suffix("ticks") {
        Some(count) => {
            let ticks: u64 = count.trim().replace('_', "").parse().ok()?;
            ticks.checked_mul(REFERENCE_TICK.as_millis()).map(Span::millis)
        }
        None => text.parse().ok(),
    }
}

/// The span in the largest unit that says it exactly.
pub(super) fn write_span(span: Span) -> String {
    let millis = span.as_millis();
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")];
    let exact = |(length, _): &&(u64, &str)| millis >= *length && millis.is_multiple_of(*length);
    match units.iter().find(exact) {
        Some((length, unit)) => format!("{}{unit}", millis / length),
        None => "0s".to_owned(),
    }
}

/// Dollars without the sign, two decimals at least.
fn write_money(amount: Usdc) -> String {
    let text = amount.to_string().replace('$', "");
    let Some((whole, part)) = text.split_once('.') else {
        return text;
    };
    format!("{whole}.{:0<2}", part.trim_end_matches('0'))
}

fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    text.len() <= NAME && text.chars().all(plain) && !text.starts_with(['.', '-'])
}

/// A level for everything, or for a part of the program: `warn,server::up=debug`. What a part is called is not checked,
/// and may go on in brackets to the spans and fields it is about: `server::up::workers[turn{golem=ada}]=debug`.
fn is_levels(text: &str) -> bool {
    let one = |text: &str| match text.rsplit_once('=') {
        None => LEVELS.contains(&text),
        Some((part, level)) => {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
            let (name, spans) = part.split_once('[').map_or((part, "]"), |(name, spans)| (name, spans));
            let about =
                spans.strip_suffix(']').is_some_and(|about| about.chars().all(|c| plain(c) || "{}=-.".contains(c)));
            LEVELS.contains(&level) && !part.is_empty() && name.chars().all(plain) && about
        }
    };
    text.is_empty() || (text.len() <= 500 && text.split(',').all(|text| one(text.trim())))
}

/// A moment as the keys have it; without a zone it is UTC.
pub fn read_moment(text: &str) -> Option<Time> {
    let at = match text.parse::<Timestamp>() {
        Ok(at) => at,
        Err(_) => text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp(),
    };
    u64::try_from(at.as_millisecond()).ok().map(Time::millis)
}

fn stamp(at: Time) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(at.as_millis()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kind_writes_it_reads_back() {
        let span = SettingKind::Span { min: Span::ZERO, max: Span::seconds(u64::MAX / 1_000) };
        let number = SettingKind::Number { min: -1e9, max: 1e9 };
        for (kind, text) in [
            (SettingKind::Bool, "true"),
            (SettingKind::Integer { min: -9, max: 9_000 }, "-7"),
            (number, "1e-6"),
            (number, "0.1"),
            (number, "-12345.678"),
            (SettingKind::Share { max: 1.0 }, "0.1234"),
            (SettingKind::Money, "0.000078"),
            (SettingKind::Money, "1000"),
            (span, "200000 ticks"),
            (span, "1500ms"),
            (span, "0s"),
            (span, "90d"),
            (SettingKind::Name, "eth-1h.2024"),
            (SettingKind::Names, "buy,sell"),
            (SettingKind::Windows, ""),
            (SettingKind::Windows, "02:00-06:00 UTC, 23:00-01:30 Europe/Berlin"),
            (SettingKind::Text, "http://localhost:11434"),
            (SettingKind::Levels, ""),
            (SettingKind::Levels, "warn, server::up=debug,server::up::workers[turn{golem=ada}]=trace"),
            (SettingKind::Seed, "18446744073709551615"),
            (SettingKind::Seed, "random"),
            (SettingKind::Moment, ""),
            (SettingKind::Maybe(&SettingKind::Integer { min: 0, max: 9 }), ""),
            (SettingKind::Maybe(&SettingKind::Integer { min: 0, max: 9 }), "0"),
            (SettingKind::Maybe(&SettingKind::Number { min: 0.0, max: 9.0 }), "2.5"),
            (SettingKind::Moment, "2026-01-31"),
            (SettingKind::Moment, "2026-01-31T12:00:00.250Z"),
        ] {
            let value = kind.read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(kind.read(&value.plain()), Some(value.clone()), "{text}");
            let toml: Toml = value.to_toml().parse().unwrap();
            assert_eq!(kind.read_toml(&toml), Some(value), "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let share = SettingKind::Share { max: 0.5 };
        let unit = SettingKind::Number { min: 0.0, max: 1.0 };
        let hour = SettingKind::Span { min: Span::seconds(1), max: Span::seconds(3_600) };
        for (kind, texts) in [
            (SettingKind::Bool, &["yes", "1", "True", ""][..]),
            (SettingKind::Integer { min: 1, max: 5 }, &["0", "6", "1.5", "", "99999999999999999999"]),
            (unit, &["nan", "inf", "-0.1", "1.1", "", "half"]),
            (share, &["0.51", "-0.1", "0.00001", "nan", "inf"]),
            (SettingKind::Money, &["-1", "1e3", "0.0000001", "", "1000000001"]),
            (hour, &["40", "0s", "2h", "-1s", "91 ticks", "99999999999999999999 ticks"]),
            (SettingKind::Choice(&["a", "b"]), &["c", "", "A"]),
            (SettingKind::Name, &["../x", "a/b", ".hidden", "-flag", "a b", "ä", "a\nb"]),
            (SettingKind::Seed, &["-1", "", "x", "1.5", "18446744073709551616"]),
            (SettingKind::Maybe(&SettingKind::Integer { min: 0, max: 9 }), &["none", "-1", "10", "1.5"]),
            (
                SettingKind::Windows,
                &["02:00", "02:00-06:00", "25:00-06:00 UTC", "02:00-02:00 UTC", "02:00-06:00 Atlantis"],
            ),
            (
                SettingKind::Levels,
                &["loud", "warn,", "host", "host=loud", "=warn", "a b=warn", "host[turn=warn", "WARN"],
            ),
            (SettingKind::Moment, &["yesterday", "1969-12-31", "2026-02-30", "12:00"]),
        ] {
            for text in texts {
                assert_eq!(kind.read(text), None, "{kind:?} {text:?}");
            }
        }
    }

    #[test]
    fn money_in_a_file_is_read_by_its_digits() {
        for (text, micros) in [
            ("0.30", 300_000),
            ("0.1", 100_000),
            ("7", 7_000_000),
            ("\"$3.50\"", 3_500_000),
            ("999999999.999999", 999_999_999_999_999),
        ] {
            let toml: Toml = text.parse().unwrap();
            assert_eq!(SettingKind::Money.read_toml(&toml), Some(Value::Money(Usdc::micros(micros))), "{text}");
        }
    }

    #[test]
    fn a_lifespan_is_told_in_days_and_in_the_documents_ticks() {
        let remark = Value::Span(Span::seconds(8_000_000)).remark();
        assert_eq!(remark.as_deref(), Some("92d 14h, 200,000 ticks of 40s"));
        assert_eq!(Value::Span(Span::seconds(40)).remark(), None);
    }
}
