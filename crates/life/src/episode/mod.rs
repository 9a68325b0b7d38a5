//! Episodes: the ticks that matter, remembered with what the world looked like, and what became of it.
//!
//! A tick matters when it surprised by more than a deviation, when something was intended or refused, when
//! the regime or the phase changed; and one in twenty does in any case. As far ahead as claims look it is
//! known what the world did and how much better the other choice would have been.

mod apply;
mod event;
mod read;
mod state;

pub(crate) use apply::apply;
pub use event::Event;
pub use read::horizon;
pub use state::{Episodes, Impression, Pending, Surprise, why};
