//! The price book: prices of models from two public tables, written by `packaging/prices` and dated. A model is found
//! by its name, by another name of its provider's, with the date of a version left out, and without what an agent adds
//! in brackets.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use crate::Error;
use crate::price::{Above, Price, Rates};
use crate::provider::{Named, PROVIDERS};

/// The book as it was when this program was built.
const BUILT_IN: &str = include_str!("prices.csv");

const COLUMNS: &str = "provider/model,input,output,cached,write 5m,write 1h,threshold,above input,above output,\
                       above cached,above write 5m,above write 1h,context,longest answer,kinds,also,valid from,source";
/// The word in place of a source, for a model about which the tables do not agree.
const REFUSED: &str = "refused";
/// The highest price believed, a million dollars for a million tokens: a higher one is a slip.
const DEAREST: u64 = 1_000_000_000_000;
/// The largest book that is read.
const LARGEST: usize = 8 << 20;
/// The longest name that is compared with others.
const LONGEST: usize = 120;
/// The least likeness, from 0 to 1, at which a name is suggested for another.
const ALIKE: f64 = 0.55;

/// A model in the book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceRow {
    /// `PROVIDER/MODEL`.
    pub name: String,
    pub price: Price,
    /// The most tokens of input; `longest_answer` has those of output.
    pub context: Option<u64>,
    pub longest_answer: Option<u64>,
    /// Kinds of input: `text`, `image`, `pdf`, `audio`, `video`.
    pub kinds: Vec<String>,
    /// Other names of the model.
    pub also: Vec<String>,
    /// The day since which the price holds, where a table says so.
    pub valid_from: Option<String>,
    /// The tables that have this price.
    pub source: String,
}

impl PriceRow {
    pub fn provider(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }
}

#[derive(Debug)]
pub struct Book {
    looked_up: String,
    /// Rows, by name.
    rows: Vec<PriceRow>,
    /// The row of each name, other names included.
    names: HashMap<String, usize>,
    refused: HashSet<String>,
}

impl Book {
    pub fn built_in() -> Arc<Book> {
        static BOOK: OnceLock<Arc<Book>> = OnceLock::new();
        Arc::clone(BOOK.get_or_init(|| Arc::new(Book::parse(BUILT_IN).expect("the book that is built in"))))
    }

