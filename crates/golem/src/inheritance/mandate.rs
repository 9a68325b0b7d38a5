//! The mandate to diverge: a life should leave more than it was left. A golem that dies without having found, given up
//! and asked enough is said to have changed little; an heir that would be born a copy is not born.

use life::constitution::MandateFigures;
use life::grimoire::{Entry, How, Kind, Status};
use life::rule::Term;
use life::rule::text::Parsed;
use serde::{Deserialize, Serialize};

/// Figures of what a life added to what it was left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mandate {
    pub novel: u32,
    pub invalidated: u32,
    pub questions: f64,
    pub low_divergence: bool,
}

impl Mandate {
    /// Counts the entries of a life. Unsettled contradictions, and hypotheses that ran out, count as questions.
    pub fn of<'a>(
        entries: impl Iterator<Item = &'a Entry>,
        unsettled: u32,
        generation: u32,
        asked_for: &MandateFigures,
    ) -> Mandate {
        let (mut novel, mut invalidated, mut questions, mut all) = (0, 0, unsettled, unsettled);
        for entry in entries {
            let came = entry.provenance.sources.iter().any(|source| source.how == How::Inherited);
            match entry.status {
                Status::Archived if came => invalidated += 1,
                Status::Archived => continue,
                _ => {}
            }
            let own = |how: How| matches!(how, How::Explored | How::Observed | How::Dreamt | How::Replicant);
            novel += u32::from(!came && entry.provenance.sources.iter().any(|source| own(source.how)));
            let asked = entry.kind == Kind::Question || !entry.contradicts.is_empty();
            questions += u32::from(asked);
            all += 1;
        }
        let share = if all > 0 { f64::from(questions) / f64::from(all) } else { 0.0 };
        // The first of a line had nothing to give up.
        let gave_up = generation == 0 || invalidated >= asked_for.invalidated;
        let low_divergence = novel < asked_for.novel || !gave_up || share < asked_for.questions;
        Mandate { novel, invalidated, questions: share, low_divergence }
    }
}

/// The share of rules that are not among those told; without any rules it is all of them. Beside what the dead was born
/// with it says whether that life added anything.
pub fn divergence<'a>(rules: impl Iterator<Item = &'a Parsed>, told: &[Parsed]) -> f64 {
    let (mut all, mut new) = (0_u32, 0_u32);
    for rule in rules {
        let same = |old: &Parsed| {
            old.domain == rule.domain
                && old.condition.same(&rule.condition)
                && old.stance == rule.stance
                && (old.effect - rule.effect).abs() < 0.05
                && blends_alike(old, rule)
        };
        all += 1;
        new += u32::from(!told.iter().any(same));
    }
    if all > 0 { f64::from(new) / f64::from(all) } else { 1.0 }
}

/// Whether two rules blend the same features in much the same shares, or neither blends any.
fn blends_alike(one: &Parsed, other: &Parsed) -> bool {
    let (Some(one), Some(other)) = (&one.blend, &other.blend) else { return one.blend == other.blend };
    let near =
        |term: &Term| other.terms.iter().any(|t| t.feature == term.feature && (t.share - term.share).abs() < 0.05);
    one.terms.len() == other.terms.len() && one.terms.iter().all(near)
}
