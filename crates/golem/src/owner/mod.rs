//! The owner's hand: money given and taken back, and orders obeyed or declined by name.

mod apply;
mod decide;
mod event;
mod state;

pub(crate) use apply::apply;
pub(crate) use decide::{commanded, deposited, funded};
pub use event::Event;
pub use state::{Account, Command, Deposit, Say};