    /// Reads a whole book; an error names the line that is wrong.
    pub fn parse(text: &str) -> Result<Book, Error> {
        let wrong = |why: String| Error::Config { what: "the price book", why };
        if text.len() > LARGEST {
            return Err(wrong(format!("is larger than {LARGEST} bytes")));
        }
        let looked_up = text.lines().next().and_then(|line| line.strip_prefix("# looked up "));
        let looked_up = looked_up.and_then(|line| line.get(..10)).filter(|day| is_day(day)).ok_or_else(|| {
            wrong("does not begin with the day it was looked up, such as # looked up 2026-11-19".to_owned())
        })?;
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty());
        if lines.next().is_none_or(|(_, line)| line.trim() != COLUMNS) {
            return Err(wrong(format!("has columns other than these: {COLUMNS}")));
        }
        let mut book =
            Book { looked_up: looked_up.to_owned(), rows: Vec::new(), names: HashMap::new(), refused: HashSet::new() };
        for (number, line) in lines {
            book.take(line.trim()).map_err(|why| wrong(format!("is wrong in line {number}: {why}")))?;
        }
        if book.rows.is_empty() {
            return Err(wrong("has no models".to_owned()));
        }
        Ok(book)
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        let cells: Vec<&str> = line.split(',').collect();
        if cells.len() != COLUMNS.split(',').count() {
            return Err(format!("it has {} cells", cells.len()));
        }
        let named = |name: &str| match Named::parse(name) {
            Ok(named) if named.name == name => Ok(name.to_owned()),
            Ok(_) => Err(format!("{name} has a space before or behind it")),
            Err(why) => Err(why.to_string()),
        };
        let name = named(cells[0])?;
        if cells[17] == REFUSED {
            self.refused.insert(name);
            return Ok(());
        }
        let number = |at: usize| match cells[at] {
            "" => Ok(None),
            digits => digits
                .parse::<u64>()
                .ok()
                .filter(|number| *number <= DEAREST)
                .map(Some)
                .ok_or_else(|| format!("{digits} is not a whole number up to {DEAREST}")),
        };
        // Anthropic charges for writes to a cache, also where another provider sells the model.
        let dear = name.starts_with("anthropic/") || name.contains("claude");
        let rates = |from: usize| -> Result<Option<Rates>, String> {
            let (Some(input), Some(output)) = (number(from)?, number(from + 1)?) else { return Ok(None) };
            let more = [number(from + 2)?, number(from + 3)?, number(from + 4)?];
            Ok(Some(Rates::filled(input, output, more, dear)))
        };
        let usual = rates(1)?.ok_or("it has no price for input or for output")?;
        if usual.input == 0 {
            return Err("no provider sells tokens for nothing".to_owned());
        }
        let above = match (number(6)?, rates(7)?) {
            (None, None) => None,
            (Some(threshold), Some(rates)) => Some(Above { threshold, rates }),
            _ => return Err("a threshold and what it costs above it go together".to_owned()),
        };
        let also = cells[15].split_whitespace().map(named).collect::<Result<Vec<_>, _>>()?;
        for name in also.iter().chain([&name]) {
            if self.names.insert(name.clone(), self.rows.len()).is_some() {
                return Err(format!("{name} is there twice"));
            }
        }
        let valid_from = Some(cells[16].to_owned()).filter(|day| !day.is_empty());
        if valid_from.as_deref().is_some_and(|day| !is_day(day)) {
            return Err(format!("{} is not a day, such as 2026-11-19", cells[16]));
        }
        self.rows.push(PriceRow {
            name,
            price: Price { rates: usual, above },
            context: number(12)?,
            longest_answer: number(13)?,
            kinds: cells[14].split('+').filter(|kind| !kind.is_empty()).map(str::to_owned).collect(),
            also,
            valid_from,
            source: cells[17].to_owned(),
        });
        Ok(())
    }

    /// The day the prices were looked up, such as 2026-11-19.
    pub fn looked_up(&self) -> &str {
        &self.looked_up
    }

    /// All models of the book, by name.
    pub fn rows(&self) -> &[PriceRow] {
        &self.rows
    }

    /// The model of this name, in any of its spellings.
    pub fn find(&self, name: &str) -> Option<&PriceRow> {
        for spelling in spellings(name) {
            if let Some(at) = self.names.get(&spelling) {
                return Some(&self.rows[*at]);
            }
            // Where the tables do not agree about a name, the price of its undated model proves nothing.
            if self.refused.contains(&spelling) {
                return None;
            }
        }
        None
    }

    /// The price of a model; one on this machine is free.
    pub fn price(&self, named: &Named) -> Result<Price, Error> {
        match self.find(&named.name) {
            Some(row) => Ok(row.price),
            None if named.local => Ok(Price::NOTHING),
            None => Err(self.unpriced(&named.name)),
        }
    }

    /// The error for a model without a price: why it has none, and which names are near.
    pub fn unpriced(&self, name: &str) -> Error {
        let near: Vec<&str> = self.nearest(name, 3);
        let why = if spellings(name).any(|spelling| self.refused.contains(&spelling)) {
            "the tables behind the price book do not agree on it".to_owned()
        } else if near.is_empty() {
            "the price book has nothing like it".to_owned()
        } else {
            format!("the price book has {}", near.join(", "))
        };
        Error::Unpriced { model: name.to_owned(), why }
    }

    /// Names that may have been meant, nearest first.
    pub fn nearest(&self, name: &str, most: usize) -> Vec<&str> {
        let name = without_brackets(name);
        if name.len() > LONGEST {
            return Vec::new();
        }
        let provider = name.split('/').next().unwrap_or_default();
        let known = self.names.keys().map(String::as_str).filter(|known| {
            let (short, long) = (known.len().min(name.len()), known.len().max(name.len()));
            short as f64 >= ALIKE * long as f64
        });
        let mut near: Vec<(f64, &str)> = known
            .map(|known| {
                let away = if known.split('/').next() == Some(provider) { 0.0 } else { 0.2 };
                (strsim::normalized_damerau_levenshtein(name, known) - away, known)
            })
            .filter(|(alike, _)| *alike >= ALIKE)
            .collect();
        near.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(a.cmp(b)));
        near.truncate(most);
        near.into_iter().map(|(_, known)| known).collect()
    }
}

