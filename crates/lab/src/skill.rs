//! Skill over a stretch of a life: how much less wrong than naive its claims were, every one of them counted.
//!
//! What a Life keeps of its errors fades, so a whole life cannot be read off its end, nor off notes taken now and then.
//! This looks after every record at what it added.

use golem::event::Event;
use golem::mortality;
use golem::{Life, Record, limits};

/// The errors a life keeps, as they stood after the newest record.
#[derive(Debug, Default)]
pub struct Listener(Errors);

/// Errors by domain: the golem's and the naive forecast's, on the same questions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors([(f64, f64); limits::DOMAINS]);

impl Listener {
    /// Adds to `errors` what came due in this record; `life` is the life it led to.
    pub fn hear(&mut self, record: &Record, life: &Life, errors: &mut Errors) {
        // Claims come due while it looks; that a tick passes, and all of it fades, comes after that.
        let ticked = record.events.iter().any(|event| matches!(event, Event::Mortality(mortality::Event::Aged { .. })));
        let keep = if ticked { 1.0 - 1.0 / life.fitness_window() } else { 1.0 };
        for (at, domain) in life.epistemic.domains.iter().enumerate() {
            let (then, sum) = (&mut self.0.0[at], &mut errors.0[at]);
            sum.0 += domain.error / keep - then.0;
            sum.1 += domain.naive_error / keep - then.1;
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

    /// The errors of one domain: the golem's and the naive forecast's.
    pub fn of(&self, domain: usize) -> (f64, f64) {
        self.0[domain]
    }

    /// Over all domains by their weight: 0 as good as naive, 1 perfect, negative worse. None where nothing came due.
    pub fn skill(&self, life: &Life) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (spec, (error, naive)) in life.birth.world.domains.iter().zip(&self.0) {
            if *naive > 1e-12 {
                sum += spec.weight * (1.0 - error / naive);
                weights += spec.weight;
            }
        }
        (weights > 0.0).then(|| sum / weights)
    }
}
