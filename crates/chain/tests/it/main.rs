//! A real chain on this machine: the purse, the signer, the venue, and the way home.

mod closing;
mod common;
mod cost;
mod endpoints;
mod once;
mod pool;
mod purse;
mod shares;
mod signer;
mod venue;
