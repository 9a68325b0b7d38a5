//! Noticing another regime.

use life::Draft;
use life::regime::Event;

use crate::clade;

/// Records a change of regime when the level has moved and speaks of another kind.
pub(crate) fn watch(draft: &mut Draft<'_>) {
    let (from, to) = (draft.regimes().now, draft.regimes().kind());
    if from != to && draft.regimes().detector.changed() {
        draft.emit(Event::Changed { from, to });
        clade::turned(draft, to);
    }
}
