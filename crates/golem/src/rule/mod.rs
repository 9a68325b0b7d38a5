//! Heuristics: when a condition over named features holds, expect something of a domain.
//!
//! A condition is data, a conjunction of comparisons, so it can be evaluated in nanoseconds, written and
//! read as text, compared for sameness, changed by a dream and demanded of a model by schema. What a
//! heuristic expects is learned from claims that were resolved while it had a say.

mod decide;
mod dice;
mod fragments;
mod instincts;

pub use life::rule::*;

pub(crate) use decide::{claims_now, naive, suggested, think};
pub(crate) use dice::Dice;
pub(crate) use instincts::instincts;
