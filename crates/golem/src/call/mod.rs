//! Calls of an agent to models, through whoever keeps the golem. Each is paid for before it is made: the most it can cost is
//! set aside in a durable record or it is refused by name, and what it did cost is settled when that is known. Beside money,
//! tokens and calls are set aside and hours are counted, where an owner caps them.
//!
//! What is asked and answered is the agent's own; nothing of it is known here but its sums.

mod decide;

pub use life::call::*;

pub use decide::Wanted;
pub(crate) use decide::{called, forfeit_all, refused, release, settled};
