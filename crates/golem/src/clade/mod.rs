//! The clade: golems of one owner, and what they tell each other.

mod apply;
mod decide;
mod event;
mod state;

pub(crate) use apply::apply;
pub(crate) use decide::{call_out, heard, told};
pub use event::Event;
pub use state::{Clade, News};
