//! A card: an entry as far as ranking needs it, small enough to hold all of them in memory.

use std::num::NonZeroU32;

use golem::Time;
use golem::grimoire::{Class, Entry, Kind, Provenance, Status};
use golem::regime::Regime;

use super::words;

#[derive(Clone, Copy, Debug)]
pub(super) struct Card {
    pub(super) id: u64,
    pub(super) validated_at: Time,
    pub(super) by_evidence: f64,
    /// A mark of its text, to notice when that changes.
    pub(super) text: u64,
    /// Where its vector stands.
    pub(super) vector: Option<MatrixRow>,
    pub(super) words: u16,
    pub(super) kind: Kind,
    pub(super) status: Status,
    pub(super) class: Class,
    pub(super) domain: Option<u8>,
    pub(super) regime: Option<Regime>,
    pub(super) bloodstain: bool,
    pub(super) dream_validated: bool,
}

const _: () = assert!(size_of::<Card>() == 48);

/// A row of the matrix, counted from one, so that having none takes no room.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatrixRow(NonZeroU32);

impl MatrixRow {
    pub(super) fn new(index: usize) -> Option<MatrixRow> {
        u32::try_from(index + 1).ok().and_then(NonZeroU32::new).map(MatrixRow)
    }

    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl Card {
    pub(super) fn of(entry: &Entry) -> Card {
        Card {
            id: entry.id,
            validated_at: entry.validated_at,
            by_evidence: entry.by_evidence(),
            text: mark(&entry.text),
            vector: None,
            words: u16::try_from(words::length(&entry.text)).unwrap_or(u16::MAX),
            kind: entry.kind,
            status: entry.status,
            class: entry.class,
            domain: entry.domain,
            regime: entry.regime,
            bloodstain: entry.bloodstain,
            dream_validated: entry.dream_validated,
        }
    }

    /// Confidence by the core's one rule for it, worked out on a scratch entry: that has no evidence of its own, so it
    /// begins with what the evidence has said.
    pub(super) fn confidence(&self, lent: &mut Entry, now: Time) -> f64 {
        lent.initial = self.by_evidence;
        lent.class = self.class;
        lent.validated_at = self.validated_at;
        lent.dream_validated = self.dream_validated;
        lent.bloodstain = self.bloodstain;
        lent.confidence(now)
    }
}

fn mark(text: &str) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *blake3::hash(text.as_bytes()).as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// A blank entry, the scratch for [`Card::confidence`].
pub(super) fn nothing_known() -> Entry {
    Entry {
        id: 0,
        kind: Kind::Insight,
        text: String::new(),
        condition: None,
        claim: None,
        link: None,
        blend: None,
        shown: None,
        domain: None,
        regime: None,
        class: Class::Structural,
        status: Status::Archived,
        initial: 0.0,
        evidence_for: 0.0,
        evidence_against: 0.0,
        born: Time::default(),
        validated_at: Time::default(),
        dream_validated: false,
        bloodstain: false,
        quality: 0.0,
        strength: 0.0,
        retrievals: 0,
        provenance: Provenance { sources: Vec::new(), crossings: 0, hops: 0, brought: None },
        shared: None,
        contradicts: Vec::new(),
    }
}
