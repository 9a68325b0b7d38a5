//! The promises that every world must keep, as a suite for worlds of your own. Each broken promise gives a sentence
//! that says which; a world that keeps them all gives none.
//!
//! The promises are about time (nothing early, nothing twice, nothing lost, in whatever pieces it is asked for) and
//! about money (an action happens once, within its bounds, and undoing it on the spot never pays). A quote is not a
//! promise: what happens between it and the fill may help as well as hurt. Speed is not one either: an order may be
//! pending, but not for ever.

mod acting;
mod finding;
mod telling;

use crate::World;
use finding::{Findings, Open};

/// Checks every promise and returns a sentence for each that is broken; one finding does not hide the next, unless
/// nothing more can be seen because of it. `open` opens the same world on the same durable record each time, one at a
/// time, and no action was done in it before.
pub fn check<W: World + ?Sized>(mut open: impl FnMut() -> Box<W>) -> Vec<String> {
    let open: Open<'_, W> = &mut open;
    let mut found = Findings::default();
    telling::declares_itself_sanely(&*open(), &mut found);
    let told = telling::tells_its_bars(&mut *open());
    let Some(bars) = found.of(told) else { return found.0 };
    let sound = found.of(telling::are_sound(&*open(), &bars)).is_some();
    if sound {
        found.of(telling::tells_nothing_after_the_end(&mut *open()));
        found.of(telling::tells_the_same_in_any_chunks(open, &bars));
        found.of(telling::tells_nothing_early(open, &bars));
        found.of(telling::tells_the_same_again(open, &bars));
    }
    found.of(acting::refuses_nonsense(open, &bars));
    found.of(acting::previews_without_acting(open, &bars, sound));
    let acted = acting::acts_once_and_within_bounds(open, &bars, &mut found);
    if sound {
        found.of(acting::remembers_its_bars(open, &bars));
    }
    found.of(acting::remembers_its_fates(open, &bars, &acted));
    found.0
}
