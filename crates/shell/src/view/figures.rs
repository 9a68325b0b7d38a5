//! Figures as people read them: dates, counts, amounts.

pub use golem::figures::{count, several};
use golem::{Time, Usdc};

/// `2024-01-13 04:00:40`, world time.
pub fn date(at: Time) -> String {
    i64::try_from(at.as_millis())
        .ok()
        .and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok())
        .map_or_else(|| at.as_seconds().to_string(), |stamp| stamp.strftime("%F %T").to_string())
}

/// A text whose numbers have at most three decimals: what a golem writes down is exact, and no one reads sixteen digits.
pub fn rounded(text: &str) -> String {
    let (mut out, mut decimals) = (String::new(), None);
    for letter in text.chars() {
        decimals = match (letter, decimals) {
            ('0'..='9', Some(n)) => Some(n + 1),
            ('.', None) if out.ends_with(|c: char| c.is_ascii_digit()) => Some(0),
            _ => None,
        };
        if decimals.is_none_or(|n| n <= 3) {
            out.push(letter);
        }
    }
    out
}

/// To the cent, for lists; where it should add up, all digits are shown.
pub fn cents(amount: Usdc) -> String {
    let whole = format!("{:.2}", amount.as_f64().abs() / 1e6);
    // What rounds to nothing has no sign.
    let sign = if amount < Usdc::ZERO && whole != "0.00" { "-" } else { "" };
    format!("{sign}${whole}")
}

/// An amount as configuration text.
pub fn plain(amount: Usdc) -> String {
    amount.to_string().trim_start_matches('$').to_owned()
}

/// Millionths of a unit as units.
pub fn units(millionths: i64) -> String {
    let text = format!("{:.6}", millionths as f64 / 1e6);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
