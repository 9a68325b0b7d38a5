//! The clade: golems of one owner, and what they tell each other.

mod apply;
mod decide;
mod event;
mod parcel;
mod state;

pub(crate) use apply::apply;
pub(crate) use decide::{call_out, heard, look_around, told, turned};
pub use event::Event;
pub use parcel::Parcel;
pub use state::{Clade, Died, News, Peer, Stain};
