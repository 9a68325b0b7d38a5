//! Figures for people.

/// With its sign, and without one where it rounds to nothing.
pub fn signed(value: f64, places: usize) -> String {
    let text = format!("{value:+.places$}");
    if text.chars().all(|c| "+-0.".contains(c)) { text[1..].to_owned() } else { text }
}

/// A share as a signed percentage.
pub fn percent(share: f64, places: usize) -> String {
    format!("{} %", signed(share * 100.0, places))
}

#[cfg(test)]
mod tests {
    use super::*;

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
