//! What tokens cost. A model without a price is not asked: whoever does not know what something costs cannot promise to
//! keep within a sum.

use crate::Error;

/// What is published, looked up on the days it says.
const BOOK: &str = include_str!("prices.csv");

/// Micro-dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    pub input: u64,
    pub output: u64,
}

const MILLION: u128 = 1_000_000;

impl Price {
    /// Nobody is paid.
    pub const NOTHING: Price = Price { input: 0, output: 0 };

    /// In dollars for a million tokens, in and out: `0.15/0.60`.
    pub fn parse(text: &str) -> Result<Price, Error> {
        let wrong = || Error::Config {
            what: "a price",
            why: "is written in dollars for a million tokens, in and out: 0.15/0.60".to_owned(),
        };
        let (input, output) = text.split_once('/').ok_or_else(wrong)?;
        Ok(Price { input: dollars(input).ok_or_else(wrong)?, output: dollars(output).ok_or_else(wrong)? })
    }

    /// What so many tokens cost, in whole micro-dollars and never too few.
    pub fn of(&self, input: u64, output: u64) -> u64 {
        let each = |price: u64, tokens: u64| u128::from(price) * u128::from(tokens);
        let sum = each(self.input, input).saturating_add(each(self.output, output));
        u64::try_from(sum.div_ceil(MILLION)).unwrap_or(u64::MAX)
    }

    /// How many tokens out a sum pays for after so many in; none if it does not even pay for those.
    pub fn affords(&self, most: u64, input: u64) -> Option<u64> {
        let left = u128::from(most) * MILLION;
        let left = left.checked_sub(u128::from(self.input) * u128::from(input))?;
        Some(
            left.checked_div(u128::from(self.output))
                .map_or(u64::MAX, |tokens| tokens.min(u128::from(u64::MAX)) as u64),
        )
    }
}

/// What a model costs by the book, and the day that was looked up.
pub fn listed(name: &str) -> Option<(Price, &'static str)> {
    let rows = BOOK.lines().filter(|line| !line.starts_with('#')).skip(1);
    let fits = |known: &str| match known.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => known == name,
    };
    let mut found: Option<(usize, Price, &'static str)> = None;
    for row in rows {
        let mut cells = row.split(',');
        let (Some(known), Some(input), Some(output), Some(as_of)) =
            (cells.next(), cells.next(), cells.next(), cells.next())
        else {
            continue;
        };
        if fits(known) && found.as_ref().is_none_or(|(length, ..)| known.len() > *length) {
            let price = Price { input: dollars(input)?, output: dollars(output)? };
            found = Some((known.len(), price, as_of));
        }
    }
    found.map(|(_, price, as_of)| (price, as_of))
}

/// Dollars with at most six decimals, in micro-dollars.
fn dollars(text: &str) -> Option<u64> {
    let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 6 || part.len() > 6 || !digits(whole) || !digits(part) {
        return None;
    }
    let part = format!("{part:0<6}").parse::<u64>().ok()?;
    Some(whole.parse::<u64>().ok()? * 1_000_000 + part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Named;

    #[test]
    fn tokens_cost_what_the_book_says_and_never_less() {
        let price = Price::parse("0.15/0.60").unwrap();
        assert_eq!(price, Price { input: 150_000, output: 600_000 });
        assert_eq!((price.of(1_000_000, 0), price.of(0, 1_000_000), price.of(1, 0)), (150_000, 600_000, 1));
        assert_eq!(Price { input: u64::MAX, output: u64::MAX }.of(u64::MAX, u64::MAX), u64::MAX);
        for most in [0, 1, 999, 20_000] {
            for input in [0, 7, 10_000] {
                if let Some(output) = price.affords(most, input) {
                    assert!(price.of(input, output) <= most && price.of(input, output + 2) > most, "{most} {input}");
                } else {
                    assert!(price.of(input, 0) > most);
                }
            }
        }
        assert_eq!(Price::NOTHING.affords(0, 1_000), Some(u64::MAX));
    }

    #[test]
    fn every_row_of_the_book_can_be_read_and_names_somebody() {
        for row in BOOK.lines().filter(|line| !line.starts_with('#')).skip(1) {
            let name = row.split(',').next().unwrap();
            let asked = name.replace('*', "-20991231");
            let (price, as_of) = listed(&asked).unwrap_or_else(|| panic!("{row}"));
            assert!(price.input > 0 && price.output > 0 && as_of.starts_with("20"), "{row}");
            assert!(Named::parse(&asked).is_ok_and(|named| !named.local), "{row}");
        }
        assert_eq!(listed("openai/gpt-5-mini").unwrap().0.output, 2_000_000, "not that of gpt-5");
        assert_eq!(listed("openai/gpt-99"), None);
    }

    #[test]
    fn what_is_no_price_says_what_one_looks_like() {
        for text in ["", "1", "1/", "/1", "-1/1", "1e3/1", "1.1234567/1", "1234567/1", "NaN/1"] {
            assert!(Price::parse(text).is_err_and(|why| why.to_string().contains("0.15/0.60")), "{text}");
        }
    }
}
