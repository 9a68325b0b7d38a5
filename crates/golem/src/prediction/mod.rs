//! Claims about the world, made before and resolved after, each at exactly its own bar.

mod dated;
mod decide;

pub use life::prediction::*;

pub(crate) use dated::claim;
pub(crate) use decide::{forecast, sense};
