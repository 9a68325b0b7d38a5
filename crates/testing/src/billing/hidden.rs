//! What stands behind a name: answers, conversations and reasoning that were handed out here and are billed again when they
//! are named, and what others keep elsewhere.

use std::collections::BTreeMap;

/// Letters of a sealed blob for each token in it.
const LETTERS: u64 = 6;

/// Tokens behind names and addresses that were not handed out here.
#[derive(Clone, Copy, Debug)]
pub struct Elsewhere {
    /// A document by its address.
    pub document: u64,
    /// A file, a stored prompt, cached content or another thing by its name.
    pub named: u64,
    /// A picture by its address or name.
    pub picture: (u64, u64),
    /// Tokens one search brings in, and below its fee in micro-dollars.
    pub search: u64,
    pub search_fee: u64,
}

impl Default for Elsewhere {
    fn default() -> Elsewhere {
        Elsewhere { document: 400_000, named: 20_000, picture: (2_048, 2_048), search: 8_000, search_fee: 10_000 }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Hidden(BTreeMap<String, u64>);

impl Hidden {
    pub(crate) fn keep(&mut self, name: &str, tokens: u64) {
        self.0.insert(name.to_owned(), tokens);
    }

    pub(crate) fn behind(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    /// A sealed thought: as long as such blobs are, with the number by which it is known here.
    pub(crate) fn seal(&mut self, number: u64, tokens: u64) -> String {
        let name = format!("{number:A>12}");
        let letters = (tokens * LETTERS).next_multiple_of(4) as usize;
        self.keep(&name, tokens);
        name + &"A".repeat(letters)
    }

    pub(crate) fn sealed(&self, blob: &str) -> u64 {
        let known = blob.get(..12).and_then(|name| self.behind(name));
        known.unwrap_or(blob.len() as u64 / LETTERS)
    }
}
