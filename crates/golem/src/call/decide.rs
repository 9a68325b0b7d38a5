//! Letting a call through, or refusing it by name; and what it came to.

use life::Draft;
use life::call::{CallOrigin, Denied, Event, How, Kinds, Runaway, Used, crossed, room};
use life::money::Usdc;
use life::mortality::economic;
use life::mortality::phase::Tier;
use life::policy::Refusal;
use life::time::Span;

/// How long before the same refusal is told again.
const TELL_AGAIN: Span = Span::seconds(3_600);

/// A call that an agent would make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Calls are numbered from 1.
    pub key: u64,
    /// The most it can cost.
    pub most: Usdc,
    /// Tokens that go in and may come out.
    pub tokens: u64,
    pub tier: Tier,
    /// A mark by which a retry of this call is recognised.
    pub again: Option<u64>,
    /// A mark that calls asking the same have in common.
    pub alike: u64,
}

/// The core's verdict on a call. A refusal is returned as well as recorded, because the record may not say it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallVerdict {
    /// The most that the call can cost is set aside.
    LetThrough,
    /// `recorded` is false where the same reason was recorded lately, and where the golem is dead.
    Refused { by: Denied, recorded: bool },
    /// The number is not that of the next call, so nothing was decided.
    OutOfTurn,
}

/// Sets aside the most that a call can cost, or refuses it. Its origin is recorded with the sum, so that it is known
/// also of a call that never ends.
pub(crate) fn called(draft: &mut Draft<'_>, call: &Wanted, origin: Option<&CallOrigin>) -> CallVerdict {
    let Wanted { key, most, tokens, tier, again, alike } = *call;
    if key != draft.calls().made + 1 {
        return CallVerdict::OutOfTurn;
    }
    if draft.calls().has_made(again) {
        return refuse(draft, Denied::Repeated);
    }
    let at = draft.at();
    match room(draft, at, tier).map(|room| room.keeps(most, tokens)) {
        Ok(None) => match crossed(draft, at, most, alike) {
            None => {
                draft.emit(Event::Reserved { key, most, tier, again, alike });
                draft.emit(Event::TokensReserved { key, tokens });
                if let Some(origin) = origin {
                    draft.emit(Event::Attributed { key, origin: Box::new(origin.clone()) });
                }
                CallVerdict::LetThrough
            }
            Some((by, times, sum)) => {
                draft.emit(Event::Held { key: draft.flights_made() + 1, by, times, sum });
                refuse(draft, Denied::Held(by))
            }
        },
        Ok(Some(why)) | Err(why) => refuse(draft, why),
    }
}

fn refuse(draft: &mut Draft<'_>, by: Denied) -> CallVerdict {
    let lately = |(last, at)| last == by && draft.at() < at + TELL_AGAIN;
    let recorded = !draft.is_dead() && !draft.calls().refused.is_some_and(lately);
    if recorded {
        refused(draft, by, 1);
    }
    CallVerdict::Refused { by, recorded }
}

/// Records how many calls were refused for one reason since its last record. The dead refuse everything and record
/// nothing.
pub(crate) fn refused(draft: &mut Draft<'_>, by: Denied, times: u32) {
    if times > 0 && !draft.is_dead() {
        draft.emit(Event::Refused { by, times });
    }
}

/// Takes the owner's yes or no to calls that are stopped. After a no they stay stopped.
pub(crate) fn release(draft: &mut Draft<'_>, key: u64, yes: bool) -> Result<(), Refusal> {
    if draft.calls().hold.is_none_or(|hold| hold.key != key) {
        return Err(Refusal::Stale);
    }
    if yes {
        draft.emit(Event::Released { key });
    }
    Ok(())
}

/// Settles a call. A bill above what was set aside is owed all the same: it is paid from money that is not set aside,
/// calls are stopped until the owner says yes, and only what the money does not reach stays unpaid.
pub(crate) fn settled(draft: &mut Draft<'_>, key: u64, cost: Usdc, how: How, (used, kinds): (&Used, Kinds)) {
    let Some(open) = draft.calls().find(key).copied() else { return };
    if kinds != Kinds::default() {
        draft.emit(Event::Counted { key, kinds });
    }
    let cost = match how {
        How::Told => cost,
        How::Cut => cost.min(open.most),
        How::Lost => open.most,
        How::Nothing => Usdc::ZERO,
    };
    let within_reach = economic::free(draft).min(economic::unpromised_allowance(draft));
    let paid = cost.min(open.most + within_reach);
    assert!((Usdc::ZERO..=draft.purse().credit).contains(&paid), "a call costs more than there is");
    draft.emit(Event::Settled { key, cost: paid, over: cost - paid, how, used: used.clone() });
    if cost > open.most && draft.calls().hold.is_none() && !draft.is_dead() {
        let (by, sum) = (Runaway::Bill, cost - open.most);
        draft.emit(Event::Held { key: draft.flights_made() + 1, by, times: 1, sum });
    }
}

/// Settles every open call at the most it can cost: a death does not wait for a provider.
pub(crate) fn forfeit_all(draft: &mut Draft<'_>) {
    while let Some(open) = draft.calls().open.first().copied() {
        settled(draft, open.key, open.most, How::Lost, (&Used::default(), Kinds::default()));
    }
}
