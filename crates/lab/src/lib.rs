//! Populations: many whole lives in memory, on the same step as a single one, and what they come to.
//!
//! A plan and its seeds give the same lives to the byte, on any number of threads. Absent from here: a disk to live on, a clock
//! but to time itself, a network, and all that stands around a life that is real; whoever reads recorded candles hands over
//! their file.

pub mod arms;
pub mod clades;
pub mod experiment;
pub mod lineages;
pub mod lives;
mod quantiles;
pub mod rehearsal;
mod skill;
pub mod tables;

pub use lives::{Moment, Outcome, Plan, Summary};
pub use quantiles::Quantiles;
pub use skill::{Errors, Listener};
