//! The shell around the core: it keeps the home, drives a golem through its world, writes down what
//! happened before anything leaves the process, performs what is owed, and passes on the owner's word.
//!
//! Each room stands on those above it.

mod error;
pub mod files;
mod hash;
pub mod private;
pub mod wall;

pub mod chance;
mod clock;
pub mod config;
mod door;
mod durable;
mod errands;
mod program;

pub mod home;
pub mod view;

mod led;

pub mod feeds;

pub mod legacy;
pub mod river;

pub mod life;

pub mod care;
pub mod orders;

pub mod mcp;

pub mod gateway;
pub mod up;

pub use errands::{Kept, kept};
pub use error::Error;
pub use home::{GolemHome, Home};
pub use life::Living;
