//! The worth of thoughts, and the say that it earns them.

use crate::life::Life;
use crate::money::Usdc;
use crate::prediction::Standing;
use crate::rule::forecast;
use crate::world::DomainKind;

/// Bits that thoughts have brought for a dollar: how much less wrong the other voices are for going half way to meet
/// them, over every claim they were scored on. None if they have cost nothing.
pub fn bits_per_dollar(life: &Life) -> Option<f64> {
    let thoughts = &life.thoughts;
    let bits = |standing: &Standing| (-libm::log2(1.0 - standing.gain())).max(0.0) * standing.resolved as f64;
    let spent = thoughts.spent.as_f64();
    thoughts
        .spent
        .is_positive()
        .then(|| thoughts.standing.iter().map(bits).sum::<f64>() * Usdc::dollars(1).as_f64() / spent)
}

/// How far from naive a model would go at this look, if it has earned a say.
pub fn departure(life: &Life, domain: usize, kind: DomainKind, naive: f64) -> Option<f64> {
    let say = life.thoughts.standing.get(domain)?.say_of(kind, life.laws());
    let far = alone(life, domain, kind, naive)? * say;
    (far != 0.0).then_some(far)
}

/// How far from naive a model would go alone.
pub(super) fn alone(life: &Life, domain: usize, kind: DomainKind, naive: f64) -> Option<f64> {
    let thought = life.thoughts.opinions.get(domain)?.as_ref()?;
    Some(forecast(kind, naive, thought.effect(kind, life.seen.until, naive)?) - naive)
}
