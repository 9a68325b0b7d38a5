//! Stressors: pressure that grows with world time while something is wrong, and goes only when it no longer is.
//!
//! Each kind has a row in one table, a trigger and a way to clear it, both read off what the runtime itself has recorded
//! ([`find`]). What a golem says of itself ([`assessment`]) is heard, checked and written down, and changes
//! none of it. Load is the sum of what is active; its band closes gates ([`Allowed`]), never those that lead out.
//!
//! Time here is age: what the host slept through was not lived and does not weigh.

mod decide;
mod hearing;
pub mod words;

pub use life::stress::*;

pub(crate) use decide::{assessed, look_at_named, observe};
