#![doc = include_str!("../README.md")]

pub mod call;
mod check;
pub mod clade;
pub mod dream;
pub mod episode;
pub mod goal;
mod golem;
pub mod grimoire;
pub mod heartbeat;
pub mod information;
pub mod inheritance;
mod input;
pub mod mortality;
pub mod outside;
mod owed;
pub mod owner;
pub mod phage;
pub mod policy;
pub mod prediction;
pub mod regime;
pub mod rule;
#[cfg(doctest)]
mod sealed;
pub mod shell;
mod step;
pub mod stress;
pub mod thanatopsis;
pub mod thought;
pub mod wire;

pub use golem::{Consequence, Golem};
pub use input::{Fault, Input, What};
pub use life::{
    Birth, Command, CommandId, Endowment, Event, FoldError, GolemId, Life, Lineage, Name, Record, Say, Span, Time,
    Usdc, books, constitution, daimon, event, figures, hex, id, laws, limits, money, plain, time, trust, world,
};
pub use owed::{Again, Duty, Errand, Owed, Which};
pub use shell::Shell;
