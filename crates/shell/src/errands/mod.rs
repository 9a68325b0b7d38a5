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
mod tests;

pub(crate) use act::{AWAY, Act, act};
pub(crate) use calls::Served;
pub use calls::{Bound, Counter, Counters, Done, Grant, Lacks, Stands, Verdict, Wanted};
pub use far::Waker;
pub(crate) use far::{Far, LookState};
pub use health::{Health, News};
pub use heard::CallSum;
pub(crate) use heard::{Heard, Session, TurnedAway};
pub(crate) use kept::Keep;
pub use kept::{KeptQuestion, kept};
pub use minds::Minds;
pub(crate) use minds::{Asking, Thinking};
pub use registry::FarWorlds;
