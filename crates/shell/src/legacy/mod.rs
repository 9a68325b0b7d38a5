//! The legacy of a life: bundles of knowledge, the owner's shelf, and the testament.

pub mod bundle;
pub mod shelf;
pub mod testament;
