//! Going to sleep once nothing is under way that must be waited for.

use life::Draft;
use life::heartbeat::{Event, State};
use life::policy::Flight;

/// Reflects and goes to sleep once nothing is under way but what the owner or the world may take their time over.
pub(crate) fn rest(draft: &mut Draft<'_>) {
    let beside = draft.flights().iter().all(Flight::is_beside);
    if draft.heartbeat().state == State::Acting && beside {
        draft.emit(Event::Turned(State::Reflecting));
        draft.emit(Event::Turned(State::Sleeping));
    }
}
