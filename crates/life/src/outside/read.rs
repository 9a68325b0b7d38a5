//! Reading the present proposal of an outside mind.

use crate::life::Life;
use crate::policy::Proposal;
use crate::world::Effect;

/// The mind's proposal for this tick.
pub fn proposal(life: &Life) -> Option<Proposal> {
    life.outside.proposal.filter(|_| life.outside.words > 0 && life.outside.tick == life.tick)
}

/// Whether the mind would take up exposure in this tick.
pub(crate) fn adds(life: &Life) -> bool {
    let effect = |proposal: Proposal| life.birth.world.actions.get(usize::from(proposal.action)).map(|a| a.effect);
    proposal(life).and_then(effect) == Some(Effect::Adds)
}
