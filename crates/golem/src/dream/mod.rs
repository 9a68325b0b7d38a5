//! Dreams: time off from the world, in five stages, with a budget of its own and nothing to act with.
//!
//! A night holds the heartbeat: nothing is decided and nothing is asked of the world. Claims still come due, clocks
//! still run, and stops and the breaker look at every bar as they do by day. When to sleep is in [`schedule`].

mod drill;
mod gate;
mod imagine;
mod memory;
mod night;
mod omen;
mod replay;
mod revision;
mod staging;
mod told;
mod waking;
mod work;

pub use life::dream::*;

pub use memory::{CALMED, Experience, Memory, Moment, STIRRING};
pub(crate) use night::{consider, dreamt, go_on, heard, ordered, sleep, stirs, switched};
pub(crate) use staging::end_trials;
pub use told::told;
pub(crate) use waking::wake;
pub use work::{intensity, work};
