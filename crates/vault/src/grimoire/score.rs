//! The score of an entry: how much it has to do with the question, how far it can be trusted by now, how lately it was
//! seen to hold, whether it belongs to the present regime, and whether a golem died learning it. Pure figures; a hit
//! shows each part.

use golem::regime::Regime;
use golem::time::Span;
use serde::Serialize;

/// The parts of a hit's score; the score is the product of the last five.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Parts {
    /// The share of the question's words that the entry has, 0 to 1; 0 if no words were asked.
    pub keywords: f64,
    /// How near the entry's meaning is, 0 (as near as any) to 1 (the nearest); none without a vector on either side.
    pub likeness: Option<f64>,
    /// Keywords and likeness together, sharpened: half as much to do with the question is a sixteenth of the relevance.
    pub relevance: f64,
    pub confidence: f64,
    pub recency: f64,
    /// How well the entry fits the present regime.
    pub regime: f64,
    pub bloodstain: f64,
}

/// Knowledge a golem died for weighs more.
const BLOODSTAIN: f64 = 1.2;
/// The factor for an entry from another regime.
const OTHER_REGIME: f64 = 0.3;
/// The age at which half of what recency can take is gone. The rest of forgetting is in the confidence.
const RECENT: Span = Span::DAY.times(14);
/// The least that recency can be, at any age.
const LEAST_RECENCY: f64 = 0.5;
/// The share of words in relevance, where there are vectors too. With a real model and questions written by people, any
/// value from 0.4 to 0.7 finds about as much.
const WORDS: f64 = 0.5;
/// BM25's k1, at its usual value: how fast a repeated word adds less.
const K1: f64 = 1.2;
/// BM25's b, at its usual value: how much a longer text dilutes a word.
const B: f64 = 0.75;
/// With fewer vectors than about this many, the average likeness is not known well.
const FEW: f64 = 50.0;

impl Parts {
    pub fn score(&self) -> f64 {
        self.relevance * self.confidence * self.recency * self.regime * self.bloodstain
    }
}

pub(super) fn recency(age: Span) -> f64 {
    let kept = RECENT.as_millis() as f64 / (RECENT.as_millis() as f64 + age.as_millis() as f64);
    LEAST_RECENCY + (1.0 - LEAST_RECENCY) * kept
}

/// An entry of another regime sleeps, and half wakes while one regime gives way to another.
pub(super) fn regime_fit(learned_in: Option<Regime>, now: Regime, transition: f64) -> f64 {
    if learned_in.is_none_or(|regime| regime == now) {
        return 1.0;
    }
    OTHER_REGIME + (1.0 - OTHER_REGIME) * transition.clamp(0.0, 1.0)
}

pub(super) fn bloodstain(stained: bool) -> f64 {
    if stained { BLOODSTAIN } else { 1.0 }
}

/// How much a word tells (its inverse document frequency), by how many of all entries have it.
pub(super) fn tells(standing: usize, entries: usize) -> f64 {
    let (standing, entries) = (standing as f64, entries as f64);
    libm::log(1.0 + (entries - standing + 0.5) / (standing + 0.5))
}

/// BM25's measure for a text that has the word, one being a text of average length. A word counts once: an entry
/// is a sentence or two, where saying it again adds nothing, and a text stuffed with words gains nothing.
pub(super) fn dilution(words: usize, average: f64) -> f64 {
    (K1 + 1.0) / (1.0 + K1 * (1.0 - B + B * words as f64 / average.max(1.0)))
}

/// The likeness that says nothing: the average likeness of all entries to this question. Models differ in it widely,
/// some give any two texts 0.6; with few entries it is not known, and nothing is taken off.
pub(super) fn usual(cosines: &[f32]) -> f64 {
    let sum: f64 = cosines.iter().map(|cosine| f64::from(*cosine)).sum();
    (sum / (cosines.len() as f64 + FEW)).max(0.0)
}

pub(super) fn likeness(cosine: f32, usual: f64, best: f32) -> f64 {
    let room = f64::from(best) - usual;
    if room > 0.0 { ((f64::from(cosine) - usual) / room).clamp(0.0, 1.0) } else { 0.0 }
}

/// Words and meaning together; with one of them alone, that one. To the fourth power, because thousands have
/// something to do with any question: unsharpened, the surest of those come before what was asked for (of 135 such
/// entries 93 were among the first ten, sharpened 119).
pub(super) fn relevance(words_asked: bool, keywords: f64, likeness: Option<f64>) -> f64 {
    let together = match likeness {
        Some(likeness) if words_asked => WORDS * keywords + (1.0 - WORDS) * likeness,
        Some(likeness) => likeness,
        None => keywords,
    };
    let squared = together * together;
    squared * squared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recency_is_gentle_and_never_below_a_half() {
        assert_eq!(recency(Span::ZERO), 1.0);
        assert_eq!(recency(RECENT), 0.75);
        assert!(recency(Span::DAY.times(100_000)) >= 0.5);
        assert!(recency(Span::DAY) > 0.95);
    }

    #[test]
    fn an_entry_of_another_regime_sleeps_and_half_wakes_in_between() {
        let fit = |learned, transition| regime_fit(learned, Regime::Calm, transition);
        assert_eq!(fit(None, 0.0), 1.0);
        assert_eq!(fit(Some(Regime::Calm), 0.0), 1.0);
        assert_eq!(fit(Some(Regime::Unsettled), 0.0), 0.3);
        assert!((fit(Some(Regime::Unsettled), 0.5) - 0.65).abs() < 1e-12);
        assert_eq!(fit(Some(Regime::Unsettled), 7.0), 1.0);
    }

    #[test]
    fn a_rare_word_tells_more_and_one_that_stands_everywhere_next_to_nothing() {
        assert!(tells(3, 20_000) > tells(300, 20_000));
        assert!(tells(20_000, 20_000) < 1e-4);
        assert!(tells(1, 1) > 0.0, "the only entry there is can be found");
    }

    #[test]
    fn what_any_two_texts_have_in_common_is_no_likeness() {
        let cosines: Vec<f32> = (0..10_000).map(|n| if n == 0 { 0.9 } else { 0.6 }).collect();
        let usual = usual(&cosines);
        assert!(likeness(0.6, usual, 0.9) < 0.02);
        assert_eq!(likeness(0.9, usual, 0.9), 1.0);
        assert!(likeness(0.5, super::usual(&[0.5, 0.9]), 0.9) > 0.4, "of two, neither is usual");
    }
}
