//! Taking in the answer of a round of the Curator.

use life::clade::News;
use life::grimoire::Event;
use life::rule::{self, Heuristic, room_for_blends};
use life::{Draft, limits, stress};

use super::Curation;
use crate::clade;

/// Takes in the answer of a round; an answer to another round is dropped.
pub(crate) fn curated(draft: &mut Draft<'_>, answer: &Curation) {
    if answer.round != draft.knowing().rounds + 1 || draft.is_dead() {
        return;
    }
    for decision in &answer.decisions {
        draft.emit(Event::Kept(Box::new(decision.clone())));
    }
    let explores = stress::allowed(draft).explore;
    for (slot, heuristic) in answer.adopt.iter().filter(|_| explores) {
        // Only where there is room, or in the place of the very same before it was ever tried: a memory does not push
        // out a heuristic that has a say now.
        let at = usize::from(*slot);
        let untried = |h: &Heuristic| {
            draft.tick() == 0
                && h.weight == 0.0
                && h.domain == heuristic.domain
                && h.condition.same(&heuristic.condition)
        };
        let fits = heuristic.blend.is_none() || room_for_blends(draft) > 0;
        let room = fits && at == draft.playbook().len() && draft.playbook().len() < limits::HEURISTICS;
        if room || draft.playbook().get(at).is_some_and(untried) {
            draft.emit(rule::Event::Adopted { slot: *slot, heuristic: Box::new(heuristic.clone()), night: None });
        }
    }
    for (from, entries) in &answer.taken {
        draft.emit(Event::TookIn { from: *from, entries: *entries });
    }
    draft.emit(Event::Curated { alive: answer.alive, archived: answer.archived });
    if answer.shares > 0 {
        clade::call_out(draft, News::Knowledge { entries: answer.shares });
    }
    if answer.watch != draft.knowing().watched {
        draft.emit(Event::Watching(Box::new(answer.watch.clone())));
    }
}
