//! Errands: calls that take their time outside, the threads they run on, and the callbacks for when they have come
//! back.

mod act;
mod async_world;
mod calls;
mod health;
mod heard;
mod kept;
mod minds;
mod registry;
mod slots;
#[cfg(test)]
mod tests;

pub(crate) use act::{AWAY, Act, act};
pub use async_world::Waker;
pub(crate) use async_world::{AsyncWorld, LookState};
pub(crate) use calls::Served;
pub use calls::{Bound, Counter, Counters, Done, GolemState, Grant, Lacks, Verdict, Wanted};
pub use health::{Health, News};
pub use heard::CallSum;
pub(crate) use heard::{Heard, Session, TurnedAway};
pub(crate) use kept::Keep;
pub use kept::{KeptQuestion, kept};
pub use minds::Minds;
pub(crate) use minds::{Asking, Thinking};
pub use registry::AsyncWorlds;
