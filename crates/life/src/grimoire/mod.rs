//! The Grimoire: what a golem knows, as opposed to what it did.
//!
//! Everything here is a pure function of entries and time. The entries themselves are rows outside Life, reached
//! by asking; what is decided about them comes back as an input, is recorded as an event, and only then written.
mod apply;
mod confidence;
mod entry;
mod event;
mod fiber;
mod knowing;
pub(crate) use apply::apply;
pub use confidence::{BIRTH_CAP, HALF_LIVES, inherited};
pub use entry::{Class, Decision, Entry, Expectation, How, Kind, Link, PASSED_ON, Provenance, Shown, Source, Status};
pub use event::Event;
pub(crate) use fiber::Whole;
pub use fiber::{Fiber, Watched};
pub use knowing::{Intake, Knowing, Moves, ROUND, WATCHED};
