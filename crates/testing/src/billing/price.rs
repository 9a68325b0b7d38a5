//! What tokens cost, and the bill of a call: whole numbers throughout, rounded up once, at the end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Micro-dollars for a million tokens, which are picodollars for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub input: u64,
    pub output: u64,
    /// Read from a cache, and written to one for five minutes and for an hour.
    pub read: u64,
    pub write_5m: u64,
    pub write_1h: u64,
}

impl Rate {
    /// With caches at the multiples that are usual: a tenth, five quarters, twice.
    pub const fn new(input: u64, output: u64) -> Rate {
        Rate { input, output, read: input / 10, write_5m: input * 5 / 4, write_1h: input * 2 }
    }

    /// In dollars for a million tokens: `IN/OUT[/READ[/WRITE5M[/WRITE1H]]]`.
    fn parse(text: &str) -> Option<Rate> {
        let cells = text.split('/').map(dollars).collect::<Option<Vec<u64>>>()?;
        let (input, output) = (*cells.first()?, *cells.get(1)?);
        let usual = Rate::new(input, output);
        let cell = |at: usize, usual: u64| cells.get(at).copied().unwrap_or(usual);
        let (read, write_5m, write_1h) = (cell(2, usual.read), cell(3, usual.write_5m), cell(4, usual.write_1h));
        (cells.len() <= 5).then_some(Rate { input, output, read, write_5m, write_1h })
    }
}

/// The price of one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    pub rate: Rate,
    /// With more tokens in than these, cached ones included, all of the call costs this.
    pub above: Option<(u64, Rate)>,
    /// A cache that works by itself bills and reports what is written to it.
    pub counts_writes: bool,
}

impl Price {
    pub const fn of(rate: Rate) -> Price {
        Price { rate, above: None, counts_writes: false }
    }
}

/// Prices by the names of models; a name that ends in `*` is of all that begin so, and the longest that fits counts.
#[derive(Clone, Debug, Default)]
pub struct Prices(BTreeMap<String, Price>);

impl Prices {
    pub fn one(name: &str, price: Price) -> Prices {
        Prices::default().and(name, price)
    }

    #[must_use]
    pub fn and(mut self, name: &str, price: Price) -> Prices {
        self.0.insert(name.to_owned(), price);
        self
    }

    /// `NAME=IN/OUT[/READ[/WRITE5M[/WRITE1H]]][@TOKENS:IN/OUT[/…]][+writes]`, in dollars for a million tokens, with commas
    /// between the models.
    pub fn parse(text: &str) -> Result<Prices, String> {
        let mut prices = Prices::default();
        for row in text.split(',').map(str::trim).filter(|row| !row.is_empty()) {
            let (name, price) = parse_row(row).ok_or_else(|| format!("this is not a price: {row}"))?;
            prices = prices.and(name, price);
        }
        Ok(prices)
    }

    pub fn find(&self, model: &str) -> Option<Price> {
        let fits = |known: &str| match known.strip_suffix('*') {
            Some(beginning) => model.starts_with(beginning),
            None => known == model,
        };
        self.0.iter().filter(|(known, _)| fits(known)).max_by_key(|(known, _)| known.len()).map(|(_, price)| *price)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

fn parse_row(row: &str) -> Option<(&str, Price)> {
    let (name, rest) = row.split_once('=')?;
    let (rest, counts_writes) = rest.strip_suffix("+writes").map_or((rest, false), |rest| (rest, true));
    let (rate, above) = match rest.split_once('@') {
        Some((rate, above)) => {
            let (tokens, dear) = above.split_once(':')?;
            (rate, Some((tokens.parse().ok()?, Rate::parse(dear)?)))
        }
        None => (rest, None),
    };
    Some((name, Price { rate: Rate::parse(rate)?, above, counts_writes }))
}

/// Dollars with at most six decimals, in micro-dollars.
fn dollars(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let part = format!("{part:0<6}");
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(part.parse().ok().filter(|_| part.len() == 6)?)
}

/// Tokens of one call, by what each kind costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub input: u64,
    pub read: u64,
    pub write_5m: u64,
    pub write_1h: u64,
    /// Tokens of the answers that are shown, and of the thinking before them, which costs the same.
    pub said: u64,
    pub reasoned: u64,
}

impl Used {
    pub fn all_input(&self) -> u64 {
        self.input + self.read + self.write_5m + self.write_1h
    }

    pub fn output(&self) -> u64 {
        self.said + self.reasoned
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "input": self.input, "read": self.read, "write_5m": self.write_5m, "write_1h": self.write_1h,
            "said": self.said, "reasoned": self.reasoned })
    }
}

/// Extras of a request that are not paid by the token alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extras {
    /// The whole call costs so many thousandths of the usual.
    pub permille: u64,
    /// Micro-dollars on top of the tokens.
    pub fees: u64,
}

impl Default for Extras {
    fn default() -> Extras {
        Extras { permille: 1_000, fees: 0 }
    }
}

/// Micro-dollars: whole, and never too few.
pub fn bill(price: Price, used: Used, extras: Extras) -> u64 {
    let dear = price.above.filter(|(tokens, _)| used.all_input() > *tokens);
    let rate = dear.map_or(price.rate, |(_, rate)| rate);
    let each = |tokens: u64, picodollars: u64| u128::from(tokens) * u128::from(picodollars);
    let sum = each(used.input, rate.input)
        + each(used.read, rate.read)
        + each(used.write_5m, rate.write_5m)
        + each(used.write_1h, rate.write_1h)
        + each(used.output(), rate.output);
    let micros = (sum * u128::from(extras.permille)).div_ceil(1_000 * 1_000_000);
    u64::try_from(micros).unwrap_or(u64::MAX).saturating_add(extras.fees)
}
