//! The gate: what is new, useful, supported and fresh enough to be kept, and with how much confidence.

use life::grimoire::{Decision, Entry, How, Kind, Provenance, Source, Status, inherited};
use life::plain::is_plain;
use life::rule::neutral;
use life::time::Time;
use life::world::{DomainKind, Manifest};

use super::sameness::{MeaningKey, contradict};
use super::{Grimoire, SOURCES, TEXT};

/// Score below which an entry is not kept.
const REJECT: f64 = 0.45;
/// Score below which an entry is kept as a suggestion.
const DOUBTFUL: f64 = 0.55;
/// The most a suggestion is believed.
const SUGGESTION: f64 = 0.3;
/// An expectation this far from saying nothing is as useful as any.
const TELLING: f64 = 0.2;
/// Opponents one entry is linked to when it comes.
const OPPONENTS: usize = 8;
/// A share of cases that must surely hold.
const SHOWN: f64 = 0.6;
/// How sure: one in twenty is taken for luck.
const SURELY: f64 = 1.64;

/// Something that may be worth knowing. Its identity and confidence are given here, not brought along.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub entry: Entry,
    /// Cases for it that the golem saw itself; what others say they saw does not count.
    pub seen_for: f64,
    /// Cases against it that the golem saw itself.
    pub seen_against: f64,
    /// Born of one extreme episode.
    pub single: bool,
}

/// The parts of a score, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    pub utility: f64,
    pub support: f64,
    pub novelty: f64,
    pub recency: f64,
    pub prior: f64,
}

impl Score {
    pub fn whole(&self) -> f64 {
        0.25 * self.utility + 0.25 * self.support + 0.20 * self.novelty + 0.15 * self.recency + 0.15 * self.prior
    }
}

impl Grimoire {
    /// Decisions about a candidate; none if it is not worth keeping.
    pub fn admit(&self, candidate: Candidate, manifest: &Manifest, now: Time) -> Vec<Decision> {
        if let Some(known) = self.same(&candidate.entry) {
            return merge(known, &candidate, now).into_iter().collect();
        }
        let score = self.score(&candidate, manifest, now);
        // A few lucky cases are what noise is made of; only an extreme episode may speak by itself.
        let seen = candidate.seen_for + candidate.seen_against;
        let luck = seen > 0.0 && !candidate.single && score.support < SHOWN;
        if luck || score.whole() < REJECT {
            return Vec::new();
        }
        let score = score.whole();
        let Candidate { mut entry, seen_for, seen_against, single } = candidate;
        let how = entry.provenance.sources.last().map_or(How::Observed, |source| source.how);
        entry.initial = inherited(how, entry.initial, entry.provenance.crossings, single);
        if score < DOUBTFUL {
            entry.initial = entry.initial.min(SUGGESTION);
        }
        (entry.evidence_for, entry.evidence_against) = (0.0, 0.0);
        let mut entry = entry.checked(true, seen_for, now).checked(false, seen_against, now);
        entry.id = self.next_id();
        entry.validated_at = if seen_for > 0.0 { now } else { entry.validated_at.min(now) };
        entry.quality = quality(&entry, manifest, score);
        entry.text = clip(&entry.text);
        let mut decisions = Vec::new();
        let opposed: Vec<Entry> = self.opposed(&entry, manifest).take(OPPONENTS).cloned().collect();
        for mut other in opposed {
            entry.contradicts.push(other.id);
            other.contradicts.push(entry.id);
            decisions.push(Decision::Put(Box::new(other)));
        }
        decisions.push(Decision::Put(Box::new(entry)));
        decisions
    }

    pub fn score(&self, candidate: &Candidate, manifest: &Manifest, now: Time) -> Score {
        let entry = &candidate.entry;
        let seen = candidate.seen_for + candidate.seen_against;
        let age = now.since(entry.born);
        let faded = entry.class.half_life().map_or(0.0, |half| age.as_millis() as f64 / half.as_millis() as f64);
        let support = if seen > 0.0 { at_least(candidate.seen_for, candidate.seen_against) } else { 0.0 };
        Score {
            // An entry is of use only as far as it is true.
            utility: utility(entry, manifest) * (0.25 + 0.75 * support),
            support,
            novelty: if self.opposed(entry, manifest).next().is_some() { 0.5 } else { 1.0 },
            recency: libm::exp2(-faded),
            prior: entry.kind.prior(),
        }
    }

