//! The owner's home and what lies in it: the place of each golem, its inbox, imported data, the owner's key and tokens, and
//! the books that must agree.

pub mod agent;
pub mod books;
mod catch_up;
mod clock;
pub mod data;
pub mod inbox;
pub mod key;
pub mod links;
pub mod loan;
pub mod log;
pub mod names;
mod place;
pub mod prices;
mod reserve;
pub mod signals;
pub mod tokens;

pub use log::GolemGlance;
pub use place::{GolemHome, Home};
