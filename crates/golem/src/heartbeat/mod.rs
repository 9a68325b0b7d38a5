//! The heartbeat: SENSING → DECIDING → ACTING → REFLECTING → SLEEPING, with DREAMING and DYING beside it.
//!
//! One observation drives one beat. A beat that must wait for an answer stays where it is; the tick it
//! belongs to ends on time all the same.

mod apply;
mod decide;
mod event;
mod rest;
mod state;

pub(crate) use apply::apply;
pub(crate) use decide::beat;
pub use event::Event;
pub(crate) use rest::rest;
pub use state::{Heartbeat, State};
