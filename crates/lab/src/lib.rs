//! Populations: many whole lives in memory, on the same step as a single one, and what they come to: the same paths lived
//! several ways ([`arms`]), lines and clades, experiments that are files ([`experiment`]), statistics and reports.
//!
//! A plan and its seeds give the same lives to the byte, on any number of threads. Absent: rules of its own for a life; a disk
//! to live on; a clock, except to time itself; a network; and all that stands around a life that is real. Recorded candles
//! are handed over as a file.

pub mod arms;
pub mod clades;
pub mod experiment;
pub mod lineages;
pub mod lives;
mod quantiles;
pub mod rehearsal;
mod skill;
pub mod tables;

pub use lives::{LifeOutcome, Moment, Plan, Summary};
pub use quantiles::Quantiles;
pub use skill::{Errors, Listener};
