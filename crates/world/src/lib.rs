//! The worlds a golem lives in. A world shows bars, says what an action would do, does it, and can be asked
//! afterwards what became of it; the golem's core never sees more of it than that.
//!
//! Here are a simulated market, a replay of recorded candles, a job queue, which is no market at all, and the checks of
//! an owner, which are no simulation either. [`conformance::check`] tests any other world.
//!
//! Absent: a golem's life, of which a world sees orders alone; the wall clock, a network, and arithmetic that differs
//! between machines.

mod chance;
pub mod checks;
pub mod conformance;
mod error;
mod gauge;
mod ledger;
pub mod market;
mod paper;
mod queue;
mod running;
pub mod shifting;
mod spec;
#[cfg(test)]
mod tests;
mod walk;
mod world;

pub use checks::{Check, Checks, Says};
pub use error::Error;
pub use gauge::Gauge;
pub use golem::world::Order;
pub use ledger::{Ledger, LedgerEntry};
pub use market::candles::{Candle, Candles, Gap, Problem, Report};
pub use market::regime::{Regime, Relations};
pub use market::replay::{Replay, ReplayConfig};
pub use market::series;
pub use market::signs::{EdgeConfig, Sign};
pub use market::sim::{Sim, SimConfig, Truth};
pub use paper::Paper;
pub use queue::{Queue, QueueConfig};
pub use shifting::How;
pub use spec::Spec;
pub use world::{World, ask};
