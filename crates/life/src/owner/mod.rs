//! The owner's hand: money given and taken back, and orders obeyed or declined by name.

mod apply;
mod event;
mod state;

pub(crate) use apply::apply;
pub use event::Event;
pub use state::{Account, Command, Deposit, Say};
