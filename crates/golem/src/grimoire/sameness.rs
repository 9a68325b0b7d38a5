//! Sameness and contradiction, by what is meant and never by how it sounds: "gas drops below 10" and "gas rises
//! above 10" are nearly the same sentence.
//!
//! Two entries are the same if kind, condition and claim agree; they contradict each other if they speak of the
//! same under the same condition and one expects more where the other expects less.

use std::cmp::Ordering;

use life::grimoire::{Entry, Expectation, Kind, Link};
use life::rule::{Comparison, Condition, Fragment, Is, Stance, neutral};
use life::world::{DomainKind, Manifest};

/// The meaning of an entry, in a form in which equal means the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MeaningKey {
    kind: Kind,
    meaning: Meaning,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Meaning {
    Claim {
        subject: Subject,
        stance: StanceKey,
        effect: u64,
    },
    Link(Link),
    /// Nothing but words, which are the same only if they are equal.
    Words(String),
}

/// The subject of a claim, whatever the claim says about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    condition: Vec<(u8, bool, u64)>,
    domain: u8,
    /// The features it blends, in their order.
    blend: Vec<u8>,
}

/// A side, and for a fragment its size and its ways out.
type StanceKey = (u8, Option<(u16, Option<(u8, bool, u64)>, [Option<u32>; 3])>);

fn stance_key(stance: Stance) -> StanceKey {
    match stance {
        Stance::Watch => (0, None),
        Stance::Add => (1, None),
        Stance::Reduce => (2, None),
        Stance::Fragment(Fragment { share, until, up, down, bars }) => {
            let until = until.map(|until| (until.feature, until.is == Is::Below, bits(until.than)));
            (1, Some((share, until, [up, down, bars])))
        }
    }
}

impl MeaningKey {
    pub fn of(entry: &Entry) -> MeaningKey {
        let meaning = match (&entry.claim, entry.link) {
            (Some(claim), _) => Meaning::Claim {
                subject: Subject::of(entry).expect("there is a claim"),
                stance: stance_key(claim.stance),
                // A heuristic's expectation is learned; it stays the same heuristic.
                effect: if matches!(entry.kind, Kind::Heuristic | Kind::StrategyFragment) {
                    0
                } else {
                    bits(claim.effect)
                },
            },
            (None, Some(link)) => Meaning::Link(link),
            (None, None) => Meaning::Words(words(&entry.text)),
        };
        MeaningKey { kind: entry.kind, meaning }
    }
}

impl Subject {
    pub fn of(entry: &Entry) -> Option<Subject> {
        let claim = entry.claim?;
        let condition = entry.condition.clone().unwrap_or_default();
        let mut blend: Vec<u8> = entry.blend.iter().flat_map(|mix| &mix.terms).map(|term| term.feature).collect();
        blend.sort_unstable();
        Some(Subject { condition: normal(&condition), domain: claim.domain, blend })
    }
}

/// The gist of an entry: what it says, whatever its figures are. Two entries with one gist are one thing to a reader.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gist {
    /// The subject, without thresholds.
    subject: Option<Subject>,
    /// The stance, and whether more is expected than usual or less.
    claim: Option<(u8, Ordering)>,
    link: Option<Link>,
    /// Words of an entry that claims nothing, without figures.
    words: String,
}

impl Gist {
    pub(crate) fn of(entry: &Entry, manifest: &Manifest) -> Gist {
        let mut subject = Subject::of(entry);
        if let Some(subject) = &mut subject {
            subject.condition.iter_mut().for_each(|(.., than)| *than = 0);
            subject.condition.dedup();
        }
        // A name may have digits in it, but does not begin with one.
        let figure = |word: &&str| word.chars().find(|c| c.is_alphanumeric()).is_some_and(|c| c.is_ascii_digit());
        let said = if entry.claim.is_some() || entry.link.is_some() { "" } else { &entry.text };
        Gist {
            subject,
            claim: entry.claim.map(|claim| (stance_key(claim.stance).0, side(claim, manifest))),
            link: entry.link,
            words: words(&said.split(' ').filter(|word| !figure(word)).collect::<Vec<_>>().join(" ")),
        }
    }
}

/// Comparisons of a condition in a fixed order, without those that another implies.
fn normal(condition: &Condition) -> Vec<(u8, bool, u64)> {
    let implied = |this: &Comparison| {
        condition.0.iter().any(|other| {
            let tighter = match this.is {
                Is::Above => other.than > this.than,
                Is::Below => other.than < this.than,
            };
            other.feature == this.feature && other.is == this.is && tighter
        })
    };
    let mut comparisons: Vec<_> =
        condition.0.iter().filter(|c| !implied(c)).map(|c| (c.feature, c.is == Is::Above, bits(c.than))).collect();
    comparisons.sort_unstable();
    comparisons.dedup();
    comparisons
}

/// Zero is zero, with or without a sign.
fn bits(number: f64) -> u64 {
    (number + 0.0).to_bits()
}

/// Words of a text in lower case and with single spaces, since neither changes the meaning.
fn words(text: &str) -> String {
    text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Whether a claim expects more than usual, less, or the usual.
fn side(claim: Expectation, manifest: &Manifest) -> Ordering {
    let kind = manifest.domains.get(usize::from(claim.domain)).map_or(DomainKind::Value, |spec| spec.kind);
    claim.effect.total_cmp(&neutral(kind))
}

/// Whether both cannot be right.
pub fn contradict(a: &Entry, b: &Entry, manifest: &Manifest) -> bool {
    if let (Some(one), Some(other)) = (a.link, b.link) {
        return (one.cause, one.effect) == (other.cause, other.effect) && one.same_way != other.same_way;
    }
    let (Some(one), Some(other)) = (a.claim, b.claim) else { return false };
    let opposed = |x: Stance, y: Stance| x.adds() && y == Stance::Reduce || x == Stance::Reduce && y.adds();
    let same_subject = Subject::of(a) == Subject::of(b);
    let (one_side, other_side) = (side(one, manifest), side(other, manifest));
    let apart = one_side != other_side && one_side.is_ne() && other_side.is_ne();
    same_subject && (apart || opposed(one.stance, other.stance))
}
