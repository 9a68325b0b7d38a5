//! `bardo up`: all of an owner's golems in one process.
//!
//! One loop waits for events and hands golems to workers; a worker gives one golem its turn and hands it back. Whatever
//! a golem's world, mind or dream does to its worker, the loop and the other golems go on: a golem that falls over is
//! woken again from its journal, and one that keeps falling is stopped, and its owner told.

pub mod api;
mod archiving;
mod bells;
mod chores;
mod copying;
mod hosting;
mod link;
mod main_loop;
pub mod notify;
mod pace;
#[cfg(test)]
mod seeds;
mod services;
mod slots;
mod supervision;
mod systemd;
mod target;
#[cfg(test)]
mod tests;
mod until;
mod wake;
mod worker_pool;
mod workers;

pub use archiving::Archiving;
pub use chores::{ChoreChanges, ChoreSettings};
pub use hosting::{Plan, Up};
pub use main_loop::{Asker, Boot};
pub use supervision::SAID;
