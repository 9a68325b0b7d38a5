//! Calls of an agent to models, through whoever keeps the golem. Each is paid for before it is made: the most it can cost is
//! set aside in a durable record or it is refused by name, and what it did cost is settled when that is known. Beside money,
//! tokens and calls are set aside and hours are counted, where an owner caps them.
//!
//! What is asked and answered is the agent's own; nothing of it is known here but its sums.

mod apply;
mod denied;
mod event;
mod habits;
mod origin;
mod read;
mod runaway;
mod state;
mod units;

pub(crate) use apply::apply;
pub use denied::Denied;
pub use event::{Event, How, Kinds, Used};
pub use habits::{Alike, Habits, Hold, Runaway};
pub use origin::CallOrigin;
pub use read::{Left, Room, caps, left, room};
pub use runaway::crossed;
pub use state::{ByModel, Calls, Open, Past};
pub use units::{Amount, Cap, Today, Unit, UnitCounts};
