//! The owner's hand: money given and taken back, and orders obeyed or declined by name.

mod decide;

pub use life::owner::*;

pub(crate) use decide::{commanded, deposited, funded};
