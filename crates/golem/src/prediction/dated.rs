//! Dated claims of a golem's agent: what will be, and when. The world answers them and never the agent; making no claim
//! costs nothing.

use life::policy::Refusal;
use life::prediction::{Dated, Event};
use life::time::{Span, Time};
use life::world::{Bar, DomainKind};
use life::{Draft, Life, limits};

/// Takes a claim, or refuses it by name.
pub(crate) fn claim(draft: &mut Draft<'_>, domain: &str, value: f64, due: Time) -> Result<(), Refusal> {
    let at = draft.birth().world.domains.iter().position(|spec| spec.name == domain).ok_or(Refusal::NoDomain)?;
    if draft.seen().bars == 0 {
        return Err(Refusal::Unseen);
    }
    let furthest = draft.at() + Span::DAY.times(limits::DATED_DAYS);
    if due <= draft.at() || due > furthest {
        return Err(Refusal::Date);
    }
    let spec = &draft.birth().world.domains[at];
    match spec.kind {
        DomainKind::Direction if !(0.0..=1.0).contains(&value) => return Err(Refusal::Chance),
        DomainKind::Range if value < 0.0 => return Err(Refusal::Bounds),
        _ if !value.is_finite() || value.abs() > limits::LARGEST => return Err(Refusal::Bounds),
        _ => {}
    }
    if draft.dated().len() == limits::CLAIMS {
        return Err(Refusal::Busy);
    }
    let (made, base, naive) = (draft.at(), spec.base(draft.seen().values[at]), naive(draft, at, due));
    let number = draft.dated_made() + 1;
    draft.emit(Event::Dated(Dated { number, domain: at as u8, made, due, base, value, naive }));
    Ok(())
}

/// The naive forecast for a date, from nothing but how the domain usually goes.
fn naive(life: &Life, domain: usize, due: Time) -> f64 {
    let (spec, last) = (&life.birth().world.domains[domain], life.seen().values[domain]);
    match (spec.kind, spec.level) {
        (DomainKind::Value, _) => last,
        (DomainKind::Direction, Some(level)) => {
            let bar = life.birth().world.bar.as_millis().max(1);
            life.seen().chance(domain, level, due.since(life.seen().until).as_millis().div_ceil(bar))
        }
        (DomainKind::Direction, None) => life.seen().rises[domain],
        (DomainKind::Range, _) => life.seen().changes[domain],
    }
}

/// Resolves the dated claims that have come due by this bar.
pub(super) fn resolve(draft: &mut Draft<'_>, bar: &Bar) {
    for domain in 0..bar.values.len() as u8 {
        if draft.dated().iter().any(|claim| claim.domain == domain && claim.due <= bar.closed) {
            draft.emit(Event::Met { domain, at: bar.closed, actual: bar.values[usize::from(domain)] });
        }
    }
}
