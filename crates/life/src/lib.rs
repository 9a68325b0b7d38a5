//! What a golem is: its [`Life`], the [`Event`]s that make it, and the one door through which it changes.
//!
//! A [`Course`] keeps one Life. It lends a [`Draft`], which reads like a Life and is written by `emit` alone, and it lives
//! records again; both run the same `apply`, which calculates and never decides.
//!
//! Absent: decisions, which are in `golem`, above; a `&mut Life` and fields of it that can be set; a clock, chance, files and
//! hash maps; `exp` and `ln` of the standard library.

mod apply;
pub mod books;
pub mod call;
pub mod clade;
pub mod constitution;
mod course;
pub mod daimon;
mod draft;
pub mod dream;
pub mod episode;
pub mod event;
pub mod figures;
pub mod goal;
pub mod grimoire;
pub mod heartbeat;
pub mod hex;
pub mod id;
mod invariants;
pub mod laws;
mod life;
pub mod limits;
pub mod money;
pub mod mortality;
pub mod outside;
pub mod owner;
pub mod phage;
pub mod plain;
pub mod policy;
pub mod prediction;
mod prose;
mod readers;
pub mod regime;
pub mod rule;
#[cfg(doctest)]
mod sealed;
mod spell;
pub mod stress;
pub mod thanatopsis;
pub mod thought;
pub mod time;
pub mod trust;
pub mod world;

pub use course::{Course, FoldError};
pub use draft::Draft;
pub use event::{Event, Record};
pub use id::{CommandId, GolemId, Name};
pub use life::{Birth, Endowment, Life, Lineage};
pub use money::Usdc;
pub use owner::{Command, Say};
pub use time::{Span, Time};

// Events are moved by the dozen every tick; a fat one would be paid for by all.
const _: () = assert!(size_of::<Event>() <= 104);
