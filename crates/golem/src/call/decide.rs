//! Letting a call through, or refusing it by name; and what it came to.

use super::{Denied, Event, How, Used, room};
use crate::draft::Draft;
use crate::money::Usdc;
use crate::mortality::phase::Tier;
use crate::time::Span;

/// How long before the same refusal is told again.
const TELL_AGAIN: Span = Span::seconds(3_600);

/// Sets aside what it can cost at most, or refuses.
pub(crate) fn called(draft: &mut Draft<'_>, key: u64, most: Usdc, tier: Tier, again: Option<u64>) {
    if key != draft.calls.made + 1 {
        return;
    }
    if again.is_some_and(|again| draft.calls.known.contains(&again)) {
        return refuse(draft, Denied::Repeated);
    }
    let denied = match room(draft, draft.at(), tier) {
        Ok((room, _)) if most <= room => return draft.emit(Event::Reserved { key, most, tier, again }),
        Ok((_, why)) | Err(why) => why,
    };
    refuse(draft, denied);
}

fn refuse(draft: &mut Draft<'_>, by: Denied) {
    let told = |(last, at)| last == by && draft.at() < at + TELL_AGAIN;
    if !draft.is_dead() && !draft.calls.refused.is_some_and(told) {
        draft.emit(Event::Refused { by });
    }
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
