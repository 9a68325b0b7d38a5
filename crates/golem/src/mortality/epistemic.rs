//! The epistemic clock: is the golem still in touch with the world?
//!
//! Fitness is skill against the naive forecast, per domain: one half is exactly as good as naive, one is
//! perfect, zero hopeless. Staying confidently wrong leads through a grace period into senescence;
//! repeating the naive forecast everywhere, for a whole window, is not knowing either.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::constitution::Measure;
use crate::draft::Draft;
use crate::event::Event;
use crate::laws::Laws;
use crate::life::Life;
use crate::limits;
use crate::prediction::Claim;

/// How far above the warning level fitness must rise before falling below it is news again.
const RELIEF: f64 = 0.02;
/// A regime met for fewer ticks than this says nothing about who is failing in it.
const UNFAMILIAR: u64 = 20;
/// The domain of what an action comes to, beside its preview.
pub const EXECUTION: &str = "execution";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epistemic {
    pub domains: ArrayVec<Domain, { limits::DOMAINS }>,
    pub peak: f64,
    pub senescence: Senescence,
    /// Ticks in a row in which every domain merely echoed the naive forecast.
    pub echoed: u64,
    /// Tick at which fitness fell below the warning level.
    pub declining_since: Option<u64>,
    /// Tick of the last claim that beat the naive forecast.
    pub last_success: u64,
}

/// Decayed errors on the same questions: the golem's and the naive forecast's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Domain {
    pub error: f64,
    pub naive_error: f64,
    /// How far the forecasts were from naive.
    pub distance: f64,
    /// Resolved claims, decayed like the errors.
    pub weight: f64,
    pub resolved: u64,
    /// The last pairs (predicted, actual), newest first, only where fitness is measured as R².
    pub pairs: Vec<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Senescence {
    Sound,
    /// Below the threshold; still time to recover.
    Grace {
        since: u64,
    },
    Senescent {
        since: u64,
    },
}

impl Epistemic {
    pub(crate) fn new(domains: usize) -> Epistemic {
        Epistemic {
            domains: (0..domains).map(|_| Domain::default()).collect(),
            peak: 0.0,
            senescence: Senescence::Sound,
            echoed: 0,
            declining_since: None,
            last_success: 0,
        }
    }

    /// A tick passes: what was shown long ago counts for less.
    pub(crate) fn fade(&mut self, window: f64) {
        let keep = 1.0 - 1.0 / window;
        self.domains.iter_mut().for_each(|domain| domain.keep(keep));
    }

    pub(crate) fn resolve(&mut self, claim: &Claim, actual: f64, tick: u64, measure: Measure, pairs_kept: usize) {
        let (error, naive_error) = ((claim.value - actual).abs(), (claim.naive - actual).abs());
        let domain = usize::from(claim.domain);
        self.score(domain, error, naive_error, (claim.value - claim.naive).abs(), tick);
        if measure == Measure::R2 {
            self.pair(domain, claim.value, actual, pairs_kept);
        }
    }

    /// One more pair for R², the oldest giving way.
    pub(crate) fn pair(&mut self, domain: usize, predicted: f64, actual: f64, kept: usize) {
        let pairs = &mut self.domains[domain].pairs;
        pairs.insert(0, (predicted, actual));
        pairs.truncate(kept);
    }

    /// A claim was as wrong as this, and the naive forecast as wrong as that.
    pub(crate) fn score(&mut self, domain: usize, error: f64, naive_error: f64, distance: f64, tick: u64) {
        self.domains[domain].score(error, naive_error, distance);
        if error < naive_error {
            self.last_success = tick;
        }
    }
}

impl Domain {
    pub(crate) fn score(&mut self, error: f64, naive_error: f64, distance: f64) {
        self.error += error;
        self.naive_error += naive_error;
        self.distance += distance;
        self.weight += 1.0;
        self.resolved += 1;
    }

    pub(crate) fn fade(&mut self, window: f64) {
        self.keep(1.0 - 1.0 / window);
    }

    fn keep(&mut self, keep: f64) {
        self.error *= keep;
        self.naive_error *= keep;
        self.distance *= keep;
        self.weight *= keep;
    }

    /// 0 as good as naive, 1 perfect, negative worse.
    pub fn skill(&self) -> f64 {
        if self.naive_error > 0.0 {
            1.0 - self.error / self.naive_error
        } else if self.error > 0.0 {
            -1.0
        } else {
            0.0
        }
    }

    fn fitness(&self, measure: Measure, laws: &Laws) -> Option<f64> {
        match measure {
            Measure::Skill => (self.weight >= laws.domain_minimum).then(|| from_skill(self.skill(), laws)),
            Measure::R2 => r_squared(&self.pairs, laws),
        }
    }

    fn echoes(&self, laws: &Laws) -> bool {
        self.weight < laws.domain_minimum || self.distance < laws.echo * self.naive_error
    }
}

