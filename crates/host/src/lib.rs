//! The shell around the core: it keeps the home, drives a golem through its world, writes down what
//! happened before anything leaves the process, performs what is owed, and passes on the owner's word.

pub mod arrival;
pub mod backups;
mod books;
pub mod bundle;
pub mod chance;
pub mod closing;
pub mod config;
pub mod copies;
pub mod data;
pub mod doctor;
mod errands;
mod error;
pub mod fleet;
pub mod heirs;
pub mod herald;
pub mod home;
pub mod inbox;
pub mod keeper;
pub mod life;
pub mod loan;
pub mod nights;
pub mod orders;
mod parcel;
pub mod passage;
pub mod playbook;
pub mod private;
pub mod recall;
pub mod recover;
pub mod sealed;
pub mod shelf;
pub mod tokens;
pub mod up;
pub mod whole;
pub mod word;
pub mod worlds;

pub use error::Error;
pub use home::{GolemHome, Home};
pub use life::Living;

/// What somebody said who panicked.
pub(crate) fn words_of(panic: &Box<dyn std::any::Any + Send>) -> String {
    let words = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".into())
}
