//! Which ticks matter enough to be remembered, and what became of those that were.

use life::episode::{self, Impression, why};
use life::event::Event;
use life::world::Bar;
use life::{Draft, grimoire, limits, mortality, policy, regime};

/// At least one tick in so many is remembered.
const ROUTINE: u64 = 20;

/// Remembers this tick if it matters.
pub(crate) fn remember(draft: &mut Draft<'_>, bar: &Bar) {
    let mut why = draft.events().iter().fold(0, |why, event| {
        why | match event {
            Event::Policy(policy::Event::Intended(_)) => why::INTENT,
            Event::Policy(policy::Event::Refused { .. }) | Event::Policy(policy::Event::Denied { .. }) => why::REFUSAL,
            Event::Regime(regime::Event::Changed { .. }) => why::REGIME,
            Event::Mortality(mortality::Event::PhaseChanged { .. }) => why::PHASE,
            Event::Mortality(mortality::Event::Died(_)) => why::DEATH,
            _ => 0,
        }
    });
    // A preview that was denied between two looks belongs to the tick after it.
    if draft.refused().is_some_and(|(_, tick)| tick > draft.episodes().last_tick && tick + 1 >= draft.tick()) {
        why |= why::REFUSAL;
    }
    if draft.episodes().surprise.is_striking() {
        why |= why::SURPRISE;
    }
    if why == 0 && draft.tick() - draft.episodes().last_tick >= ROUTINE {
        why = why::ROUTINE;
    }
    if why != 0 && draft.episodes().pending.len() < limits::EPISODES {
        let state: Impression = bar.features.iter().map(|feature| *feature as f32).collect();
        draft.emit(Event::Episode(episode::Event::Remembered { why, state: Box::new(state) }));
    }
}

/// Records what became of the episodes that end with this bar.
pub(crate) fn look_back(draft: &mut Draft<'_>, bar: &Bar) {
    while let Some(pending) = draft.episodes().pending.front().filter(|pending| pending.due <= bar.closed) {
        let (change, exposed) = (bar.unit.change_from(pending.unit), pending.exposed);
        if !draft.knowing().watched.is_empty() {
            draft.emit(Event::Grimoire(grimoire::Event::Checked { actual: bar.values.clone() }));
        }
        let one_way = draft.execution().one_way();
        let better = if exposed { -change - one_way } else { change - 2.0 * one_way };
        draft
            .emit(Event::Episode(episode::Event::LookedBack { change: change as f32, regret: better.max(0.0) as f32 }));
    }
}
