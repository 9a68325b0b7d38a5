//! The shell around one life: it keeps the home, drives a golem through its world, writes down what happened before anything
//! leaves the process, performs what is owed, and passes on the owner's word.
//!
//! Each room stands on those above it. Absent: rules of a life or of money, which are the core's, and anything that
//! listens: no API, no gateway, no page, and no crate that serves HTTP.

mod error;
pub mod files;
mod hash;
pub mod locks;
pub mod private;
pub mod wall;
pub mod watch;

mod clock;
pub mod durable;
pub mod errands;
pub mod program;

pub mod home;
pub mod runtime;
pub mod view;

pub mod feeds;

pub mod legacy;
pub mod river;

pub mod life;

pub mod care;
pub mod orders;
#[cfg(test)]
mod tests;

pub use errands::{KeptQuestion, kept};
pub use error::{Error, panic_message};
pub use home::{GolemHome, Home};
pub use life::Living;
pub use mind::http;
pub use runtime::Runtime;
