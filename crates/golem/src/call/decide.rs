//! Letting a call through, or refusing it by name; and what it came to.

use super::{Denied, Event, How, Used, room, runaway};
use crate::draft::Draft;
use crate::money::Usdc;
use crate::mortality::phase::Tier;
use crate::policy::Refusal;
use crate::time::Span;

/// How long before the same refusal is told again.
const TELL_AGAIN: Span = Span::seconds(3_600);

/// A call that an agent would make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Calls are numbered from 1.
    pub key: u64,
    /// What it can cost at most.
    pub most: Usdc,
    pub tier: Tier,
    /// By what it would be known if it were made again.
    pub again: Option<u64>,
    /// By what calls that ask the same are known.
    pub alike: u64,
    /// Calls that were refused since that was last on record.
    pub unsaid: u32,
}

/// Sets aside what it can cost at most, or refuses.
pub(crate) fn called(draft: &mut Draft<'_>, call: &Wanted) {
    let Wanted { key, most, tier, again, alike, unsaid } = *call;
    if key != draft.calls.made + 1 {
        return;
    }
    if again.is_some_and(|again| draft.calls.known.contains(&again)) {
        return refuse(draft, Denied::Repeated, unsaid);
    }
    let (at, room) = (draft.at(), room(draft, draft.at(), tier));
    match room {
        Ok((room, _)) if most <= room => match runaway::crossed(draft, at, most, alike) {
            None => draft.emit(Event::Reserved { key, most, tier, again, alike }),
            Some((by, times, sum)) => {
                draft.emit(Event::Held { key: draft.flights_made + 1, by, times, sum });
                refuse(draft, Denied::Held(by), unsaid);
            }
        },
        Ok((_, why)) | Err(why) => refuse(draft, why, unsaid),
    }
}

fn refuse(draft: &mut Draft<'_>, by: Denied, unsaid: u32) {
    let told = |(last, at)| last == by && draft.at() < at + TELL_AGAIN;
    if !draft.is_dead() && !draft.calls.refused.is_some_and(told) {
        draft.emit(Event::Refused { by, times: unsaid.saturating_add(1) });
    }
}

/// The owner's yes or no to calls that are stopped. After a no they stay so.
pub(crate) fn release(draft: &mut Draft<'_>, key: u64, yes: bool) -> Result<(), Refusal> {
    if draft.calls.hold.is_none_or(|hold| hold.key != key) {
        return Err(Refusal::Stale);
    }
    if yes {
        draft.emit(Event::Released { key });
    }
    Ok(())
}

/// What it cost is never more than was set aside; what somebody wants beyond that is told and not paid.
pub(crate) fn settled(draft: &mut Draft<'_>, key: u64, cost: Usdc, how: How, used: &Used) {
    let Some(open) = draft.calls.find(key).copied() else { return };
    let (paid, over) = match how {
        How::Lost => (open.most, Usdc::ZERO),
        How::Nothing => (Usdc::ZERO, Usdc::ZERO),
        How::Told | How::Cut => (cost.min(open.most), (cost - open.most).max(Usdc::ZERO)),
    };
    let over = if how == How::Told { over } else { Usdc::ZERO };
    draft.emit(Event::Settled { key, cost: paid, over, how, used: used.clone() });
}

/// A death waits for nobody's answer: what is under way counts as what it can cost.
pub(crate) fn forfeit_all(draft: &mut Draft<'_>) {
    while let Some(open) = draft.calls.open.first().copied() {
        settled(draft, open.key, open.most, How::Lost, &Used::default());
    }
}
