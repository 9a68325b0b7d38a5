//! Going to sleep once nothing is under way that must be waited for.

use life::Draft;
use life::heartbeat::{Event, State};
use life::policy::Flight;

/// Nothing is under way any more but what its owner or the world may take their time over: reflect and go to sleep.
pub(crate) fn rest(draft: &mut Draft<'_>) {
    let beside = draft.flights().iter().all(Flight::is_beside);
    if draft.heartbeat().state == State::Acting && beside {
        draft.emit(Event::Turned(State::Reflecting));
        draft.emit(Event::Turned(State::Sleeping));
    }
}
