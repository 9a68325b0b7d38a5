//! The stage of a death, read off Life.

use super::{Left, Rite};
use crate::constitution::OnDeath;
use crate::heartbeat::State;
use crate::life::Life;
use crate::money::Usdc;
use crate::mortality::economic;
use crate::time::Span;
use crate::world::Effect;

/// Attempts to close what is held before it is handed over instead.
const CLOSING_ATTEMPTS: u32 = 3;

/// The time there is for closing.
pub const LIMIT: Span = Span::seconds(30 * 60);

/// Holdings that a death leaves in place of money; none if there are none, or while there is hope of closing them.
pub fn left(life: &Life) -> Option<Left> {
    let (capital, policy) = (&life.capital, &life.policy);
    (life.is_dead() && capital.holding > 0 && !closes(life)).then(|| Left {
        holding: capital.holding,
        unit: life.birth.world.unit.clone(),
        cost: capital.cost,
        stop: capital.stop(policy.stop_bps),
        handed_over: policy.on_death == OnDeath::HandOver,
    })
}

/// How far a death has come; none while it lives.
pub fn phase(life: &Life) -> Option<Rite> {
    let death = life.death.as_ref()?;
    Some(if life.heartbeat.state == State::Dead {
        Rite::Over
    } else if life.clade.mourns() {
        Rite::Acceptance
    } else if !is_settled(life) {
        Rite::Settlement
    } else if death.progress.testament.is_none() {
        Rite::Reflection
    } else if death.progress.legacy.is_none() {
        Rite::Legacy
    } else {
        Rite::Settlement
    })
}

/// Money that stays with the dead for the way: the reserve, until there is nothing left to do.
pub fn kept(life: &Life) -> Usdc {
    let over = life.heartbeat.state == State::Dead;
    let done = over || life.death.as_ref().is_some_and(|death| death.progress.legacy.is_some());
    if done { Usdc::ZERO } else { economic::reserve(life).min(life.purse.credit) }
}

/// Whether nothing is under way, and no money is left that should go home by now.
pub fn is_settled(life: &Life) -> bool {
    life.flights.is_empty()
        && life.deposits.is_empty()
        && life.purse.credit <= kept(life)
        && !life.capital.cash.is_positive()
        && !closes(life)
}

pub fn closes(life: &Life) -> bool {
    let Some(death) = &life.death else { return false };
    life.policy.on_death == OnDeath::Close
        && life.heartbeat.state != State::Dead
        && life.capital.holding > 0
        && death.closing_attempts < CLOSING_ATTEMPTS
        && life.now < death.at + LIMIT
        && life.birth.world.action(Effect::Reduces).is_some()
}
