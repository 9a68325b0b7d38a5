//! What survives, from outside: journals, rows, recall, and what is done about damage.

mod common;
mod cost;
mod first_version;
mod grimoire;
mod kinds;
mod layout;
mod library;
mod mending;
mod replay;
mod staleness;
