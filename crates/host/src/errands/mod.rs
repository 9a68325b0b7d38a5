//! Errands: what takes its time outside, where it is run, and who is told when it has come back.

mod act;
mod far;
mod minds;
mod registry;
mod slots;

pub(crate) use act::{AWAY, Act, act};
pub(crate) use far::{Far, Look, Waker};
pub(crate) use minds::{Minds, Thinking};
pub(crate) use registry::FarWorlds;
