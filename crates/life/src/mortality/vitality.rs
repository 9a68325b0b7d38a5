//! Vitality: the three clocks as one number. The parts multiply, so none makes up for another.

use super::Clock;
use crate::life::Life;
use crate::mortality::economic;
use crate::mortality::sigmoid;

/// The factors of the composite; a clock that is switched off counts as one.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    pub economic: f64,
    pub epistemic: f64,
    pub age: f64,
}

impl Parts {
    pub fn of(life: &Life, fitness: f64) -> Parts {
        let figures = &life.constitution().vitality;
        let clocks = life.constitution().clocks();
        let economic = sigmoid(economic::score(life), figures.economic_center, figures.economic_steepness);
        let epistemic = sigmoid(fitness, figures.epistemic_center, figures.epistemic_steepness);
        let age = (1.0 - figures.age_drag * age_factor(life)).max(0.0);
        // Displayed as it is for an immortal: the comparison is the point of the control group.
        let immortal = life.constitution().mode == crate::constitution::Mode::Immortal;
        Parts {
            economic: if clocks.economic { economic } else { 1.0 },
            epistemic: if clocks.epistemic || immortal { epistemic } else { 1.0 },
            age: if clocks.stochastic || immortal { age } else { 1.0 },
        }
    }

    pub fn composite(&self) -> f64 {
        (self.economic * self.epistemic * self.age).clamp(0.0, 1.0)
    }

    /// The clock that drags most.
    pub fn weakest(&self) -> Clock {
        if self.economic <= self.epistemic && self.economic <= self.age {
            Clock::Economic
        } else if self.epistemic <= self.age {
            Clock::Epistemic
        } else {
            Clock::Stochastic
        }
    }
}

pub(crate) fn age_factor(life: &Life) -> f64 {
    let lifespan = life.constitution().vitality.lifespan;
    life.age.as_millis() as f64 / lifespan.as_millis().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::phase::Phase;
    use super::super::{Vitality, sigmoid};
    use super::*;
    use crate::time::Time;

    fn check_near(actual: f64, expected: f64, tolerance: f64) {
        assert!((actual - expected).abs() < tolerance, "{actual} is not {expected}");
    }

    #[test]
    fn sigmoids_have_the_documents_values() {
        for (x, y) in [(0.3, 0.5), (0.1, 0.12), (0.5, 0.88)] {
            check_near(sigmoid(x, 0.3, 10.0), y, 0.005);
        }
        for (x, y) in [(0.4, 0.5), (0.2, 0.17), (0.6, 0.83)] {
            check_near(sigmoid(x, 0.4, 8.0), y, 0.005);
        }
    }

    #[test]
    fn wealth_cannot_make_up_for_being_wrong() {
        let parts = Parts { economic: sigmoid(0.9, 0.3, 10.0), epistemic: sigmoid(0.2, 0.4, 8.0), age: 1.0 };
        check_near(parts.economic, 0.998, 0.001);
        check_near(parts.epistemic, 0.168, 0.001);
        check_near(parts.composite(), 0.168, 0.001);
        assert_eq!(Phase::after(Phase::Stable, parts.composite(), 0.05), Phase::Declining);
        assert_eq!(parts.weakest(), Clock::Epistemic);
    }

    #[test]
    fn a_newborn_is_stable_at_069() {
        let newborn = Vitality::newborn(Time::default(), crate::laws::laws(1).unwrap().newborn);
        check_near(newborn.composite, sigmoid(1.0, 0.3, 10.0) * sigmoid(0.5, 0.4, 8.0), 0.005);
        assert_eq!(Phase::after(Phase::Thriving, newborn.composite, 0.05), newborn.phase);
    }
}
