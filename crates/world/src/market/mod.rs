//! Markets, where the words of trading live. A simulated one and a replayed one share what they measure,
//! what can be done in them and how an order is filled, so that a golem cannot tell which it is in.

pub mod candles;
mod fill;
pub mod regime;
pub mod replay;
mod report;
pub mod sim;

use golem::time::Span;
use golem::world::{ActionSpec, DomainSpec, Effect, Manifest};

pub(crate) const YEAR_MS: f64 = 365.25 * 86_400_000.0;

/// What is remembered of squared returns from one bar to the next.
const KEEP: f64 = 0.97;

/// Realised volatility: what has been, from closes alone, as a fraction a year.
#[derive(Clone, Debug)]
pub(crate) struct Realised {
    squares: f64,
    /// How much of the average is still missing because there were too few bars.
    missing: f64,
    bars_a_year: f64,
}

impl Realised {
    pub(crate) fn new(bar: Span) -> Realised {
        Realised { squares: 0.0, missing: 1.0, bars_a_year: YEAR_MS / bar.as_millis() as f64 }
    }

    /// Takes in a return.
    pub(crate) fn add(&mut self, change: f64) {
        self.squares = KEEP * self.squares + (1.0 - KEEP) * change * change;
        self.missing *= KEEP;
    }

    /// Takes in a return made over this many bars, as if each had moved alike.
    pub(crate) fn add_over(&mut self, change: f64, bars: f64) {
        self.add(change / libm::sqrt(bars));
    }

    pub(crate) fn yearly(&self) -> f64 {
        if self.missing == 1.0 {
            return 0.0;
        }
        libm::sqrt(self.squares / (1.0 - self.missing) * self.bars_a_year)
    }
}

fn manifest(world: &str, bar: Span, unit: &str, domains: &[(&str, f64)]) -> Manifest {
    let action = |name: &str, effect| ActionSpec { name: name.to_owned(), effect };
    Manifest {
        world: world.to_owned(),
        // Whoever opened it knows how.
        spec: String::new(),
        bar,
        domains: domains
            .iter()
            .map(|(name, weight)| DomainSpec { name: (*name).to_owned(), weight: *weight })
            .collect(),
        actions: [action("buy", Effect::Adds), action("sell", Effect::Reduces)].into_iter().collect(),
        unit: unit.to_owned(),
        data_per_day: golem::Usdc::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn realised_volatility_is_right_from_the_first_return_and_fair_across_gaps() {
        let day = Span::DAY;
        let mut realised = Realised::new(day);
        assert_eq!(realised.yearly(), 0.0);
        let expected = 0.01 * libm::sqrt(365.25);
        for (change, bars) in [(0.01, 1.0), (-0.01, 1.0), (0.02, 4.0), (0.01, 1.0)] {
            realised.add_over(change, bars);
            assert!((realised.yearly() - expected).abs() < 1e-9);
        }
    }
}
