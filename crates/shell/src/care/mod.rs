//! Looking after a home: copies of its golems and of all of it, moving and restoring them, what to do when something is
//! lost, and a full examination.

pub mod backups;
pub mod copies;
pub mod doctor;
pub mod label;
mod parcel;
pub mod recover;
pub mod rename;
pub mod restore;
pub mod river;
pub mod sealed;
pub mod upgrade;
pub mod whole;
