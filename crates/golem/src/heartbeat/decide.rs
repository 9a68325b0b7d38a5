//! One beat.

use life::Draft;
use life::heartbeat::{Event, State};
use life::policy::Stage;
use life::world::Observation;

use super::rest;
use crate::{dream, policy, prediction};

/// Takes in an observation and goes round as far as it can.
pub(crate) fn beat(draft: &mut Draft<'_>, observation: &Observation) {
    assert!(!draft.is_dead(), "the dead have a beat");
    let awake = draft.heartbeat().state == State::Sleeping;
    if awake {
        draft.emit(Event::Turned(State::Sensing));
    }
    prediction::sense(draft, observation);
    policy::look_out(draft, observation);
    if awake {
        draft.emit(Event::Turned(State::Deciding));
        prediction::forecast(draft, observation);
        draft.emit(Event::Turned(State::Acting));
        policy::decide(draft);
        rest(draft);
    } else {
        wait(draft);
    }
}

/// Lets time pass for a beat that is not awake: previews past their deadline are abandoned, and a night goes on.
fn wait(draft: &mut Draft<'_>) {
    let now = draft.at();
    let overdue: Vec<u64> =
        draft.flights().iter().filter(|f| f.stage == Stage::Asked && f.deadline < now).map(|f| f.key).collect();
    for key in overdue {
        draft.emit(policy::Event::Abandoned { key });
    }
    rest(draft);
    if draft.heartbeat().state == State::Dreaming {
        dream::sleep(draft);
    }
}
