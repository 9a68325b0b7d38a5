//! How heuristics forecast together and learn from what came of it. Arithmetic only: this runs when a
//! journal is folded as it ran when it was lived.

use super::{Heuristic, Terms};
use crate::laws::Laws;
use crate::prediction::Prediction;
use crate::regime::Regime;
use crate::world::DomainKind;

/// How wrong a forecast was, in the domain's own measure.
pub fn error(kind: DomainKind, base: f64, forecast: f64, actual: f64, laws: &Laws) -> f64 {
    match kind {
        DomainKind::Value => (forecast - actual).abs(),
        DomainKind::Direction => {
            let miss = forecast - rise(base, actual);
            miss * miss
        }
        DomainKind::Range => 2.0 * forecast + laws.band_miss * ((actual - base).abs() - forecast).max(0.0),
    }
}

/// How far a forecast departs from the naive one, on the scale of the domain's errors.
pub(crate) fn departure(kind: DomainKind, forecast: f64, naive: f64) -> f64 {
    let gap = (forecast - naive).abs();
    if kind == DomainKind::Direction { gap * gap } else { gap }
}

/// The outcome that a claim's value is compared with: the value, whether it rose, or how far it moved.
pub fn met(kind: DomainKind, base: f64, actual: f64) -> f64 {
    match kind {
        DomainKind::Value => actual,
        DomainKind::Direction => rise(base, actual),
        DomainKind::Range => (actual - base).abs(),
    }
}

/// One if it rose, zero if not.
pub fn rise(base: f64, actual: f64) -> f64 {
    f64::from(u8::from(actual > base))
}

impl Heuristic {
    /// The forecast of this heuristic alone.
    pub(crate) fn forecast(&self, kind: DomainKind, naive: f64) -> f64 {
        forecast(kind, naive, self.effect)
    }

    /// The expectation when this claim was made; none if the heuristic was not there. Under the first laws, the
    /// expectation by now.
    fn expected(&mut self, claim: &Prediction, laws: &Laws) -> Option<f64> {
        let said = self.said.take(claim.made);
        if laws.honest { said } else { Some(self.effect) }
    }

    /// How much say it has: by the skill it has shown beyond what luck could have, and by how often it was tried.
    pub fn say(&self, kind: DomainKind, laws: &Laws) -> f64 {
        if !self.voice {
            return 0.0;
        }
        self.sure(kind, laws).max(0.0) * self.weight / (self.weight + laws.say_half)
    }

    /// The skill it has shown beyond what luck could have.
    pub fn sure(&self, kind: DomainKind, laws: &Laws) -> f64 {
        let luck = if kind == DomainKind::Direction { laws.luck_of_direction } else { laws.luck };
        self.skill() - luck / (self.weight + 1.0).sqrt()
    }

    /// Learns from a claim it had a say in. Returns how wrong it was itself, if it said anything.
    pub fn learn(
        &mut self,
        kind: DomainKind,
        claim: &Prediction,
        actual: f64,
        regime: Regime,
        laws: &Laws,
    ) -> Option<f64> {
        let (said, far) = match &mut self.blend {
            Some(blend) => blend.asked(claim.made).map(|(way, far)| (claim.naive * libm::exp(way), Some(far)))?,
            None => (forecast(kind, claim.naive, self.expected(claim, laws)?), None),
        };
        let own = error(kind, claim.base, said, actual, laws);
        let naive = error(kind, claim.base, claim.naive, actual, laws);
        let keep = 1.0 - 1.0 / laws.heuristic_memory;
        self.weight = self.weight * keep + 1.0;
        self.tried_in[regime as usize] = self.tried_in[regime as usize] * keep + 1.0;
        self.error = self.error * keep + own;
        self.naive_error = self.naive_error * keep + naive;
        if own < naive {
            self.evidence_for = self.evidence_for.saturating_add(1);
        } else {
            self.evidence_against = self.evidence_against.saturating_add(1);
        }
        if let (Some(blend), Some(far)) = (&mut self.blend, far) {
            blend.learn(&far, claim.naive, actual, claim.ahead, laws);
            return Some(own);
        }
        let pace = laws.learning_first / (self.weight + laws.learning_ease) + laws.learning_last;
        self.effect = match kind {
            // The median of the ratio is what makes absolute errors smallest.
            DomainKind::Value if claim.naive > 0.0 => {
                let ratio = actual / claim.naive;
                (self.effect + pace * toward(ratio - self.effect, laws)).clamp(laws.effect_least, laws.effect_most)
            }
            DomainKind::Value => self.effect,
            DomainKind::Direction => {
                let pull = (rise(claim.base, actual) - self.effect) / (self.weight + laws.direction_prior);
                (self.effect + pull).clamp(1.0 - laws.surest, laws.surest)
            }
            // The quantile that the band should reach.
            DomainKind::Range if claim.naive > 0.0 => {
                let outside = (actual - claim.base).abs() > claim.naive * self.effect;
                let step = if outside { laws.band_holds } else { laws.band_holds - 1.0 };
                (self.effect + pace * 2.0 * step).clamp(laws.effect_least, laws.effect_most)
            }
            DomainKind::Range => self.effect,
        };
        Some(own)
    }
}

/// The forecast of an expectation, given the naive one.
pub(crate) fn forecast(kind: DomainKind, naive: f64, effect: f64) -> f64 {
    match kind {
        DomainKind::Direction => effect,
        DomainKind::Value | DomainKind::Range => naive * effect,
    }
}

/// A step of one at most, smaller when nearly there.
fn toward(gap: f64, laws: &Laws) -> f64 {
    (gap * laws.nearness).clamp(-1.0, 1.0)
}

/// The forecast of all heuristics with a say, drawn towards the naive one by doubt.
pub fn together<'a>(kind: DomainKind, naive: f64, voices: impl Iterator<Item = &'a Heuristic>, laws: &Laws) -> f64 {
    let (mut sum, mut said) = (0.0, laws.doubt);
    for heuristic in voices.filter(|heuristic| heuristic.blend.is_none()) {
        let say = heuristic.say(kind, laws);
        sum += say * (heuristic.forecast(kind, naive) - naive);
        said += say;
    }
    naive + sum / said
}

/// The forecast of all blends with a say together: each by what it has shown, and a newcomer by a little.
pub fn blended<'a>(naive: f64, voices: impl Iterator<Item = &'a Heuristic>, terms: &Terms, laws: &Laws) -> Option<f64> {
    let (mut way, mut said) = (0.0, 0.0);
    for heuristic in voices.filter(|heuristic| heuristic.voice) {
        let Some(blend) = &heuristic.blend else { continue };
        let Some(far) = blend.far(terms) else { continue };
        let tried = heuristic.weight / (heuristic.weight + laws.say_half);
        let say = laws.doubt + heuristic.skill().max(0.0) * tried;
        way += say * blend.way(&far);
        said += say;
    }
    (said > 0.0).then(|| naive * libm::exp(way / said))
}
