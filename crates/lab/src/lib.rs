//! Populations: many whole lives in memory, on the same step as a single one, and what they come to: the same paths lived
//! several ways ([`arms`]), lines and clades, experiments that are files ([`experiment`]), statistics and reports.
//!
//! Absent: rules of its own for a life; a home and a journal on disk; the network; a clock, except to time itself. A plan
//! repeats to the byte on any number of threads.

pub mod arms;
pub mod clades;
pub mod experiment;
pub mod lineages;
pub mod lives;
mod quantiles;
mod skill;
pub mod tables;

pub use lives::{Moment, Outcome, Plan, Summary};
pub use quantiles::Quantiles;
pub use skill::{Errors, Listener};
