//! Telling the owner, once, that money is short.

use life::Draft;
use life::mortality::{Event, economic};

/// Tells the owner once when money runs short, and again only after it had recovered.
pub(crate) fn watch(draft: &mut Draft<'_>) {
    if !draft.constitution().clocks().economic {
        return;
    }
    let (score, critical) = (economic::score(draft), draft.constitution().economic.critical);
    match draft.purse().critical {
        false if score < critical => draft.emit(Event::EconomicCritical),
        true if score >= critical + draft.constitution().vitality.hysteresis => draft.emit(Event::EconomicRelieved),
        _ => {}
    }
}
