//! Populations: many whole lives in memory, on the same step as a single one, and what they come to.

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
