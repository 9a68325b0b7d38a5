//! Confidence: what evidence says, faded by the time since anyone checked. Computed when it is read, never by
//! rewriting what is stored, so it does not matter who reads it when, or how often.

use super::entry::{Class, Entry, How};
use crate::time::{Span, Time};

/// Days until half of the confidence is gone; structural knowledge keeps it.
pub const HALF_LIVES: [(Class, Option<Span>); 4] = [
    (Class::Structural, None),
    (Class::RegimeConditional, Some(Span::DAY.times(14))),
    (Class::Tactical, Some(Span::DAY.times(7))),
    (Class::Ephemeral, Some(Span::DAY)),
];

/// The most an entry of one's own begins with.
pub const BIRTH_CAP: f64 = 0.7;
/// Pieces of evidence that an entry's first confidence counts for.
const PRIOR: f64 = 4.0;
/// The most evidence that counts; older evidence fades beyond it, so that old truths do not outvote new ones.
const MEMORY: f64 = 20.0;
/// The share of confidence left by each death since the last validation.
const CROSSING: f64 = 0.85;
/// Born of a single extreme episode: no more than a suggestion to an heir.
const SINGLE_EPISODE: f64 = 0.4;

impl Class {
    pub fn half_life(self) -> Option<Span> {
        HALF_LIVES.iter().find(|(class, _)| *class == self).and_then(|(_, half_life)| *half_life)
    }
}

impl Entry {
    /// Confidence by the evidence, before time is taken into account.
    pub fn by_evidence(&self) -> f64 {
        let seen = self.evidence_for + self.evidence_against;
        (self.initial * PRIOR + self.evidence_for) / (PRIOR + seen)
    }

    /// Confidence now, faded by the time since the entry was last borne out.
    pub fn confidence(&self, now: Time) -> f64 {
        let Some(half_life) = self.class.half_life() else { return self.by_evidence() };
        let mut halvings = now.since(self.validated_at).as_millis() as f64 / half_life.as_millis() as f64;
        if self.dream_validated {
            halvings /= 2.0;
        }
        if self.bloodstain {
            halvings /= 3.0;
        }
        self.by_evidence() * libm::exp2(-halvings)
    }

    /// The entry after a check, in which it held or did not.
    #[must_use]
    pub fn checked(&self, held: bool, weight: f64, now: Time) -> Entry {
        let mut entry = self.clone();
        let seen = entry.evidence_for + entry.evidence_against + weight;
        if seen > MEMORY {
            let keep = (MEMORY - weight).max(0.0) / (seen - weight);
            entry.evidence_for *= keep;
            entry.evidence_against *= keep;
        }
        if held {
            entry.evidence_for += weight;
            entry.validated_at = entry.validated_at.max(now);
            entry.provenance.crossings = 0;
        } else {
            entry.evidence_against += weight;
        }
        entry
    }
}

/// The confidence an entry begins with, by how it came.
pub fn inherited(how: How, sender: f64, crossings: u32, single_episode: bool) -> f64 {
    let sender = sender.clamp(0.0, 1.0);
    let begins = match how {
        How::Instinct | How::Explored | How::Observed | How::Dreamt | How::Owner | How::Thought => {
            sender.min(BIRTH_CAP)
        }
        How::Inherited => sender * libm::pow(CROSSING, f64::from(crossings)),
        How::Clade => (0.8 * sender).min(0.4),
        How::Replicant | How::Purchased | How::Agent => 0.3,
    };
    if single_episode { begins.min(SINGLE_EPISODE) } else { begins }
}
