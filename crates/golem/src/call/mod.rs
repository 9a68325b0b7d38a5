//! Calls of an agent to models, through the host. Each is paid for before it is made: the most it can cost is set aside
//! in a durable record or it is refused by name, and what it did cost is settled when that is known. Beside money,
//! tokens and calls are set aside and hours are counted, where an owner caps them.
//!
//! Questions and answers are the agent's own; only their sums are known here.

mod apply;
mod decide;
mod denied;
mod event;
mod habits;
mod read;
mod runaway;
mod state;
mod units;

pub(crate) use apply::apply;
pub use decide::Wanted;
pub(crate) use decide::{called, forfeit_all, refused, release, settled};
pub use denied::Denied;
pub use event::{Event, How, Kinds, Used};
pub use habits::{Alike, Habits, Hold, Runaway};
pub use read::{Left, Room, caps, left, room};
pub use state::{ByModel, Calls, Open, Past};
pub use units::{Amount, Cap, Today, Unit, UnitCounts};
