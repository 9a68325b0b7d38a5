//! Prices of tokens, by kind. A model without a price is not asked: without a price no limit can be promised. Nothing
//! here ever comes to less than a provider bills: where the price of a kind of token is not known, the price of input
//! is taken, and sums are rounded up.

use crate::Error;
use crate::tokens::Tokens;

/// Micro-dollars for a million tokens of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    pub input: u64,
    pub output: u64,
    /// Tokens read from a cache.
    pub cached: u64,
    /// Tokens written to a cache for some minutes; `write_1h` for an hour or longer.
    pub write_5m: u64,
    pub write_1h: u64,
}

/// The price of a whole call whose input is above a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Above {
    /// Tokens of input, of every kind; with one more, the call is priced at these rates.
    pub threshold: u64,
    pub rates: Rates,
}

/// The price of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    pub rates: Rates,
    pub above: Option<Above>,
}

/// How much of the input may be written to a cache: nothing, any of it for the usual time, or any of it for longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    Never,
    Short,
    Long,
}

const MILLION: u128 = 1_000_000;

impl Rates {
    /// Fills in missing prices: those of a cache at the price of input or, where that may be too little, of writing to
    /// the dearest cache: five quarters of the input for minutes, and twice as much for hours.
    pub(crate) fn filled(input: u64, output: u64, [cached, write_5m, write_1h]: [Option<u64>; 3], dear: bool) -> Rates {
        let quarters =
            |many: u64| u64::try_from((u128::from(input) * u128::from(many)).div_ceil(4)).unwrap_or(u64::MAX);
        let write_5m = write_5m.unwrap_or(quarters(if dear { 5 } else { 4 }));
        let write_1h = write_1h.unwrap_or(quarters(if dear { 8 } else { 4 }).max(write_5m));
        Rates { input, output, cached: cached.unwrap_or(input), write_5m, write_1h }
    }
}

impl Price {
    /// The price of a model that is free.
    pub const NOTHING: Price =
        Price { rates: Rates { input: 0, output: 0, cached: 0, write_5m: 0, write_1h: 0 }, above: None };

    /// Reads a price in dollars for a million tokens: `IN/OUT`, followed, where they are known, by the prices of tokens
    /// read from a cache, written to one for minutes, and for hours.
    pub fn parse(text: &str) -> Result<Price, Error> {
        let wrong = || Error::Config {
            what: "a price",
            why: "is written in dollars for a million tokens, in and out, as IN/OUT or IN/OUT/CACHED/WRITTEN/KEPT"
                .to_owned(),
        };
        let cells: Vec<u64> = text.split('/').map(dollars).collect::<Option<_>>().ok_or_else(wrong)?;
        let [input, output, more @ ..] = &cells[..] else { return Err(wrong()) };
        if more.len() > 3 {
            return Err(wrong());
        }
        let more = std::array::from_fn(|at| more.get(at).copied());
        Ok(Price { rates: Rates::filled(*input, *output, more, true), above: None })
    }

    /// The cost of a call in micro-dollars, rounded up.
    pub fn cost(&self, tokens: &Tokens) -> u64 {
        let rates = match self.above {
            Some(above) if tokens.all_input() > above.threshold => above.rates,
            _ => self.rates,
        };
        sum([
            (rates.input, tokens.input),
            (rates.output, tokens.output),
            (rates.cached, tokens.cached),
            (rates.write_5m, tokens.write_5m),
            (rates.write_1h, tokens.write_1h),
        ])
    }

    /// One price for all tokens of input that no call with so many of them can exceed, whatever kind each turns out to
    /// be.
    pub fn dearest(&self, input: u64, writes: Writes) -> Price {
        let above = self.above.filter(|above| input > above.threshold).map_or(self.rates, |above| above.rates);
        let dearest = |rates: Rates| {
            let written = match writes {
                Writes::Never => 0,
                Writes::Short => rates.write_5m,
                Writes::Long => rates.write_5m.max(rates.write_1h),
            };
            rates.input.max(rates.cached).max(written)
        };
        // Fewer tokens than these may go in, and a call below the threshold may be dearer.
        let input = dearest(self.rates).max(dearest(above));
        let output = self.rates.output.max(above.output);
        let rates = Rates { input, output, cached: input, write_5m: input, write_1h: input };
        Price { rates, above: None }
    }

