//! Errands: calls that take their time outside, the threads they run on, and the callbacks for when they have come
//! back.

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
