//! Errands: calls that take their time outside, the threads they run on, and the callbacks for when they have come
//! back.

mod act;
mod async_world;
mod call_sums;
mod calls;
mod end_notice;
mod health;
mod minds;
mod question_log;
mod registry;
mod slots;
#[cfg(test)]
mod tests;

pub(crate) use act::{AWAY, Act, act};
pub use async_world::Waker;
pub(crate) use async_world::{AsyncWorld, LookState};
pub use call_sums::CallSum;
pub(crate) use call_sums::{Heard, Session, TurnedAway};
pub(crate) use calls::Served;
pub use calls::{Bound, Counter, Counters, Done, GolemState, Grant, Lacks, Verdict, Wanted};
pub use end_notice::{EndNotice, EndPlan};
pub use health::{Health, News};
pub use minds::Minds;
pub(crate) use minds::{Asking, Thinking};
pub(crate) use question_log::Keep;
pub use question_log::{KeptQuestion, kept};
pub use registry::AsyncWorlds;
