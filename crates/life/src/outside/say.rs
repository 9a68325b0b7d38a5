//! The say of an outside mind: what it expects of a domain, and how much of that goes into a claim.

use crate::constitution::MindKind;
use crate::life::Life;
use crate::world::DomainKind;

/// Bounds of the chances that a mind may expect.
const CHANCES: (f64, f64) = (0.05, 0.95);

/// How far from naive the mind would go alone, within the bounds for any voice; none if it is silent.
pub(super) fn alone(life: &Life, domain: usize, kind: DomainKind, naive: f64) -> Option<f32> {
    let expected = life.outside.expects(life.tick, domain)?;
    let expected = if kind == DomainKind::Direction { expected.clamp(CHANCES.0, CHANCES.1) } else { expected };
    Some(life.trust[domain].heard(kind, naive, expected - naive))
}

/// How far from naive the mind goes in this claim: beside the rules as far as it has earned, alone all the way.
pub fn departure(life: &Life, domain: usize, kind: DomainKind, naive: f64) -> Option<f32> {
    let far = alone(life, domain, kind, naive)?;
    if life.constitution().mind.kind == MindKind::Outside {
        return Some(far);
    }
    let say = life.outside.standing.get(domain)?.say_of(kind, life.laws());
    (say > 0.0 && far != 0.0).then_some((f64::from(far) * say) as f32)
}
