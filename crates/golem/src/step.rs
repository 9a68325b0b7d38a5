//! One step: an input meets a life. A page of branches; the leaves are elsewhere.

use life::Draft;
use life::world::Observation;

use crate::call::CallVerdict;
use crate::input::{Input, What};
use crate::{
    call, clade, dream, episode, goal, grimoire, heartbeat, mortality, outside, owner, phage, policy, prediction,
    stress, thanatopsis, thought,
};

/// Decides what an input comes to, in events; where it is a call, the verdict is returned too.
pub(crate) fn step(draft: &mut Draft<'_>, input: &Input) -> Option<CallVerdict> {
    let tick = draft.tick();
    let mut verdict = None;
    match &input.what {
        What::Observed(observation) => observed(draft, observation, input.roll),
        What::Funded { transfer, credit, capital } => owner::funded(draft, *transfer, *credit, *capital),
        What::Deposited { deposit } => owner::deposited(draft, *deposit),
        What::Commanded { id, command } => owner::commanded(draft, *id, command),
        What::Previewed { key, look, quote } => policy::previewed(draft, *key, *look, *quote),
        What::Landed { key, fate } => policy::landed(draft, *key, *fate),
        What::Proposed(proposal) => policy::proposed(draft, proposal),
        What::Curated(answer) => grimoire::curated(draft, answer),
        What::Dreamt(found) => dream::dreamt(draft, found),
        What::Reflected { hash } => thanatopsis::reflected(draft, *hash),
        What::Bequeathed { hash, entries } => thanatopsis::bequeathed(draft, *hash, *entries),
        What::Heard { from, number, news, stain } => {
            if clade::heard(draft, *from, *number, *news, stain.as_deref()) {
                dream::heard(draft, *news);
            }
        }
        What::Told { number, peers } => clade::told(draft, *number, *peers),
        What::Answered { key, cost, said } => {
            thought::answered(draft, *key, *cost, said);
            dream::go_on(draft);
        }
        What::Forfeited { key } => {
            thought::forfeited(draft, *key);
            dream::go_on(draft);
        }
        What::Called(call, origin) => verdict = Some(call::called(draft, call, origin.as_deref())),
        What::Refused { by, times } => call::refused(draft, *by, *times),
        What::Settled { key, cost, how, used, kinds } => call::settled(draft, *key, *cost, *how, (used, *kinds)),
        // The word is for the tick that comes; nothing is looked at again that was not looked at anyway.
        What::Spoken(word) => {
            outside::spoken(draft, word);
            return None;
        }
        What::Assessed(said) => {
            stress::assessed(draft, said);
            return None;
        }
    }
    if draft.is_dead() {
        thanatopsis::proceed(draft);
    }
    let ticked = draft.tick() > tick;
    stress::observe(draft, ticked);
    verdict
}

/// Takes in a look at the world; and if a tick has passed, mortality, whatever else is going on.
fn observed(draft: &mut Draft<'_>, observation: &Observation, roll: u64) {
    let alarm = policy::listen(draft, observation);
    dream::stirs(draft, observation);
    policy::lapse(draft);
    thought::lapse(draft);
    let ticks = draft.at() >= draft.due() && !draft.heartbeat().paused && !draft.is_dead();
    if ticks {
        heartbeat::beat(draft, observation);
        mortality::run(draft, draft.at(), roll);
        goal::review(draft);
        policy::answer(draft, alarm);
        if let Some(bar) = observation.bars.last() {
            episode::remember(draft, bar);
            stress::look_at_named(draft, &bar.features);
            clade::look_around(draft, &bar.features);
            phage::run(draft, &bar.features);
            thought::consider(draft, &bar.features);
        }
        dream::end_trials(draft);
        dream::consider(draft);
    } else {
        prediction::sense(draft, observation);
        policy::answer(draft, alarm);
    }
}
