//! Asking its owner: what is large enough waits for their word before it may be sent, and no word is a no.
//!
//! An action that waits does so beside the heartbeat, which goes on. A yes alone sends nothing: the action is previewed
//! again, and meets the cage and the vote as they are by then. The money set aside for it is the most it can cost.

use life::Draft;
use life::policy::{Event, Flight, Refusal, Stage, patience};
use life::world::Quote;

use super::ask::still_waits;
use crate::heartbeat::rest;

pub(super) fn seek(draft: &mut Draft<'_>, key: u64, quote: Quote) {
    let until = draft.at() + draft.policy().approve_within;
    draft.emit(Event::ApprovalSought { key, quote, until });
    rest(draft);
}

/// Takes the owner's yes or no to the action that waits under this key.
pub(crate) fn approve(draft: &mut Draft<'_>, key: u64, yes: bool) -> Result<(), Refusal> {
    let waits = |f: &&Flight| f.key == key && f.stage == Stage::Waiting;
    let flight = draft.flights().iter().find(waits).cloned().ok_or(Refusal::Stale)?;
    if !yes {
        draft.emit(Event::Denied { key, rule: Refusal::Unapproved, cost: None });
        return Ok(());
    }
    still_waits(draft, draft.at(), &flight)?;
    assert!(flight.quote.is_some(), "an owner was asked about an action without a preview");
    draft.emit(Event::Approved { key, deadline: draft.at() + patience(draft) });
    Ok(())
}

/// Ends actions whose owner did not answer in time, or about which there is nothing left to ask.
pub(crate) fn lapse(draft: &mut Draft<'_>) {
    let at = draft.at();
    for flight in draft.flights().to_vec() {
        match flight.stage {
            Stage::Waiting => {
                if let Err(rule) = still_waits(draft, at, &flight) {
                    draft.emit(Event::Denied { key: flight.key, rule, cost: None });
                }
            }
            Stage::Approved if flight.deadline < at => draft.emit(Event::Abandoned { key: flight.key }),
            _ => {}
        }
    }
}
