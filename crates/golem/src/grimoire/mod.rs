//! The Grimoire: what a golem knows, as opposed to what it did.
//!
//! Everything here is a pure function of entries and time. The entries themselves are rows outside Life, reached
//! by asking; what is decided about them comes back as an input, is recorded as an event, and only then written.

mod admission;
mod apply;
mod book;
pub mod bundle;
mod confidence;
mod curator;
mod decide;
mod entry;
mod event;
mod fiber;
mod ingest;
mod knowing;
mod round;
mod sameness;
mod walk;

pub use admission::{Candidate, Score, draft};
pub(crate) use apply::apply;
pub use book::{ENTRIES, Grimoire, SOURCES, TEXT};
pub use confidence::{BIRTH_CAP, HALF_LIVES, inherited};
pub use curator::{ARCHIVE, Round};
pub(crate) use decide::curated;
pub use entry::{Class, Decision, Entry, Expectation, How, Kind, Link, PASSED_ON, Provenance, Shown, Source, Status};
pub use event::Event;
pub(crate) use fiber::Whole;
pub use fiber::{Fiber, Watched};
pub use ingest::{AN_HOUR, AN_HOUR_EACH, Turned, digest, proposed, take_in};
pub use knowing::{Knowing, Moves, ROUND, WATCHED};
pub use round::{Answer, DECISIONS, entry_of, round};
pub use sameness::{Key, Subject, contradict};
pub use walk::{HOPS, Path};
