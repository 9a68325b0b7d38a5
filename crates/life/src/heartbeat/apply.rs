//! Applying the events of the heartbeat.

use super::{Event, State};
use crate::life::Life;

pub(crate) fn apply(life: &mut Life, Event::Turned(state): &Event) {
    assert!(life.heartbeat.state != State::Dead, "a heartbeat goes on after its end");
    assert!(*state != State::Dead || life.heartbeat.state == State::Dying, "an end comes before dying");
    life.heartbeat.epoch += u32::from(*state == State::Dying);
    life.heartbeat.state = *state;
    if *state == State::Acting && !life.heartbeat.frozen {
        life.stress.ledger.decide();
    }
}