/// A small real edge is visible; being wrong by half as much again as naive is hopeless.
pub(crate) fn from_skill(skill: f64, laws: &Laws) -> f64 {
    if skill >= 0.0 { 0.5 + 0.5 * skill.min(1.0).sqrt() } else { 0.5 - 0.5 * (-skill / laws.hopeless).min(1.0) }
}

fn r_squared(pairs: &[(f64, f64)], laws: &Laws) -> Option<f64> {
    if pairs.len() < laws.pairs_needed {
        return None;
    }
    let n = pairs.len() as f64;
    let mean = pairs.iter().map(|(_, actual)| actual).sum::<f64>() / n;
    let residual: f64 = pairs.iter().map(|(p, a)| (a - p) * (a - p)).sum();
    let total: f64 = pairs.iter().map(|(_, a)| (a - mean) * (a - mean)).sum();
    Some(if total > 0.0 { (1.0 - residual / total).max(0.0) } else { laws.fitness_unknown })
}

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
    let shown = shown * felt;
    // An echo keeps what it has for one window, then drifts over the next.
    let window = life.constitution().fitness_window(laws);
    let drift = ((life.epistemic.echoed as f64 - window) / window).clamp(0.0, 1.0);
    shown - (shown - laws.echo_fitness).max(0.0) * drift
}

/// The domains in which the golem has lost touch, by name.
pub(crate) fn failing(life: &Life) -> Vec<String> {
    let threshold = life.constitution().epistemic.senescence;
    let names = life.birth.world.domains.iter().map(|spec| spec.name.as_str()).chain([EXECUTION]);
    let domains = life.epistemic.domains.iter().chain([&life.execution.domain]);
    let lost = |domain: &Domain| {
        domain.fitness(life.constitution().epistemic.measure, life.laws()).is_some_and(|fitness| fitness < threshold)
    };
    names.zip(domains).filter(|(_, domain)| lost(domain)).map(|(name, _)| name.to_owned()).collect()
}

/// Notes echoing, decline, grace, senescence and recovery as they begin and end.
pub(crate) fn watch(draft: &mut Draft<'_>, fitness: f64) {
    watch_echo(draft);
    if !draft.constitution().clocks().epistemic {
        return;
    }
    let figures = draft.constitution().epistemic.clone();
    let (tick, grace) = (draft.tick, draft.constitution().grace());
    match draft.epistemic.declining_since {
        None if fitness < figures.warning => draft.emit(Event::EpistemicWarned),
        Some(_) if fitness >= figures.warning + RELIEF => draft.emit(Event::EpistemicRelieved),
        _ => {}
    }
    let familiar = draft.regimes.met() >= UNFAMILIAR;
    match draft.epistemic.senescence {
        Senescence::Sound if fitness < figures.senescence && familiar => draft.emit(Event::GraceOpened),
        Senescence::Grace { .. } if fitness > figures.recovery => draft.emit(Event::Recovered),
        // Between the two marks nothing is decided: the grace goes on until one of them is passed.
        Senescence::Grace { since } if tick >= since + grace && fitness < figures.senescence && familiar => {
            draft.emit(Event::Senesced);
        }
        Senescence::Senescent { .. } if fitness > figures.recovery => draft.emit(Event::Recovered),
        _ => {}
    }
}

fn watch_echo(draft: &mut Draft<'_>) {
    let laws = draft.laws();
    let tried = draft.epistemic.domains.iter().any(|d| d.weight >= laws.domain_minimum);
    let echoing = tried && draft.epistemic.domains.iter().all(|d| d.echoes(laws));
    if echoing {
        draft.emit(Event::Echoed);
    } else if draft.epistemic.echoed > 0 {
        draft.emit(Event::EchoBroken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::laws;

    #[test]
    fn one_half_is_exactly_as_good_as_naive() {
        let laws = laws(1).unwrap();
        for (skill, fitness) in
            [(0.0, 0.5), (1.0, 1.0), (0.04, 0.6), (0.25, 0.75), (-0.05, 0.45), (-0.25, 0.25), (-0.5, 0.0), (-9.0, 0.0)]
        {
            assert!((from_skill(skill, laws) - fitness).abs() < 1e-12, "{skill}");
        }
    }

    #[test]
    fn r_squared_is_the_documents() {
        let laws = laws(1).unwrap();
        let pairs = |error: f64| (0..20).map(|i| (f64::from(i) + error, f64::from(i))).collect::<Vec<_>>();
        assert_eq!(r_squared(&pairs(0.0)[..9], laws), None, "too few to judge");
        assert_eq!(r_squared(&pairs(0.0), laws), Some(1.0));
        assert_eq!(r_squared(&pairs(100.0), laws), Some(0.0));
        assert_eq!(r_squared(&[(1.0, 5.0); 12], laws), Some(0.5), "nothing varied");
    }
}
