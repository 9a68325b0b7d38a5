//! The stochastic clock: a small chance of death at every step, growing with age and with being wrong.
//!
//! Gompertz–Makeham with frailty, integrated over the step, so that looking less often changes nothing.
//! The chance is drawn outside and arrives as a 64-bit roll; death is an integer comparison.

use crate::constitution::StochasticFigures;
use crate::life::Life;
use crate::time::Span;

/// The fitness that frailty is measured by: a clock that is switched off counts as one, here as elsewhere.
pub fn robustness(life: &Life) -> f64 {
    if life.constitution().clocks().epistemic { life.vitality.epistemic } else { 1.0 }
}

/// Probability of dying between two ages.
pub fn risk(figures: &StochasticFigures, from: Span, to: Span, fitness: f64) -> f64 {
    let frailty = 1.0 + figures.frailty * (1.0 - fitness);
    one_minus_exp(cumulative(figures, from.reference_ticks(), to.reference_ticks(), frailty))
}

/// 1 − e^−x. A step's risk is nearly always tiny, where three terms are exact and far cheaper.
fn one_minus_exp(x: f64) -> f64 {
    if x.abs() < 1e-4 { x * (1.0 - x * (0.5 - x / 6.0)) } else { -libm::expm1(-x) }
}

/// The rate at an age, per reference tick.
pub fn rate(figures: &StochasticFigures, age: Span, fitness: f64) -> f64 {
    let frailty = 1.0 + figures.frailty * (1.0 - fitness);
    let uncapped = figures.base_hazard + figures.aging_hazard * libm::exp(figures.aging_rate * age.reference_ticks());
    (uncapped * frailty).min(figures.max_hazard)
}

/// The integral of the capped rate, in closed form.
fn cumulative(figures: &StochasticFigures, from: f64, to: f64, frailty: f64) -> f64 {
    let StochasticFigures { base_hazard: a, aging_hazard: b, aging_rate: g, max_hazard: cap, .. } = *figures;
    if to <= from {
        return 0.0;
    }
    if b <= 0.0 || g <= 0.0 {
        return ((a + b.max(0.0)) * frailty).min(cap) * (to - from);
    }
    let growth_to = libm::exp(g * to);
    let growth_from = growth_to * (1.0 - one_minus_exp(g * (to - from)));
    if (a + b * growth_to) * frailty <= cap {
        return frailty * (a * (to - from) + b / g * growth_to * one_minus_exp(g * (to - from)));
    }
    if (a + b * growth_from) * frailty >= cap {
        return cap * (to - from);
    }
    let crossing = libm::log((cap / frailty - a) / b) / g;
    frailty * (a * (crossing - from) + b / g * (libm::exp(g * crossing) - growth_from)) + cap * (to - crossing)
}

/// Whether this roll dies of this risk.
pub fn dies(risk: f64, roll: u64) -> bool {
    // Saturating: a risk of one kills every roll but the very last of 2^64.
    let threshold = (risk * 18_446_744_073_709_551_616.0) as u64;
    roll < threshold
}

/// The roll as a fraction, for people.
pub fn fraction(roll: u64) -> f64 {
    roll as f64 / 18_446_744_073_709_551_616.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constitution::Constitution;

    const DAY: Span = Span::DAY;

    fn survival(days: u64, steps: u64, fitness: f64) -> f64 {
        let figures = Constitution::bare().stochastic;
        let edge = |i: u64| Span::millis(DAY.times(days).as_millis() * i / steps);
        (0..steps).map(|i| 1.0 - risk(&figures, edge(i), edge(i + 1), fitness)).product()
    }

    #[test]
    fn survival_is_the_documents_at_7_30_60_and_90_days() {
        for (days, expected) in [(7, 0.985), (30, 0.93), (60, 0.77), (90, 0.03)] {
            let alive = survival(days, 1, 1.0);
            assert!((alive - expected).abs() < 0.006, "{days} days: {alive}");
        }
    }

    #[test]
    fn how_often_one_looks_does_not_change_the_odds() {
        for days in [10, 60, 89, 120] {
            let (one, many) = (survival(days, 1, 0.5), survival(days, days * 2_160, 0.5));
            assert!((one - many).abs() < 1e-9, "{days} days: {one} against {many}");
        }
    }

    #[test]
    fn the_short_way_to_a_small_risk_is_the_long_way() {
        for x in [1e-12, 1e-9, 1e-6, 5e-5, 9.9e-5] {
            assert!((one_minus_exp(x) / -libm::expm1(-x) - 1.0).abs() < 1e-13, "{x}");
        }
    }

    #[test]
    fn being_wrong_is_frailty() {
        let figures = Constitution::bare().stochastic;
        let at = |fitness| rate(&figures, DAY, fitness);
        assert!((at(0.0) / at(1.0) - 3.0).abs() < 1e-12);
        assert_eq!(rate(&figures, DAY.times(400), 1.0), 1e-3, "capped");
    }

    #[test]
    fn death_is_an_integer_comparison() {
        assert!(!dies(0.0, 0));
        assert!(dies(0.5, (1 << 63) - 1) && !dies(0.5, 1 << 63));
        assert!(dies(1.0, u64::MAX - 1));
    }
}
