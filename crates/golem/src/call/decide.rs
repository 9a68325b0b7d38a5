//! Letting a call through, or refusing it by name; and what it came to.

use life::Draft;
use life::call::{Denied, Event, How, Kinds, Runaway, Used, crossed, room};
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
    /// What it can cost at most.
    pub most: Usdc,
    /// What goes in and may come out, in tokens.
    pub tokens: u64,
    pub tier: Tier,
    /// By what it would be known if it were made again.
    pub again: Option<u64>,
    /// By what calls that ask the same are known.
    pub alike: u64,
}

/// Sets aside what it can cost at most, or refuses.
pub(crate) fn called(draft: &mut Draft<'_>, call: &Wanted) {
    let Wanted { key, most, tokens, tier, again, alike } = *call;
    if key != draft.calls().made + 1 {
        return;
    }
    if again.is_some_and(|again| draft.calls().known.contains(&again)) {
        return refuse(draft, Denied::Repeated);
    }
    let at = draft.at();
    match room(draft, at, tier).map(|room| room.keeps(most, tokens)) {
        Ok(None) => match crossed(draft, at, most, alike) {
            None => {
                draft.emit(Event::Reserved { key, most, tier, again, alike });
                draft.emit(Event::TokensReserved { key, tokens });
            }
            Some((by, times, sum)) => {
                draft.emit(Event::Held { key: draft.flights_made() + 1, by, times, sum });
                refuse(draft, Denied::Held(by));
            }
        },
        Ok(Some(why)) | Err(why) => refuse(draft, why),
    }
}

fn refuse(draft: &mut Draft<'_>, by: Denied) {
    let told = |(last, at)| last == by && draft.at() < at + TELL_AGAIN;
    if !draft.calls().refused.is_some_and(told) {
        refused(draft, by, 1);
    }
}

/// So many were refused for this since that was last on record. The dead refuse everything and write nothing down.
pub(crate) fn refused(draft: &mut Draft<'_>, by: Denied, times: u32) {
    if times > 0 && !draft.is_dead() {
        draft.emit(Event::Refused { by, times });
    }
}

/// The owner's yes or no to calls that are stopped. After a no they stay so.
pub(crate) fn release(draft: &mut Draft<'_>, key: u64, yes: bool) -> Result<(), Refusal> {
    if draft.calls().hold.is_none_or(|hold| hold.key != key) {
        return Err(Refusal::Stale);
    }
    if yes {
        draft.emit(Event::Released { key });
    }
    Ok(())
}

/// A bill above what was set aside is owed all the same. It is paid from what is promised to nobody, calls are stopped until
/// the owner says yes, and only what the money does not reach stays unpaid.
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
    draft.emit(Event::Settled { key, cost: paid, over: cost - paid, how, used: used.clone() });
    if cost > open.most && draft.calls().hold.is_none() && !draft.is_dead() {
        let (by, sum) = (Runaway::Bill, cost - open.most);
        draft.emit(Event::Held { key: draft.flights_made() + 1, by, times: 1, sum });
    }
}

/// A death waits for nobody's answer: what is under way counts as what it can cost.
pub(crate) fn forfeit_all(draft: &mut Draft<'_>) {
    while let Some(open) = draft.calls().open.first().copied() {
        settled(draft, open.key, open.most, How::Lost, (&Used::default(), Kinds::default()));
    }
}
