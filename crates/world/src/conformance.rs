//! The promises that every world must keep, as a suite for worlds of your own. Each broken promise gives a sentence
//! that says which; a world that keeps them all gives none.
//!
//! The promises are about time (nothing early, nothing twice, nothing lost, in whatever pieces it is asked for) and
//! about money (an action happens once, within its bounds, and undoing it on the spot never pays). A quote is not a
//! promise: what happens between it and the fill may help as well as hurt. Speed is not one either: an order may be
//! pending, but not for ever.

mod acting;
mod finding;
mod remedy;
mod telling;

use crate::World;
pub use finding::BrokenPromise;
use finding::{Findings, Open};
use remedy::Promise;

/// Checks every promise and returns a sentence for each that is broken; one finding does not hide the next, unless
/// nothing more can be seen because of it. `open` opens the same world on the same durable record each time, one at a
/// time, and no action was done in it before.
pub fn check<W: World + ?Sized>(open: impl FnMut() -> Box<W>) -> Vec<String> {
    examine(open, |_| {}).into_iter().map(|broken| broken.sentence).collect()
}

/// Checks every promise like [`check`], says before each what is looked at, and with each that is broken what to change.
pub fn examine<W: World + ?Sized>(
    mut open: impl FnMut() -> Box<W>,
    mut looks_at: impl FnMut(&'static str),
) -> Vec<BrokenPromise> {
    let open: Open<'_, W> = &mut open;
    let mut found = Findings::default();
    let mut turn_to = |found: &mut Findings, (what, change): Promise| {
        looks_at(what);
        found.change = change;
    };
    turn_to(&mut found, remedy::DECLARED);
    telling::declares_itself_sanely(&*open(), &mut found);
    turn_to(&mut found, remedy::TOLD);
    let told = telling::tells_its_bars(&mut *open());
    let Some(bars) = found.of(told) else { return found.broken };
    turn_to(&mut found, remedy::SOUND);
    let sound = found.of(telling::are_sound(&*open(), &bars)).is_some();
    if sound {
        turn_to(&mut found, remedy::ENDED);
        found.of(telling::tells_nothing_after_the_end(&mut *open()));
        turn_to(&mut found, remedy::PIECES);
        found.of(telling::tells_the_same_in_any_chunks(open, &bars));
        turn_to(&mut found, remedy::EARLY);
        found.of(telling::tells_nothing_early(open, &bars));
        turn_to(&mut found, remedy::AGAIN);
        found.of(telling::tells_the_same_again(open, &bars));
    }
    turn_to(&mut found, remedy::NONSENSE);
    found.of(acting::refuses_nonsense(open, &bars));
    turn_to(&mut found, remedy::PREVIEWS);
    found.of(acting::previews_without_acting(open, &bars, sound));
    turn_to(&mut found, remedy::ORDERS);
    let acted = acting::acts_once_and_within_bounds(open, &bars, &mut found);
    if sound {
        turn_to(&mut found, remedy::PAST);
        found.of(acting::remembers_its_bars(open, &bars));
    }
    turn_to(&mut found, remedy::FATES);
    found.of(acting::remembers_its_fates(open, &bars, &acted));
    found.broken
}
