//! The library that is searched: the entries of pairs.txt, and among them many more that nobody asks for, each
//! about something of the same kind. What stands where is drawn from one seed, so that no place is favoured.

use std::collections::BTreeSet;

use golem::grimoire::Kind;

use super::neighbours;

const SEED: u64 = 20;

/// How a question is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phrasing {
    InOtherWords,
    ByNames,
    AsAQuestion,
}

/// Which pairs weights may be tuned on, and which only tell what they are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Tuning,
    Reporting,
}

/// A question and the one entry that answers it.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) asked: Phrasing,
    pub(crate) question: String,
    /// Counted through pairs.txt.
    pub(crate) target: usize,
}

pub(crate) struct Library {
    pub(crate) pairs: Vec<Pair>,
    /// The entries asked for, in the order of pairs.txt.
    pub(crate) targets: Vec<(Kind, String)>,
    /// All there is, by number from one.
    pub(crate) texts: Vec<(Kind, String)>,
}

/// Numbers that are the same everywhere, by SplitMix64.
pub(crate) struct Chance(pub(crate) u64);

impl Pair {
    /// By entry, so that nothing is tuned on an entry that is reported on.
    pub(crate) fn half(&self) -> Half {
        if self.target.is_multiple_of(2) { Half::Tuning } else { Half::Reporting }
    }
}

impl Library {
    pub(crate) fn new() -> Library {
        let (targets, pairs) = read(include_str!("pairs.txt"));
        let mut chance = Chance(SEED);
        let mut texts = targets.clone();
        texts.extend(neighbours::all(&targets, &mut chance));
        let mut seen = BTreeSet::new();
        texts.retain(|(_, text)| seen.insert(text.clone()));
        for at in (1..texts.len()).rev() {
            texts.swap(at, chance.below(at + 1));
        }
        Library { pairs, targets, texts }
    }
}

fn read(file: &str) -> (Vec<(Kind, String)>, Vec<Pair>) {
    let (mut targets, mut pairs) = (Vec::new(), Vec::new());
    for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (what, text) = line.split_once('\t').expect("a tab");
        let asked = match what {
            "a" => Phrasing::InOtherWords,
            "b" => Phrasing::ByNames,
            "c" => Phrasing::AsAQuestion,
            _ => {
                let kind = Kind::ALL.into_iter().find(|kind| kind.name() == what).expect("a kind of entry");
                targets.push((kind, text.to_owned()));
                continue;
            }
        };
        pairs.push(Pair { asked, question: text.to_owned(), target: targets.len() - 1 });
    }
    (targets, pairs)
}

impl Chance {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30)
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
