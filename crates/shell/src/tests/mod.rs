//! Lives in a host, measured whole.

mod common;
mod dying;
mod pictures;
mod recall;
