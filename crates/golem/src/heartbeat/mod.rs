//! The heartbeat: SENSING → DECIDING → ACTING → REFLECTING → SLEEPING, with DREAMING and DYING beside it.
//!
//! One observation drives one beat. A beat that must wait for an answer stays where it is; the tick it
//! belongs to ends on time all the same.

mod decide;
mod rest;

pub use life::heartbeat::*;

pub(crate) use decide::beat;
pub(crate) use rest::rest;
