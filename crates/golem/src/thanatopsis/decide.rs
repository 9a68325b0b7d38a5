//! Taking a death towards its end.

use life::heartbeat::{self, State};
use life::owner::{self, Account};
use life::thanatopsis::{Event, Rite, closes, is_settled, kept, phase};
use life::{Draft, limits};

use crate::{call, policy, thought};

/// Goes as far towards the end as it can without an answer from outside.
pub(crate) fn proceed(draft: &mut Draft<'_>) {
    if draft.death().is_none() {
        return;
    }
    policy::give_way(draft);
    thought::forfeit_all(draft);
    call::forfeit_all(draft);
    if !draft.flights().is_empty() {
        return;
    }
    if closes(draft) {
        policy::close_all(draft);
        return;
    }
    let home = [(Account::Credit, draft.purse().credit - kept(draft)), (Account::Capital, draft.capital().cash)];
    for (account, amount) in home {
        if amount.is_positive() && draft.deposits().len() < limits::DEPOSITS {
            draft.emit(owner::Event::Withdrew { deposit: draft.deposits_made() + 1, from: account, amount });
        }
    }
    if phase(draft) == Some(Rite::Reflection) {
        thought::reflect(draft);
    }
    let done = draft.death().is_some_and(|death| death.progress.legacy.is_some());
    if done && is_settled(draft) && draft.heartbeat().state != State::Dead {
        draft.emit(heartbeat::Event::Turned(State::Dead));
    }
}

/// Records that the testament is written and safe.
pub(crate) fn reflected(draft: &mut Draft<'_>, hash: [u8; 32]) {
    if phase(draft) == Some(Rite::Reflection) {
        draft.emit(Event::Reflected { hash });
    }
}

/// Records that the golem's knowledge has been passed on.
pub(crate) fn bequeathed(draft: &mut Draft<'_>, hash: [u8; 32], entries: u32) {
    if phase(draft) == Some(Rite::Legacy) {
        draft.emit(Event::Bequeathed { hash, entries });
    }
}
