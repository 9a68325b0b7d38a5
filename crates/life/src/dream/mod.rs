//! Dreams: time off from the world, in five stages, with a budget of its own and nothing to act with.
//!
//! A night holds the heartbeat: nothing is decided and nothing is asked of the world. Claims still come due, clocks
//! still run, and stops and the breaker look at every bar as they do by day. When to sleep is in [`schedule`].

mod apply;
mod begin;
mod drill;
mod event;
mod found;
mod kind;
pub mod schedule;
mod state;
mod trial;

pub(crate) use apply::{about, apply, said, tried, tried_again};
pub use drill::{Drill, Peril, Reply};
pub use event::Event;
pub use found::{Ahead, Found, Idea, Imagined, Met, Rehearsed, Replay, Threat, ThreatKind, Trajectory};
pub use kind::{Blocked, SleepStage, Trigger, Waker};
pub use schedule::{blocked, for_thoughts, length, owes, urgency};
pub use state::{Dreams, Night, Tally};
pub use trial::{Change, Fate, Origin, PROMOTED, REFUTED, Revision, STAGED, Staged, same};
