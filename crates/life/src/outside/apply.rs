//! Applying the words of an outside mind. It calculates and never decides.

use super::{Event, adds};
use crate::life::Life;
use crate::prediction::Standing;
use crate::rule;

pub(crate) fn apply(life: &mut Life, event: &Event) {
    match event {
        Event::Said { claims, proposal } => {
            let (tick, domains) = (life.tick, life.birth.world.domains.len());
            let outside = &mut life.outside;
            outside.words += 1;
            outside.tick = tick;
            outside.claims.clone_from(claims);
            outside.proposal = *proposal;
            while outside.standing.len() < domains {
                outside.standing.push(Standing::default());
            }
        }
        Event::Noted { text } => life.outside.note.clone_from(text),
    }
}

/// Follows what holding from this look pays, if the mind would take up exposure.
pub(crate) fn looked(life: &mut Life) {
    if adds(life) {
        rule::begin_look(life);
        let now = life.seen.until;
        if let Some(stake) = life.stakes.back_mut().filter(|stake| stake.made == now) {
            stake.outside = true;
        }
    }
}
