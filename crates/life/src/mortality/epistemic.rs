//! The epistemic clock: is the golem still in touch with the world?
//!
//! Fitness is skill against the naive forecast, per domain: one half is exactly as good as naive, one is
//! perfect, zero hopeless. Staying confidently wrong leads through a grace period into senescence;
//! repeating the naive forecast everywhere, for a whole window, is not knowing either.

use super::Domain;
use crate::life::Life;

/// The domain of execution: the results of actions beside their previews.
pub const EXECUTION: &str = "execution";

/// The fitness of one domain, once it has been tried often enough.
pub fn domain_fitness(life: &Life, domain: usize) -> Option<f64> {
    life.epistemic.domains[domain].fitness(life.constitution().epistemic.measure, life.laws())
}

/// The fitness of the whole: the weighted mean of the domains that have shown enough.
pub fn fitness(life: &Life) -> f64 {
    let laws = life.laws();
    let measure = life.constitution().epistemic.measure;
    let (mut sum, mut weights) = (0.0, 0.0);
    let declared = life.epistemic.domains.iter().zip(life.birth.world.domains.iter().map(|spec| spec.weight));
    for (domain, weight) in declared.chain([(&life.execution.domain, laws.execution_weight)]) {
        if let Some(fitness) = domain.fitness(measure, laws) {
            sum += weight * fitness;
            weights += weight;
        }
    }
    let shown = if weights > 0.0 { sum / weights } else { laws.fitness_unknown };
    // Losing much of what was known is felt.
    let felt = if life.knowing.pruned() > laws.pruned_share { laws.pruned_fitness } else { 1.0 };
    // And so is having nothing to try that does not fail in the same way.
    let alike = if life.phages.fail_alike() { laws.alike_fitness } else { 1.0 };
    let shown = shown * felt * alike;
    // An echo keeps what it has for one window, then drifts over the next.
    let window = life.constitution().fitness_window(laws);
    let drift = ((life.epistemic.echoed as f64 - window) / window).clamp(0.0, 1.0);
    shown - (shown - laws.echo_fitness).max(0.0) * drift
}

/// The domains in which the golem has lost touch, by name.
pub fn failing(life: &Life) -> Vec<String> {
    let threshold = life.constitution().epistemic.senescence;
    let names = life.birth.world.domains.iter().map(|spec| spec.name.as_str()).chain([EXECUTION]);
    let domains = life.epistemic.domains.iter().chain([&life.execution.domain]);
    let lost = |domain: &Domain| {
        domain.fitness(life.constitution().epistemic.measure, life.laws()).is_some_and(|fitness| fitness < threshold)
    };
    names.zip(domains).filter(|(_, domain)| lost(domain)).map(|(name, _)| name.to_owned()).collect()
}
