//! Dreams: time off from the world, in five stages, with a budget of its own and nothing to act with.
//!
//! A night holds the heartbeat: nothing is decided and nothing is asked of the world. Claims still come due, clocks
//! still run, and stops and the breaker look at every bar as they do by day. When to sleep is in [`schedule`].

mod apply;
mod event;
mod found;
mod gate;
mod imagine;
mod kind;
mod memory;
mod night;
mod replay;
mod revision;
pub mod schedule;
mod staging;
mod state;
mod told;
mod trial;
mod work;

pub(crate) use apply::{about, apply, said, tried, tried_again};
pub use event::Event;
pub use found::{Ahead, Found, Idea, Imagined, Met, Rehearsed, Replay, Threat, ThreatKind, Trajectory};
pub use kind::{Blocked, SleepStage, Trigger, Waker};
pub use memory::{CALMED, Experience, Memory, Moment, STIRRING};
pub(crate) use night::{consider, dreamt, go_on, heard, ordered, sleep, stirs, switched, wake};
pub use schedule::{blocked, length, urgency};
pub(crate) use schedule::{for_thoughts, owes};
pub(crate) use staging::end_trials;
pub use state::{Dreams, Night, Tally};
pub use told::told;
pub use trial::{Change, Fate, Origin, PROMOTED, REFUTED, Revision, STAGED, Staged};
pub use work::{intensity, work};
