//! The receiver's check. Nothing a relay says is believed: each word names the one before it, so one that is left out, told
//! twice, put in another place or made up is seen, and named.

use std::collections::VecDeque;

use crate::envelope::{Envelope, Hash};

/// Words of one speaker that are remembered by their hash, to tell one that comes again from another in its place.
const REMEMBERED: usize = 256;

/// What has been heard of one speaker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The newest word, and its hash.
    pub number: u64,
    pub hash: Hash,
    recent: VecDeque<Hash>,
    /// There are two words of one number: nothing more is heard of this speaker until its owner has seen to it.
    pub forked: Option<u64>,
}

/// What a word is to whoever has heard those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The very next.
    Next,
    /// The first that is heard of this speaker, who has said some before.
    Late,
    /// Heard already.
    Repeat,
    /// So old that nobody remembers it.
    Old,
    /// Those after this number have not come yet.
    Gap { after: u64 },
    /// There is another word in its place, or another before it.
    Fork,
}

impl Chain {
    /// As it was kept.
    pub fn at(number: u64, hash: Hash) -> Chain {
        Chain { number, hash, recent: [hash].into(), forked: None }
    }

    /// Where a word belongs; nothing is changed.
    pub fn place(&self, word: &Envelope) -> Place {
        let (number, before) = (word.header.number, word.header.before);
        if self.forked.is_some() || number == 0 {
            return Place::Fork;
        }
        if number <= self.number {
            let back = (self.number - number) as usize;
            return match self.recent.len().checked_sub(back + 1).map(|at| self.recent[at]) {
                Some(hash) if hash == word.hash() => Place::Repeat,
                Some(_) => Place::Fork,
                None => Place::Old,
            };
        }
        if self.number == 0 {
            return match (number, before == Hash::default()) {
                (1, true) => Place::Next,
                (1, false) | (_, true) => Place::Fork,
                (_, false) => Place::Late,
            };
        }
        match number - self.number {
            1 if before == self.hash => Place::Next,
            1 => Place::Fork,
            _ => Place::Gap { after: self.number },
        }
    }

    /// Hears on from a word although some before it were never heard: whoever said them does not have them any more.
    pub(crate) fn pass_over_to(&mut self, word: &Envelope) {
        if self.forked.is_none() && word.header.number > self.number {
            (self.number, self.hash) = (word.header.number, word.hash());
            self.recent = [self.hash].into();
        }
    }

    /// Where it belongs; if it is the next, it has been heard from now on. The word must have been checked and opened.
    pub fn hear(&mut self, word: &Envelope) -> Place {
        let place = self.place(word);
        match place {
            Place::Next | Place::Late => {
                (self.number, self.hash) = (word.header.number, word.hash());
                self.recent.push_back(self.hash);
                if self.recent.len() > REMEMBERED {
                    self.recent.pop_front();
                }
            }
            Place::Fork => self.forked = self.forked.or(Some(word.header.number)),
            Place::Repeat | Place::Old | Place::Gap { .. } => {}
        }
        place
    }
}
