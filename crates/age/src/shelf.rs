//! Where lives are put together: each reader takes one file and leaves the lives in it here.

use std::collections::{BTreeMap, HashSet};

use tariff::{Book, Price};

use crate::growing::Growing;
use crate::lines::Lines;
use crate::name;
use crate::record::{End, Harness, Life};

/// Facts that the place of a file tells beside its lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct FilePlace<'a> {
    /// The file's name without its ending.
    pub stem: &'a str,
    /// In a folder of helpers.
    pub helper: bool,
}

/// All lives that were read so far.
#[derive(Debug)]
pub struct Shelf<'a> {
    pub lives: Vec<Life>,
    /// Counts of the lines, by harness.
    pub lines: BTreeMap<Harness, Lines>,
    /// Calls that stand in a file already read. A life that goes on from a copy has them too.
    seen: HashSet<u64>,
    book: &'a Book,
    now: i64,
}

impl<'a> Shelf<'a> {
    /// The time is in milliseconds since 1970.
    pub fn new(book: &'a Book, now: i64) -> Shelf<'a> {
        Shelf { lives: Vec::new(), lines: BTreeMap::new(), seen: HashSet::new(), book, now }
    }

    /// Whether this call stands here for the first time.
    pub(crate) fn is_new(&mut self, call: u64) -> bool {
        self.seen.insert(call)
    }

    /// A life is over, as far as this file goes.
    pub(crate) fn put(&mut self, growing: Growing) {
        let book = self.book;
        self.lives.extend(growing.finish(&|model: &str| price(book, model), self.now));
    }

    pub(crate) fn count(&mut self, of: Harness, lines: Lines) {
        let sum = self.lines.entry(of).or_default();
        sum.files += lines.files;
        sum.bytes += lines.bytes;
        sum.read += lines.read;
        sum.unknown += lines.unknown;
        sum.unreadable += lines.unreadable;
    }

    /// Takes in the calls of an agent whose purse is a golem.
    pub fn golem(&mut self, id: &str, calls: impl Iterator<Item = GolemCall>, end: End) {
        let mut growing = Growing::new(Harness::Bardo, id, None);
        for call in calls {
            growing.at(call.at);
            let at = growing.call(None, call.at);
            let tokens = tariff::Tokens { input: call.input, output: call.output, ..tariff::Tokens::default() };
            growing.used(at, &call.model, &tokens);
            if let Some(one) = growing.life().calls.get_mut(at) {
                one.cost = Some(call.cost);
            }
        }
        growing.ends(end);
        self.put(growing);
    }
}

/// One call of such an agent, as its golem paid it.
#[derive(Clone, Debug, Default)]
pub struct GolemCall {
    pub at: i64,
    pub model: String,
    pub input: u64,
    pub output: u64,
    pub cost: u64,
}

/// Makers of models, by the beginning of the models' names.
const MAKERS: [(&str, &str); 7] = [
    ("claude", "anthropic"),
    ("gpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("codex", "openai"),
    ("gemini", "gemini"),
];

/// The price of a model by the book, under any of the names it is sold by.
fn price(book: &Book, model: &str) -> Option<Price> {
    let bare = model.rsplit('/').next().unwrap_or(model);
    // Clouds put who makes it before its name, and a version of their own behind it.
    let bare = bare.find("claude").map_or(bare, |at| &bare[at..]);
    let bare = bare.split(['@', ':']).next().unwrap_or(bare).trim_end_matches("-v1");
    let makers = MAKERS.iter().filter(|(begins, _)| bare.starts_with(begins));
    let makers = makers.map(|(_, maker)| format!("{maker}/{bare}"));
    let mut names = std::iter::once(model.to_owned()).filter(|name| name.contains('/')).chain(makers);
    names.find_map(|name| book.find(&name)).map(|row| row.price)
}

/// A name for a call that only its own text says.
pub(crate) fn named(parts: &[&str]) -> u64 {
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    name::number_of(&parts)
}
