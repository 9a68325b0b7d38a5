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
mod effects;
mod error;
pub mod fleet;
pub mod heirs;
pub mod herald;
pub mod home;
pub mod inbox;
mod keep;
pub mod keeper;
pub mod living;
pub mod loan;
pub mod nights;
pub mod orders;
mod parcel;
pub mod passage;
pub mod playbook;
pub mod private;
pub mod recall;
pub mod recover;
pub mod rehearsal;
pub mod sealed;
pub mod shelf;
pub mod tokens;
pub mod up;
pub mod whole;
pub mod word;

pub use error::Error;
pub use home::{GolemHome, Home};
pub use living::Living;