    /// Entries in use that say the opposite.
    pub(super) fn opposed<'a>(
        &'a self,
        entry: &'a Entry,
        manifest: &'a Manifest,
    ) -> impl Iterator<Item = &'a Entry> + 'a {
        let near = self.about_the_same(entry);
        near.filter(move |other| {
            other.id != entry.id && other.status != Status::Archived && contradict(entry, other, manifest)
        })
    }

    fn same(&self, entry: &Entry) -> Option<&Entry> {
        self.by_key(&MeaningKey::of(entry))
    }
}

/// Merges a candidate that is known already: both provenances are kept, and only what this golem saw itself is
/// evidence.
fn merge(known: &Entry, candidate: &Candidate, now: Time) -> Option<Decision> {
    let mut entry = known.checked(true, candidate.seen_for, now).checked(false, candidate.seen_against, now);
    if candidate.seen_for == 0.0 {
        entry.validated_at = known.validated_at;
        entry.provenance.crossings = known.provenance.crossings;
    }
    for source in &candidate.entry.provenance.sources {
        if !entry.provenance.sources.contains(source) && entry.provenance.sources.len() < SOURCES {
            entry.provenance.sources.push(*source);
        }
    }
    if entry.status == Status::Archived && candidate.seen_for > 0.0 {
        entry.status = Status::Active;
    }
    (entry != *known).then(|| Decision::Put(Box::new(entry)))
}

/// The share of cases that speak for an entry, at its lower bound.
fn at_least(seen_for: f64, seen_against: f64) -> f64 {
    let cases = seen_for + seen_against + 2.0;
    let share = (seen_for + 1.0) / cases;
    (share - SURELY * libm::sqrt(share * (1.0 - share) / cases)).max(0.0)
}

/// Usefulness: how far an entry is from saying nothing, and whether it can be checked at all.
fn utility(entry: &Entry, manifest: &Manifest) -> f64 {
    match (&entry.claim, entry.link, entry.kind) {
        (Some(claim), ..) => {
            let kind = manifest.domains.get(usize::from(claim.domain)).map_or(DomainKind::Value, |spec| spec.kind);
            0.3 + 0.7 * ((claim.effect - neutral(kind)).abs() / TELLING).min(1.0)
        }
        (None, Some(_), _) => 0.8,
        (None, None, Kind::Question) => 0.6,
        (None, None, _) => 0.2,
    }
}

/// Quality: specificity, actionability, novelty, verifiability, consistency.
fn quality(entry: &Entry, manifest: &Manifest, score: f64) -> f64 {
    let comparisons = entry.condition.as_ref().map_or(0, |condition| condition.0.len()) as f64;
    let specific = if entry.link.is_some() { 0.7 } else { (comparisons / 2.0).min(1.0) };
    let actionable = utility(entry, manifest);
    let verifiable = if entry.claim.is_some() || entry.link.is_some() { 1.0 } else { 0.0 };
    let consistent = if entry.contradicts.is_empty() { 1.0 } else { 0.0 };
    0.25 * specific + 0.25 * actionable + 0.20 * score.min(1.0) + 0.15 * verifiable + 0.15 * consistent
}

/// Plain words of bounded length: whatever else was in a text never gets further than here.
pub(super) fn clip(text: &str) -> String {
    let plain = text.chars().map(|c| if is_plain(c) { c } else { ' ' });
    plain.take(TEXT).collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A new entry, as its maker sees it.
pub fn draft(kind: Kind, text: &str, source: Source, now: Time) -> Entry {
    Entry {
        id: 0,
        kind,
        text: clip(text),
        condition: None,
        claim: None,
        link: None,
        blend: None,
        shown: None,
        domain: None,
        regime: None,
        class: kind.class(),
        status: Status::Active,
        initial: life::grimoire::BIRTH_CAP,
        evidence_for: 0.0,
        evidence_against: 0.0,
        born: now,
        validated_at: now,
        dream_validated: false,
        bloodstain: false,
        quality: 0.0,
        strength: 0.0,
        retrievals: 0,
        provenance: Provenance { sources: vec![source], crossings: 0, hops: 0, brought: None },
        shared: None,
        contradicts: Vec::new(),
    }
}