/// A model's name without what an agent adds in brackets for itself, such as the `[1m]` of a longer context.
pub fn without_brackets(name: &str) -> &str {
    match name.strip_suffix(']').and_then(|begun| begun.rsplit_once('[')) {
        Some((name, _)) if !name.is_empty() => name,
        _ => name,
    }
}

/// The spellings under which a name may stand in the book, nearest first.
fn spellings(name: &str) -> impl Iterator<Item = String> {
    let plain = without_brackets(name);
    let undated = without_day(plain);
    let more = undated.into_iter().flat_map(|base| ["", "-latest", "-0"].map(|end| format!("{base}{end}")));
    [name.to_owned(), plain.to_owned()].into_iter().chain(more)
}

/// The undated name of a version: without `-2024-07-18` or `-20250514`.
fn without_day(name: &str) -> Option<&str> {
    let day = |length: usize| {
        let (base, day) = name.split_at_checked(name.len().checked_sub(length)?)?;
        let day = day.strip_prefix('-')?;
        let plain: String = day.chars().filter(|c| *c != '-').collect();
        let shaped = plain.len() == 8 && plain.starts_with("20") && plain.bytes().all(|byte| byte.is_ascii_digit());
        (shaped && (day.len() == 8 || is_day(day)) && !base.is_empty()).then_some(base)
    };
    day("-20250514".len()).or_else(|| day("-2024-07-18".len()))
}

fn is_day(text: &str) -> bool {
    let shape = |at: usize, byte: u8| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.starts_with("20") && text.bytes().enumerate().all(|(at, byte)| shape(at, byte))
}

