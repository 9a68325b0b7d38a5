//! A real chain on this machine: the purse, the signer, the venue, the way home, and the program that golems have.

mod closing;
mod common;
mod cost;
mod endpoints;
mod once;
mod pool;
mod program;
mod purse;
mod shares;
mod signer;
mod venue;
