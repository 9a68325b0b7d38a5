//! Skill over a stretch of a life: how much less wrong than naive its claims were, every one of them counted.
//!
//! What a Life keeps of its errors fades, so a whole life cannot be read off its end, nor off notes taken now and then.
//! This looks after every record at what it added.

use golem::event::Event;
use golem::mortality;
use golem::world::DomainKind;
use golem::{Life, Record, limits};

/// The errors a life keeps, as they stood after the newest record.
#[derive(Debug, Default)]
pub struct Listener {
    last: Errors,
    /// Answers that were there, where a coin is what directions are held against.
    resolved: Option<[u64; limits::DOMAINS]>,
}

/// The squared error of a coin toss.
const COIN: f64 = 0.25;

/// Errors by domain: the golem's and the naive forecast's, on the same questions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors([(f64, f64); limits::DOMAINS]);

impl Listener {
    /// Holds directions against a coin. What is naive about them is otherwise the share of rises a golem has seen, which
    /// starts over at every birth: a line with many births would be held against a worse one.
    pub fn even() -> Listener {
        Listener { resolved: Some([0; limits::DOMAINS]), ..Listener::default() }
    }

    /// Adds to `errors` what came due in this record; `life` is the life it led to.
    pub fn hear(&mut self, record: &Record, life: &Life, errors: &mut Errors) {
        // Claims come due while it looks; that a tick passes, and all of it fades, comes after that.
        let ticked = record.events.iter().any(|event| matches!(event, Event::Mortality(mortality::Event::Aged { .. })));
        let keep = if ticked { 1.0 - 1.0 / life.fitness_window() } else { 1.0 };
        for (at, domain) in life.epistemic().domains.iter().enumerate() {
            let (then, sum) = (&mut self.last.0[at], &mut errors.0[at]);
            let spec = &life.birth().world.domains[at];
            let coin = self.resolved.as_mut().filter(|_| spec.kind == DomainKind::Direction && spec.level.is_none());
            sum.0 += domain.error / keep - then.0;
            sum.1 += match coin {
                Some(resolved) => {
                    COIN * (domain.resolved - std::mem::replace(&mut resolved[at], domain.resolved)) as f64
                }
                None => domain.naive_error / keep - then.1,
            };
            *then = (domain.error, domain.naive_error);
        }
    }
}

impl Errors {
    pub fn and(mut self, more: &Errors) -> Errors {
        for (mine, more) in self.0.iter_mut().zip(&more.0) {
            mine.0 += more.0;
            mine.1 += more.1;
        }
        self
    }

    pub fn add(&mut self, more: &Errors) {
        *self = self.and(more);
    }

    /// The errors of one domain: the golem's and the naive forecast's.
    pub fn of(&self, domain: usize) -> (f64, f64) {
        self.0[domain]
    }

    /// Over all domains by their weight: 0 as good as naive, 1 perfect, negative worse. None where nothing came due.
    pub fn skill(&self, life: &Life) -> Option<f64> {
        self.over(life.birth().world.domains.iter().map(|domain| domain.weight))
    }

    /// The share saved of all the error that naive made on a path, of which this may be only a part: while it made no claims it
    /// counts as wrong as naive. None where nothing came due.
    pub fn saved_of(&self, all: &Errors, weights: &[f64]) -> Option<f64> {
        let (mut sum, mut weighed) = (0.0, 0.0);
        for ((weight, (error, naive)), (_, all)) in weights.iter().zip(&self.0).zip(&all.0) {
            if *all > 1e-12 {
                sum += weight * (naive - error) / all;
                weighed += weight;
            }
        }
        (weighed > 0.0).then(|| sum / weighed)
    }

    /// Takes the larger of both naive errors, domain by domain.
    pub fn most(mut self, other: &Errors) -> Errors {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| mine.1 = mine.1.max(other.1));
        self
    }

    /// Skill over all domains, where only the weights are at hand.
    pub fn weighed(&self, weights: &[f64]) -> Option<f64> {
        self.over(weights.iter().copied())
    }

    fn over(&self, weights: impl Iterator<Item = f64>) -> Option<f64> {
        let (mut sum, mut all) = (0.0, 0.0);
        for (weight, (error, naive)) in weights.zip(&self.0) {
            if *naive > 1e-12 {
                sum += weight * (1.0 - error / naive);
                all += weight;
            }
        }
        (all > 0.0).then(|| sum / all)
    }
}