/// Providers for which a key is there.
pub fn sellers(has_key: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let open = PROVIDERS.iter().filter(|provider| provider.key_env.is_some_and(&has_key));
    open.map(|provider| provider.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price::Writes;
    use crate::tokens::Tokens;

    fn book(rows: &str) -> Result<Book, Error> {
        Book::parse(&format!("# looked up 2026-11-19; by hand\n{COLUMNS}\n{rows}"))
    }

    const ROW: &str =
        "openai/big,2000000,8000000,500000,,,,,,,,,1000,100,text+image,openai/big-2025-01-01,2025-02-01,us";

    #[test]
    fn the_book_that_is_built_in_can_be_read_and_every_name_in_it_is_somebodys() {
        let book = Book::built_in();
        assert!(book.rows().len() > 500 && book.looked_up() >= "2026-11-19", "{}", book.rows().len());
        for row in book.rows() {
            let named = Named::parse(&row.name).unwrap();
            assert!(!named.local && row.price.rates.input > 0, "{row:?}");
            for name in row.also.iter().chain([&row.name]) {
                assert_eq!(book.find(name).map(|found| &found.name), Some(&row.name));
                assert_eq!(book.find(&format!("{name}[1m]")).map(|found| &found.name), Some(&row.name));
            }
        }
        let names = ["gpt-4o-mini-2024-07-18", "gpt-5-mini-2025-08-07", "o3", "text-embedding-3-small", "gpt-6.1-sol"];
        let known = names.map(|name| format!("openai/{name}"));
        let claude = ["opus-4-8[1m]", "sonnet-4-20250514", "3-5-haiku-20241022", "opus-4-1-20250805", "sonnet-5"];
        for name in known.into_iter().chain(claude.map(|name| format!("anthropic/claude-{name}"))) {
            assert!(book.find(&name).is_some(), "{name}");
        }
        assert_eq!(
            book.find("openai/gpt-4o-2024-05-13").unwrap().price.rates.input,
            5_000_000,
            "dearer than its heirs"
        );
        assert!(book.find("openai/gpt-99").is_none());
    }

    /// A reservation must cover a call, whatever the call turns out to have used.
    #[test]
    fn no_split_of_the_tokens_of_a_call_costs_more_than_its_dearest() {
        let book = Book::built_in();
        let owners = Price::parse("3/15").unwrap();
        for price in book.rows().iter().map(|row| row.price).chain([owners]) {
            for all in [0, 1, 999, 100_000, 200_001, 300_000, 1_000_000] {
                for part in [0, all / 3, all / 2, all] {
                    let (rest, output) = (all - part, 77);
                    let unasked = Tokens { input: part, cached: rest, output, ..Tokens::default() };
                    let written = Tokens { input: part, write_5m: rest, output, ..Tokens::default() };
                    let never = price.dearest(all, Writes::Never).of(all, output);
                    assert!(price.cost(&unasked) <= never, "{price:?} {unasked:?}");
                    for tokens in [unasked, written] {
                        let most = price.dearest(all, Writes::Short).of(all, output);
                        assert!(price.cost(&tokens) <= most, "{price:?} {tokens:?}");
                        let kept = tokens.kept();
                        assert!(
                            price.cost(&kept) <= price.dearest(all, Writes::Long).of(all, output),
                            "{price:?} {kept:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_name_is_found_with_its_date_left_out_and_never_by_its_beginning() {
        let book =
            book(&format!("{ROW}\nopenai/big-mini,1,1,,,,,,,,,,,,,,,us\nopenai/new-0,1,1,,,,,,,,,,,,,,,us")).unwrap();
        let found = |name: &str| book.find(name).map(|row| row.name.as_str());
        for name in
            ["openai/big", "openai/big-2025-01-01", "openai/big-2026-12-31", "openai/big-20261231", "openai/big[1m]"]
        {
            assert_eq!(found(name), Some("openai/big"), "{name}");
        }
        assert_eq!(found("openai/new-20250514"), Some("openai/new-0"));
        for name in [
            "openai/bi",
            "openai/bigger",
            "openai/big-pro",
            "openai/big-1234-56",
            "openai/big-99991231",
            "big",
            "-20250514",
        ] {
            assert_eq!(found(name), None, "{name}");
        }
        let row = book.find("openai/big").unwrap();
        assert_eq!((row.context, row.longest_answer, row.kinds.len()), (Some(1_000), Some(100), 2));
        assert_eq!((row.price.rates.cached, row.price.rates.write_5m), (500_000, 2_000_000));
    }

    #[test]
    fn what_is_not_known_is_told_with_what_is_and_what_to_write() {
        let book = book(&format!("{ROW}\nopenai/odd{}refused", ",".repeat(17))).unwrap();
        let told = |name: &str| book.price(&Named::parse(name).unwrap()).unwrap_err().to_string();
        let near = told("openai/bug");
        assert!(near.contains("openai/big") && near.contains("prices = \"openai/bug=IN/OUT\""), "{near}");
        assert!(told("openai/odd").contains("do not agree"));
        assert!(told("openai/odd-2026-01-01").contains("do not agree") && book.find("openai/odd-2026-01-01").is_none());
        assert!(told("openai/quite-another-thing").contains("has nothing like it"));
        assert_eq!(book.price(&Named::parse("ollama/qwen3").unwrap()).unwrap(), Price::NOTHING);
    }

    #[test]
    fn a_book_that_is_wrong_anywhere_is_none() {
        let like = |row: &str| book(&format!("{ROW}\n{row}")).unwrap_err().to_string();
        for (row, word) in [
            ("openai/x,1,1", "3 cells"),
            ("nobody/x,1,1,,,,,,,,,,,,,,,us", "nobody"),
            ("openai/x,1,,,,,,,,,,,,,,,,us", "no price"),
            ("openai/x,0,1,,,,,,,,,,,,,,,us", "for nothing"),
            ("openai/x,1.5,1,,,,,,,,,,,,,,,us", "whole number"),
            ("openai/x,-1,1,,,,,,,,,,,,,,,us", "whole number"),
            ("openai/x,1,1,,,,9,,,,,,,,,,,us", "go together"),
            ("openai/x,1,1,,,,,,,,,,,,,,soon,us", "not a day"),
            ("openai/big,1,1,,,,,,,,,,,,,,,us", "twice"),
            ("openai/x,1,1,,,,,,,,,,,,,openai/big,,us", "twice"),
        ] {
            let told = like(row);
            assert!(told.contains("line 4") && told.contains(word), "{row}: {told}");
        }
        for text in ["", "provider/model,input,output\n", &format!("# looked up 2026-11-19\n{COLUMNS}\n")] {
            assert!(Book::parse(text).is_err(), "{text}");
        }
    }
}
