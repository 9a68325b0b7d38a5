//! Heuristics: when a condition over named features holds, expect something of a domain.
//!
//! A condition is data, a conjunction of comparisons, so it can be evaluated in nanoseconds, written and
//! read as text, compared for sameness, changed by a dream and demanded of a model by schema. What a
//! heuristic expects is learned from claims that were resolved while it had a say.

mod apply;
mod blend;
mod condition;
mod event;
mod fragment;
pub mod learning;
mod sample;
pub mod schema;
mod slots;
mod state;
pub mod text;
pub mod vote;

pub(crate) use apply::{apply, begin_look, pay_out};
pub use blend::{Blend, Mix, Term, Terms};
pub use condition::{Comparison, Condition, Is};
pub use event::Event;
pub use fragment::{Fragment, OpenSample, WHOLE, WayOut};
pub(crate) use learning::forecast;
pub use sample::{exits, has_failed, holding, room_for_fragments, surely_costs, surely_pays};
pub use slots::{free_slot, ideas_every, is_tried, room_for_blends, slots};
pub use state::{Heuristic, Paid, Provenance, Said, Stake, Stance, neutral, rounded};
