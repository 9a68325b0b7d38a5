//! What it says of a domain, and what of that is said aloud.

use crate::constitution::MindKind;
use crate::life::Life;
use crate::world::DomainKind;

/// Chances that anything may be expected with.
const CHANCES: (f64, f64) = (0.05, 0.95);

/// How far from naive it would go by itself, within what anyone is listened to; nothing, if it is silent.
pub(super) fn alone(life: &Life, domain: usize, kind: DomainKind, naive: f64) -> Option<f32> {
    let expected = life.outside.expects(life.tick, domain)?;
    let expected = if kind == DomainKind::Direction { expected.clamp(CHANCES.0, CHANCES.1) } else { expected };
    Some(life.trust[domain].heard(kind, naive, expected - naive))
}

/// How far from naive it goes in this claim: beside the rules as far as it has earned, by itself all the way.
pub fn departure(life: &Life, domain: usize, kind: DomainKind, naive: f64) -> Option<f32> {
    let far = alone(life, domain, kind, naive)?;
    if life.constitution().mind.kind == MindKind::Outside {
        return Some(far);
    }
    let say = life.outside.standing.get(domain)?.say_of(kind, life.laws());
    (say > 0.0 && far != 0.0).then_some((f64::from(far) * say) as f32)
}
