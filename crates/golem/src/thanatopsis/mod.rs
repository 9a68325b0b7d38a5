//! Thanatopsis: the way from a death to its end, in four phases. Each is read off Life, so a way cut short anywhere goes
//! on from there, and nothing is settled twice.
//!
//! *Acceptance*: no more claims, no more learning, the siblings are told. *Settlement*: what is held is closed, held or
//! handed over as the owner chose, and all money but the reserve goes home. *Reflection*: the testament is written.
//! *Legacy*: what was known goes through the bottleneck and onto the shelf. Then the reserve goes home too. Rules do all
//! of it, so it needs neither money nor a model, and whatever the cause it completes.

mod decide;
mod last_word;
mod review;
mod testament;
mod words;

pub use life::thanatopsis::*;

pub(crate) use decide::{bequeathed, proceed, reflected};
pub use last_word::{ChangedFiles, LAST_WORD_BYTES, LastWord, Remains, in_quotes};
pub use review::{Arc, Moment, Review};
pub use testament::{Ancestry, Bloodstain, Outside, SECTIONS, Section, Statistics, Testament, write};
