//! Worlds, and the suite that each of them passes.

mod conformance;
mod liars;
