//! Lives in a host, measured whole.

mod common;
mod dying;
mod lives;
mod pictures;
mod poison;
mod recall;