    /// A price a quarter higher, for a call whose usage is not certain.
    pub fn and_a_quarter(self) -> Price {
        let more = |rate: u64| rate.saturating_add(rate.div_ceil(4));
        let dearer = |rates: Rates| Rates {
            input: more(rates.input),
            output: more(rates.output),
            cached: more(rates.cached),
            write_5m: more(rates.write_5m),
            write_1h: more(rates.write_1h),
        };
        let above = self.above.map(|above| Above { rates: dearer(above.rates), ..above });
        Price { rates: dearer(self.rates), above }
    }

    /// The cost of so many tokens in and out where nothing is cached and no threshold is passed, in micro-dollars,
    /// rounded up.
    pub fn of(&self, input: u64, output: u64) -> u64 {
        sum([(self.rates.input, input), (self.rates.output, output)])
    }

    /// The tokens of output a sum pays for after so many of input; `None` if it does not even pay for the input.
    pub fn affords(&self, most: u64, input: u64) -> Option<u64> {
        let left = u128::from(most) * MILLION;
        let left = left.checked_sub(u128::from(self.rates.input) * u128::from(input))?;
        Some(
            left.checked_div(u128::from(self.rates.output))
                .map_or(u64::MAX, |tokens| tokens.min(u128::from(u64::MAX)) as u64),
        )
    }
}

fn sum<const N: usize>(kinds: [(u64, u64); N]) -> u64 {
    let each = kinds.map(|(price, tokens)| u128::from(price) * u128::from(tokens));
    let sum = each.into_iter().fold(0_u128, u128::saturating_add);
    u64::try_from(sum.div_ceil(MILLION)).unwrap_or(u64::MAX)
}

/// Reads `0.15` as micro-dollars, without the rounding of a float.
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

    #[test]
    fn tokens_cost_what_the_price_says_and_never_less() {
        let price = Price::parse("0.15/0.60").unwrap();
        assert_eq!((price.rates.input, price.rates.output), (150_000, 600_000));
        assert_eq!((price.of(1_000_000, 0), price.of(0, 1_000_000), price.of(1, 0)), (150_000, 600_000, 1));
        let most = Rates::filled(u64::MAX, u64::MAX, [None; 3], true);
        assert_eq!(Price { rates: most, above: None }.of(u64::MAX, u64::MAX), u64::MAX);
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
    fn each_kind_of_token_has_its_price_and_what_has_none_is_never_cheaper_than_it_can_be() {
        let whole = Price::parse("3/15/0.30/3.75/6").unwrap();
        let tokens = Tokens { input: 1_000, output: 100, cached: 10_000, write_5m: 800, write_1h: 500, thought: 90 };
        assert_eq!(whole.cost(&tokens), 3_000 + 1_500 + 3_000 + 3_000 + 3_000);
        let short = Price::parse("3/15").unwrap();
        assert_eq!(short.cost(&tokens), 3_000 + 1_500 + 30_000 + 3_000 + 3_000);
        assert_eq!(short.cost(&Tokens { input: 1, ..Tokens::default() }), 3);
        let all = Tokens { input: u64::MAX, output: u64::MAX, ..tokens };
        assert_eq!(short.cost(&all), u64::MAX);
    }

    #[test]
    fn a_call_above_the_threshold_costs_more_from_its_first_token_on() {
        let rates = |times: u64| Rates::filled(1_000_000 * times, 2_000_000 * times, [None; 3], false);
        let price = Price { rates: rates(1), above: Some(Above { threshold: 1_000, rates: rates(2) }) };
        let tokens = Tokens { input: 400, cached: 600, output: 10, ..Tokens::default() };
        assert_eq!(price.cost(&tokens), 1_020);
        assert_eq!(price.cost(&Tokens { input: 401, ..tokens }), 2_042);
        let at = |input| price.dearest(input, Writes::Short);
        assert_eq!((at(1_000).of(1_000, 10), at(1_001).of(1_001, 10)), (1_020, 2_042));
    }

    #[test]
    fn what_is_no_price_says_what_one_looks_like() {
        for text in ["", "1", "1/", "/1", "-1/1", "1e3/1", "1.1234567/1", "1234567/1", "NaN/1", "1/1/1/1/1/1", "1/1/"] {
            assert!(Price::parse(text).is_err_and(|why| why.to_string().contains("IN/OUT")), "{text}");
        }
    }
}
