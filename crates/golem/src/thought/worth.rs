//! What thoughts have been worth, and what that leaves them to say.

use super::Standing;
use crate::life::Life;
use crate::money::Usdc;
use crate::rule::forecast;
use crate::world::DomainKind;

/// Skill beyond luck at which a model says all that it thinks.
const SURE: f64 = 0.02;

/// Bits that thoughts have brought for a dollar: how much less wrong everyone is for going half way to meet them, over
/// every claim they were held to. Nothing, if they have cost nothing.
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
pub(crate) fn departure(life: &Life, domain: usize, kind: DomainKind, naive: f64) -> Option<f64> {
    let standing = life.thoughts.standing.get(domain)?;
    let effect = standing.effect(kind, life.seen.until, naive)?;
    let far = (forecast(kind, naive, effect) - naive) * say(standing, kind, life);
    (far != 0.0).then_some(far)
}

/// The part of the way to what is thought that is said aloud: nothing before it has shown more than luck could, and soon
/// all of it. How far that is followed is a matter of trust, like anybody's word.
fn say(standing: &Standing, kind: DomainKind, life: &Life) -> f64 {
    let Some(shown) = &standing.shown else { return 0.0 };
    let laws = life.laws();
    let luck = if kind == DomainKind::Direction { laws.luck_of_direction } else { laws.luck };
    let skill = if shown.naive_error > 0.0 { 1.0 - shown.error / shown.naive_error } else { 0.0 };
    let sure = skill - luck / (shown.claims + 1.0).sqrt();
    (sure / SURE).clamp(0.0, 1.0)
}
