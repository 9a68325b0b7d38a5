//! Figures for people.

/// A figure with its sign, and without one where it rounds to nothing.
pub fn signed(value: f64, places: usize) -> String {
    let text = format!("{value:+.places$}");
    if text.chars().all(|c| "+-0.".contains(c)) { text[1..].to_owned() } else { text }
}

/// A share as a signed percentage.
pub fn percent(share: f64, places: usize) -> String {
    format!("{} %", signed(share * 100.0, places))
}

/// A number with its thousands apart: 26310 as 26,310.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things, in the singular or plural.
pub fn several(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A small chance as people say it: one in so many, to three digits.
pub fn one_in(chance: f64) -> String {
    let odds = 1.0 / chance.clamp(1e-18, 1.0);
    let mut unit = 1.0;
    while odds / unit >= 1_000.0 {
        unit *= 10.0;
    }
    format!("one in {}", count(((odds / unit).round() * unit) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_chance_is_one_in_so_many() {
        for (chance, said) in [
            (1.782e-6, "one in 561,000"),
            (0.02, "one in 50"),
            (1.0 / 3.0, "one in 3"),
            (0.9, "one in 1"),
            (1.0, "one in 1"),
            (1e-12, "one in 1,000,000,000,000"),
        ] {
            assert_eq!(one_in(chance), said);
        }
        assert_eq!((several(1, "look"), several(1_397, "look")), ("1 look".to_owned(), "1,397 looks".to_owned()));
    }

    #[test]
    fn nothing_has_no_sign() {
        for (share, shown) in
            [(0.0, "0.0 %"), (-0.0004, "0.0 %"), (0.0004, "0.0 %"), (-0.0006, "-0.1 %"), (1.0, "+100.0 %")]
        {
            assert_eq!(percent(share, 1), shown);
        }
        assert_eq!(signed(-0.2, 0), "0");
    }
}
