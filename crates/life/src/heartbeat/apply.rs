//! Applying the events of the heartbeat.

use super::{Event, State};
use crate::life::Life;

pub(crate) fn apply(life: &mut Life, Event::Turned(state): &Event) {
    life.heartbeat.epoch += u32::from(*state == State::Dying);
    life.heartbeat.state = *state;
    if *state == State::Acting && !life.heartbeat.frozen {
        life.stress.ledger.decide();
    }
}
