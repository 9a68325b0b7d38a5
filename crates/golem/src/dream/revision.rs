//! Revision: a domain's heuristics learn again from nothing, in the shadow of those in use, because what they know
//! seems to have stopped being true. Both stand before the same claims; the better set is used, and for a while the
//! other stays, in case it was right after all.

use life::Draft;
use life::dream::{Event, Fate, REFUTED};

/// Claims, none overlapping another, after which the replaced heuristics are let go.
const PROBATION: u32 = 30;

/// Ends the trials, and the probations, that are over.
pub(super) fn end_trials(draft: &mut Draft<'_>, expiry: u64) {
    let mut at = 0;
    while let Some(revision) = draft.dreams().revisions.get(at) {
        let counted = revision.confirmed + revision.contradicted;
        let event = match revision.adopted {
            false if revision.is_better() => Some(Event::Revised { at: at as u8 }),
            false if revision.confidence < REFUTED + 1e-9 => {
                Some(Event::RevisionLeft { at: at as u8, fate: Fate::Refuted })
            }
            false if draft.tick() >= revision.since + expiry => {
                Some(Event::RevisionLeft { at: at as u8, fate: Fate::Expired })
            }
            true if counted >= PROBATION && revision.deviations() > 0.0 => Some(Event::Reverted { at: at as u8 }),
            true if counted >= PROBATION => Some(Event::RevisionLeft { at: at as u8, fate: Fate::Promoted }),
            _ => None,
        };
        match event {
            Some(event @ Event::Revised { .. }) => {
                draft.emit(event);
                at += 1;
            }
            Some(event) => draft.emit(event),
            None => at += 1,
        }
    }
}
