//! The heartbeat: SENSING → DECIDING → ACTING → REFLECTING → SLEEPING, with DREAMING and DYING beside it.
//!
//! One observation drives one beat. A beat that must wait for an answer stays where it is; the tick it
//! belongs to ends on time all the same.

mod apply;
mod event;
mod state;

pub(crate) use apply::apply;
pub use event::Event;
pub use state::{Heartbeat, State};
