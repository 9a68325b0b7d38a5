//! The Grimoire as rows: what a golem knows, one row an entry, beside the journal it follows from.
//!
//! Every row is what the last decision about it said, written in the transaction of the record that holds the
//! decision; so the table can be lost and made again, and held against the journal. The index of words and the
//! vectors beside it serve recall alone. They are never part of the truth: missing, they are made again.

mod card;
mod recall;
mod row;
mod score;
mod table;
mod vectors;
mod words;

pub use recall::{Hit, Query, Recall};
pub use row::{all, exists, get};
pub use score::Parts;
pub use table::{Expected, check, prepare, rebuild, write};
pub use vectors::{UnembeddedEntry, dot, embed, to_embed};
