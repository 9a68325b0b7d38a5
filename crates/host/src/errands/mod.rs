//! Errands: what takes its time outside, where it is run, and who is told when it has come back.

mod act;
mod calls;
mod far;
mod health;
mod heard;
mod kept;
mod minds;
mod registry;
mod slots;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use act::{AWAY, Act, act};
pub(crate) use calls::{Bound, Counter, Counters, Done, Grant, Lacks, Served, Stands, Verdict, Wanted};
pub(crate) use far::{Far, Look, Waker};
pub(crate) use heard::{CallSum, Heard, Session, TurnedAway};
pub(crate) use kept::Keep;
pub use kept::{Kept, kept};
pub(crate) use minds::{Asking, Minds, Thinking};
pub(crate) use registry::FarWorlds;
