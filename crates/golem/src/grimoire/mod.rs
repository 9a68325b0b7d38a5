//! The Grimoire: what a golem knows, as opposed to what it did.
//!
//! Everything here is a pure function of entries and time. The entries themselves are rows outside Life, reached
//! by asking; what is decided about them comes back as an input, is recorded as an event, and only then written.

mod confidence;
mod entry;

pub use confidence::{BIRTH_CAP, HALF_LIVES, inherited};
pub use entry::{Claim, Class, Decision, Entry, How, Kind, Link, Provenance, Source, Status};
