//! Instincts: heuristics that a golem is born with, in the words of its world.

use life::rule::{Event, Heuristic, Provenance, text};
use life::{Birth, limits};

/// The heuristics a golem is born with. A world that offers one that cannot be read has a bug; it is left
/// out, and the conformance suite says so.
pub(crate) fn instincts(birth: &Birth) -> Vec<Event> {
    let world = &birth.world;
    let read = world.instincts.iter().filter_map(|text| text::parse(text, world).ok()).take(limits::HEURISTICS);
    read.enumerate()
        .map(|(slot, parsed)| {
            let kind = world.domains[usize::from(parsed.domain)].kind;
            let id = slot as u64 + 1;
            let stance = life::laws::laws(birth.laws).map_or(parsed.stance, |laws| parsed.stance.under(laws));
            let mut heuristic =
                Heuristic::new(id, parsed.condition, parsed.domain, kind, stance, Provenance::Instinct, 0);
            heuristic.effect = parsed.effect;
            let heuristic = heuristic.of(parsed.blend.as_ref());
            Event::Adopted { slot: slot as u8, heuristic: Box::new(heuristic), night: None }
        })
        .collect()
}
