//! The clade: golems of one owner, and what they tell each other.

mod apply;
mod event;
mod state;

pub(crate) use apply::apply;
pub use event::Event;
pub use state::{Clade, Died, News, Peer, Stain};
