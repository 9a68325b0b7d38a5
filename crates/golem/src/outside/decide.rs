//! Taking in the words of an outside mind, and making claims where it is the only voice.

use life::Draft;
use life::constitution::MindKind;
use life::outside::{Event, Word, departure};
use life::prediction::{Departures, Voice};
use life::rule::Provenance;
use life::world::{Bar, DomainKind};

use crate::{rule, stress};

/// Takes in a word for the tick that comes.
pub(crate) fn spoken(draft: &mut Draft<'_>, word: &Word) {
    if draft.is_dead() {
        return;
    }
    if !word.claims.is_empty() || word.proposal.is_some() {
        draft.emit(Event::Said { claims: word.claims.clone(), proposal: word.proposal });
    }
    if draft.constitution().mind.kind == MindKind::Rules {
        word.rules.iter().for_each(|rule| rule::suggested(draft, rule, Provenance::Thought));
    }
    if let Some(assessment) = &word.assessment {
        stress::assessed(draft, assessment);
    }
    if !word.note.is_empty() && word.note != draft.outside().note {
        draft.emit(Event::Noted { text: word.note.clone() });
    }
}

/// Makes the claims of a golem that has no other voice, in the domains that the word speaks of.
pub(crate) fn think(draft: &mut Draft<'_>, bar: &Bar) {
    for domain in 0..draft.birth().world.domains.len() {
        if !rule::claims_now(draft, domain) {
            continue;
        }
        let kind = draft.birth().world.domains[domain].kind;
        let naive = rule::naive(draft, domain, &bar.features);
        let Some(far) = departure(draft, domain, kind, naive) else { continue };
        let mut said = Departures::default();
        said.0[Voice::Outside as usize] = Some(far);
        let value = naive + draft.trust()[domain].together(&said);
        let value = if kind == DomainKind::Direction { value.clamp(0.01, 0.99) } else { value };
        let far = (value - naive) as f32;
        draft.emit(rule::Event::Predicted { domain: domain as u8, naive, far, fired: 0, said, terms: None });
    }
}
