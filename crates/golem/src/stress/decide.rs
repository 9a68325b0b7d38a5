//! The observer: checks every kind of stressor against the record. Nothing else can say that one has cleared: that
//! takes [`Evidence`].

use life::clade::News;
use life::constitution::StressMode;
use life::goal::{self, Ended, Goal};
use life::stress::{
    Assessment, BREAKER_CYCLES, BREAKER_REST, Band, Event, Evidence, Kind, band, find, heaviest, load, places, serves,
    severity,
};
use life::time::Span;
use life::world::Features;
use life::{Draft, event, owner, policy};

use super::hearing::hear;
use crate::clade;

/// Hears the golem's own word about its state and writes it down.
pub(crate) fn assessed(draft: &mut Draft<'_>, said: &Assessment) {
    if !draft.is_dead() && draft.constitution().stress.mode != StressMode::Off {
        let heard = hear(draft, said);
        draft.emit(Event::Assessed(Box::new(heard)));
    }
}

/// Checks the stressors that the golem has named against a look at the world.
pub(crate) fn look_at_named(draft: &mut Draft<'_>, features: &Features) {
    for at in (0..draft.stress().named.len()).rev() {
        if !draft.stress().named[at].condition.holds(features) {
            draft.emit(Event::Eased { at: at as u8 });
        }
    }
    while let Some(asked) = draft.stress().asked.first() {
        draft.emit(Event::Named { holds: asked.condition.holds(features) });
    }
}

/// Claims a self-examination needs.
const EXAMINED: u32 = 5;

/// Times in a cycle that everything is looked at without an occasion.
const LOOKS_A_CYCLE: u64 = 5;

/// Checks every kind against the record, whenever something was recorded that one could depend on, and every few looks
/// for what only time changes. When that is depends on nothing the golem says, so asking makes no difference.
pub(crate) fn observe(draft: &mut Draft<'_>, ticked: bool) {
    if draft.constitution().stress.mode == StressMode::Off || draft.is_dead() {
        return;
    }
    if ticked {
        examine(draft);
    }
    let soon = (draft.constitution().cycle() / LOOKS_A_CYCLE).max(1);
    if (ticked && draft.tick().is_multiple_of(soon)) || draft.events().iter().any(bears_on_it) {
        look(draft);
    }
    if ticked && !draft.stress().active.is_empty() {
        call_out(draft);
    }
    if ticked {
        break_circuit(draft);
    }
}

/// Whether a stressor may depend on this event.
fn bears_on_it(event: &event::Event) -> bool {
    use owner::Event::{Declined, Funded, Obeyed, Thawed};
    use policy::Event::{Refused, Settled};
    match event {
        event::Event::Goal(_) => true,
        event::Event::Owner(event) => matches!(event, Funded { .. } | Obeyed { .. } | Declined { .. } | Thawed),
        event::Event::Policy(event) => matches!(event, Refused { .. } | Settled { .. }),
        _ => false,
    }
}

fn look(draft: &mut Draft<'_>) {
    for (kind, domain) in places(draft) {
        let active = draft.stress().find(kind, domain).map(|stressor| (stressor.served, stressor.presses));
        let served = active.map_or(0, |(served, _)| served);
        let found = find(draft, kind, domain, served);
        match active {
            None if found.presses && !draft.stress().rests(kind, domain, draft.age()) => {
                let severity = draft.stress().onset(kind, domain, draft.age());
                draft.emit(Event::Raised { kind, domain, severity });
            }
            Some(_) if found.clears => {
                let severity = severity(draft, kind, domain);
                if let Some(evidence) = Evidence::found(draft, kind, domain, severity) {
                    draft.emit(Event::Cleared(evidence));
                }
            }
            Some((_, presses)) if presses != found.presses => {
                draft.emit(Event::Pressed { kind, domain, presses: found.presses });
            }
            _ => {}
        }
    }
}

/// Examines the golem's own claims where something is wrong, every cycle: open at any load, and counted as a goal
/// there, so that there is always a way out. The goal is not to be worse than naive.
fn examine(draft: &mut Draft<'_>) {
    if draft.stress().active.is_empty() || !draft.tick().is_multiple_of(draft.constitution().cycle()) {
        return;
    }
    let first = (0..draft.birth().world.domains.len() as u8).find(|domain| serves(draft, *domain));
    for domain in 0..draft.birth().world.domains.len() as u8 {
        let about = draft.stress().active.iter().any(|s| match s.kind {
            Kind::Purposelessness => first == Some(domain),
            _ => s.domain == Some(domain),
        });
        let Some(seen) = draft.stress().ledger.examined.get(usize::from(domain)).copied() else { continue };
        if about && seen.claims >= EXAMINED {
            let sound = seen.error <= seen.naive * (1.0 + draft.laws().echo);
            let ended = if sound { Ended::Effective } else { Ended::Failed };
            draft.emit(goal::Event::Finished { goal: Goal::SelfExamine, domain, ended });
        }
    }
}

/// Tells peers of a crisis, once a day at most.
fn call_out(draft: &mut Draft<'_>) {
    let lately = draft.clade().called_out.is_some_and(|last| draft.age() < last + Span::DAY);
    if !lately && band(draft) == Band::Crisis {
        let news = News::Crisis { load: load(draft), pressed_by: heaviest(draft) };
        clade::call_out(draft, news);
    }
}

/// Breaks off a crisis that does not end, once a day: active stressors are set aside, not cleared.
fn break_circuit(draft: &mut Draft<'_>) {
    if !draft.tick().is_multiple_of(draft.constitution().cycle()) {
        return;
    }
    let crises = if band(draft) == Band::Crisis { (draft.stress().crises + 1).min(BREAKER_CYCLES) } else { 0 };
    if crises != draft.stress().crises {
        draft.emit(Event::Cycled { crises });
    }
    let rested = draft.stress().broken.is_none_or(|last| draft.age() >= last + BREAKER_REST);
    if crises >= BREAKER_CYCLES && rested {
        draft.emit(Event::Suspended);
    }
}
