//! The Grimoire: what a golem knows, as opposed to what it did.
//!
//! Everything here is a pure function of entries and time. The entries themselves are rows outside Life, reached
//! by asking; what is decided about them comes back as an input, is recorded as an event, and only then written.

mod admission;
mod book;
pub mod bundle;
mod curator;
mod decide;
mod ingest;
mod round;
mod sameness;
mod walk;

pub use life::grimoire::*;

pub use admission::{Candidate, Score, draft};
pub use book::{ENTRIES, Grimoire, SOURCES, TEXT};
pub use curator::{ARCHIVE, Round};
pub(crate) use decide::curated;
pub use ingest::{AN_HOUR, AN_HOUR_EACH, Turned, digest, proposed, take_in};
pub use round::{Curation, DECISIONS, entry_of, round};
pub(crate) use sameness::Gist;
pub use sameness::{MeaningKey, Subject, contradict};
pub use walk::{HOPS, Path};
