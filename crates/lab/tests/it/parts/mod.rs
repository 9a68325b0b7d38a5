//! Parts of the laboratory, each by itself.

mod arms;
mod quantiles;
mod sample;
mod stats;
mod tables;
