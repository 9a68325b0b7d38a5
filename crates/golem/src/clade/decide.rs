//! Calling out to siblings.

use super::{Event, News};
use crate::draft::Draft;
use crate::id::GolemId;

/// News for its peers, to be passed on by the host.
pub(crate) fn call_out(draft: &mut Draft<'_>, news: News) {
    draft.emit(Event::CalledOut { number: draft.clade.told + 1, news });
}

/// News of a peer's, unless it was heard before; whether it counts.
pub(crate) fn heard(draft: &mut Draft<'_>, from: GolemId, number: u64, news: News) -> bool {
    let counts = !draft.is_dead() && !draft.clade.has_heard(from, number);
    if counts {
        draft.emit(Event::Heard { from, number, news });
    }
    counts
}

/// What it had to say has been passed on to so many.
pub(crate) fn told(draft: &mut Draft<'_>, number: u64, peers: u32) {
    if draft.clade.news.is_some_and(|(waiting, _)| waiting == number) {
        draft.emit(Event::Told { number, peers });
    }
}
