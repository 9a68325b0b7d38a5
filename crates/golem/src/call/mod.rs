//! Calls of an agent to models, through the host. Each is paid for before it is made: the most it can cost is set aside
//! in a durable record or it is refused by name, and what it did cost is settled when that is known. Beside money,
//! tokens and calls are set aside and hours are counted, where an owner caps them.
//!
//! Questions and answers are the agent's own; only their sums are known here.

mod decide;

pub use life::call::*;

pub use decide::{CallVerdict, Wanted};
pub(crate) use decide::{called, forfeit_all, refused, release, settled};
