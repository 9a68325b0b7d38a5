//! Worlds that go bar by bar and can begin again. An answer depends only on the question, never on what was asked
//! before: asking for the past again rewinds, asking for the future walks there.

use golem::limits;
use golem::time::{Span, Time};
use golem::world::{Bar, Observation};

const HOUR_MS: f64 = 3_600_000.0;

pub(crate) trait Walk {
    /// When the current bar closed; there is always one.
    fn closed(&self) -> Time;

    /// When the next one will have closed; none after the last.
    fn next(&self) -> Option<Time>;

    /// Goes on to the next bar; only if there is one.
    fn advance(&mut self);

    /// Goes back to the first bar.
    fn rewind(&mut self);

    /// The current bar.
    fn bar(&self) -> Bar;
}

/// Goes to the newest bar closed by then, or to the first.
pub(crate) fn seek(world: &mut impl Walk, until: Time) {
    if world.closed() > until {
        world.rewind();
    }
    while world.next().is_some_and(|closes| closes <= until) {
        world.advance();
    }
}

pub(crate) fn observe(world: &mut impl Walk, since: Time, now: Time, into: &mut Observation) {
    if now <= since {
        return;
    }
    seek(world, since);
    let mut room = limits::BARS.saturating_sub(into.bars.len());
    if world.closed() > since && world.closed() <= now && room > 0 {
        into.bars.push(world.bar());
        room -= 1;
    }
    while room > 0 && world.next().is_some_and(|closes| closes <= now) {
        world.advance();
        into.bars.push(world.bar());
        room -= 1;
    }
}

/// Hours since midnight, UTC.
pub(crate) fn hour(time: Time) -> f64 {
    (time.as_millis() % Span::DAY.as_millis()) as f64 / HOUR_MS
}
