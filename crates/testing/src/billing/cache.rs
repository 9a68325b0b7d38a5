//! Caches of what models have read: Anthropic's, by exact prefixes at marks, and the ones that work by themselves, in steps.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::asked::{NO_LETTERS, Piece, Ttl};
use super::price::Used;
use super::tokens::Tokeniser;

/// Shorter prefixes are not cached.
pub const LEAST: u64 = 1_024;
/// Steps in which a cache that works by itself reads.
pub const STEP: u64 = 128;
/// How far before a mark an earlier entry is looked for.
const BACK: usize = 20;
const FIVE_MINUTES: u64 = 300;
const HOUR: u64 = 3_600;
/// How long a cache that works by itself remembers, and how many requests.
const ITSELF: u64 = 600;
const REQUESTS: usize = 256;

/// The owner of a cache, and the model.
pub(crate) type Whose = (String, String);

#[derive(Debug, Default)]
pub(crate) struct Caches {
    /// Until when a prefix is kept.
    marked: BTreeMap<(Whose, u64), (u64, Ttl)>,
    /// Requests that were read lately, newest last.
    read: Vec<(Whose, Vec<Piece>, u64)>,
}

impl Caches {
    /// By marks. Whatever lies before the newest known prefix is read, from there to each mark is written.
    pub(crate) fn by_marks(&mut self, whose: &Whose, pieces: &[Piece], now: u64) -> Used {
        let mut hasher = DefaultHasher::new();
        let (mut prefixes, mut sum) = (Vec::with_capacity(pieces.len()), 0);
        for piece in pieces {
            piece.text.hash(&mut hasher);
            sum += piece.tokens;
            prefixes.push((hasher.finish(), sum));
        }
        let marks: Vec<(usize, Ttl)> =
            pieces.iter().enumerate().filter_map(|(at, piece)| Some((at, piece.mark?))).collect();
        let marks: Vec<(usize, Ttl)> = marks.into_iter().filter(|(at, _)| prefixes[*at].1 >= LEAST).collect();
        let known = |at: &usize| self.marked.get(&(whose.clone(), prefixes[*at].0)).is_some_and(|(end, _)| *end > now);
        let back = marks.iter().flat_map(|(mark, _)| mark.saturating_sub(BACK)..=*mark);
        let hit = back.filter(known).max();
        let mut used = Used { read: hit.map_or(0, |at| prefixes[at].1), ..Used::default() };
        if let Some(at) = hit {
            // Reading it keeps it, for as long as it was written for.
            let entry = self.marked.get_mut(&(whose.clone(), prefixes[at].0)).expect("it was just found");
            entry.0 = entry.0.max(now + lives(entry.1));
        }
        let mut written = used.read;
        for (mark, ttl) in marks.into_iter().filter(|(mark, _)| hit.is_none_or(|hit| *mark > hit)) {
            let (hash, sum) = prefixes[mark];
            let share = if ttl == Ttl::Hour { &mut used.write_1h } else { &mut used.write_5m };
            *share += sum - written;
            written = sum;
            self.marked.insert((whose.clone(), hash), (now + lives(ttl), ttl));
        }
        used.input = sum - written;
        used
    }

    /// By itself: the longest beginning that a request of late shares with this one, from 1,024 tokens on, in steps of 128.
    pub(crate) fn by_itself(
        &mut self,
        whose: &Whose,
        pieces: &[Piece],
        now: u64,
        (tokeniser, counts_writes): (Tokeniser, bool),
    ) -> Used {
        let all: u64 = pieces.iter().map(|piece| piece.tokens).sum();
        let mut used = Used { input: all, ..Used::default() };
        if all < LEAST {
            return used;
        }
        self.read.retain(|(_, _, at)| at + ITSELF > now);
        let own = self.read.iter().filter(|(who, _, _)| who == whose);
        let shared = own.map(|(_, earlier, _)| shared(earlier, pieces, tokeniser)).max().unwrap_or(0);
        used.read = if shared < LEAST { 0 } else { shared - shared % STEP };
        if counts_writes {
            used.write_5m = (all - all % STEP) - used.read;
        }
        used.input = all - used.read - used.write_5m;
        if self.read.len() == REQUESTS {
            self.read.remove(0);
        }
        self.read.push((whose.clone(), pieces.to_vec(), now));
        used
    }
}

fn lives(ttl: Ttl) -> u64 {
    if ttl == Ttl::Hour { HOUR } else { FIVE_MINUTES }
}

/// Tokens at the beginning that are the same in both.
fn shared(earlier: &[Piece], now: &[Piece], tokeniser: Tokeniser) -> u64 {
    let mut sum = 0;
    for (one, other) in earlier.iter().zip(now) {
        if one.text != other.text {
            let same = one.text.bytes().zip(other.text.bytes()).take_while(|(a, b)| a == b).count();
            let text = &other.text[..other.text.floor_char_boundary(same)];
            // What has no letters is the same as a whole or not at all.
            let letters = !text.starts_with(NO_LETTERS);
            return sum + if letters { tokeniser.count(text).min(one.tokens).min(other.tokens) } else { 0 };
        }
        sum += other.tokens.min(one.tokens);
    }
    sum
}
