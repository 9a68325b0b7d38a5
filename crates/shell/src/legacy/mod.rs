//! The legacy of a life: bundles of knowledge, the owner's shelf, the testament, and what a program left.

pub mod bundle;
pub mod remains;
pub mod shelf;
pub mod testament;
