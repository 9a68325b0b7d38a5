//! Waking: a night ends before its time.

use life::Draft;
use life::dream::{Event, Waker};

/// Ends a night before its time; what it had not done yet is lost, and what it had not put to the test.
pub(crate) fn wake(draft: &mut Draft<'_>, by: Waker) {
    if draft.dreams().night.is_some() {
        draft.emit(Event::Left { woken: Some(by) });
    }
}
