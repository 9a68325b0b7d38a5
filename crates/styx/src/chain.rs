//! The receiver's check. A relay is never trusted: each word names the one before it, so a word that is left out,
//! repeated, moved or made up is seen, and named.

use std::collections::VecDeque;

use crate::envelope::{Envelope, Hash};

/// Words of one speaker that are remembered by their hash, to tell a repeated word from another one in its place.
const REMEMBERED: usize = 256;

/// The words heard of one speaker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The newest word, and its hash.
    pub number: u64,
    pub hash: Hash,
    recent: VecDeque<Hash>,
    /// The number of which there are two words: nothing more is heard of this speaker until its owner has seen to it.
    pub forked: Option<u64>,
}

/// The place of a word in the chain of its speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainPlace {
    /// The very next.
    Next,
    /// The first word heard of this speaker, which has said others before.
    Late,
    /// Heard already.
    Repeat,
    /// Too old to be remembered here.
    Old,
    /// Words after this number have not come yet.
    Gap { after: u64 },
    /// There is another word in its place, or another before it.
    Fork,
}

impl Chain {
    /// A chain restored from its newest word.
    pub fn at(number: u64, hash: Hash) -> Chain {
        Chain { number, hash, recent: [hash].into(), forked: None }
    }

    /// Finds the place of a word; nothing is changed.
    pub fn place(&self, word: &Envelope) -> ChainPlace {
        let (number, before) = (word.header.number, word.header.before);
        if self.forked.is_some() || number == 0 {
            return ChainPlace::Fork;
        }
        if number <= self.number {
            let back = (self.number - number) as usize;
            return match self.recent.len().checked_sub(back + 1).map(|at| self.recent[at]) {
                Some(hash) if hash == word.hash() => ChainPlace::Repeat,
                Some(_) => ChainPlace::Fork,
                None => ChainPlace::Old,
            };
        }
        if self.number == 0 {
            return match (number, before == Hash::default()) {
                (1, true) => ChainPlace::Next,
                (1, false) | (_, true) => ChainPlace::Fork,
                (_, false) => ChainPlace::Late,
            };
        }
        match number - self.number {
            1 if before == self.hash => ChainPlace::Next,
            1 => ChainPlace::Fork,
            _ => ChainPlace::Gap { after: self.number },
        }
    }

    /// Hears on from a word although earlier ones were never heard: the speaker does not have them any more.
    pub(crate) fn pass_over_to(&mut self, word: &Envelope) {
        if self.forked.is_none() && word.header.number > self.number {
            (self.number, self.hash) = (word.header.number, word.hash());
            self.recent = [self.hash].into();
        }
    }

    /// Finds the place of a word, and hears it if it is the next. The word must have been checked and opened.
    pub fn hear(&mut self, word: &Envelope) -> ChainPlace {
        let place = self.place(word);
        match place {
            ChainPlace::Next | ChainPlace::Late => {
                (self.number, self.hash) = (word.header.number, word.hash());
                self.recent.push_back(self.hash);
                if self.recent.len() > REMEMBERED {
                    self.recent.pop_front();
                }
            }
            ChainPlace::Fork => self.forked = self.forked.or(Some(word.header.number)),
            ChainPlace::Repeat | ChainPlace::Old | ChainPlace::Gap { .. } => {}
        }
        place
    }
}
