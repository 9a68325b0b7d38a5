//! What a golem lives in. A world shows bars, says what an action would do, does it, and can be asked
//! afterwards what became of it; the golem's core never sees more of it than that.
//!
//! Here are a simulated market, a replay of recorded candles and a job queue, which is no market at all.
//! Whoever builds another world can hold it against [`conformance::check`].

mod chance;
pub mod conformance;
mod ledger;
pub mod market;
mod queue;
mod running;
mod spec;
mod walk;

use std::path::PathBuf;

use golem::time::Time;
use golem::world::{Manifest, Observation, Outcome, Quote};

pub use ledger::{Entry, Ledger};
pub use market::candles::{Candle, Candles, Gap, Problem, Report};
pub use market::regime::{Regime, Relations};
pub use market::replay::{Replay, ReplayConfig};
pub use market::sim::{Sim, SimConfig, Truth};
pub use queue::{Queue, QueueConfig};
pub use spec::Spec;

/// Something to live in. One instance serves one golem.
pub trait World {
    /// What this world declares of itself; recorded in the birth record.
    fn manifest(&self) -> Manifest;

    /// World time at which a golem born into it now begins.
    fn start(&self) -> Time;

    /// World time after which nothing more will ever be seen; none if it goes on for ever.
    fn end(&self) -> Option<Time>;

    /// Brings the world to where a returning golem last saw it, so that actions meet the bar it knows.
    fn seek(&mut self, until: Time) -> Result<(), Error>;

    /// Appends every bar closed after `since` and not after `now`, oldest first, at most
    /// [`golem::limits::BARS`] of them; the rest is told next time.
    fn observe(&mut self, since: Time, now: Time, into: &mut Observation) -> Result<(), Error>;

    /// What the action would do; none if the world would not have it.
    fn preview(&mut self, order: &Order) -> Result<Option<Quote>, Error>;

    /// Does it, once: a key that was committed before gives its first outcome again. None if the world
    /// refused, for good, so that nothing happened and nothing will.
    fn commit(&mut self, key: u64, order: &Order) -> Result<Option<Outcome>, Error>;

    /// What became of a key; none if it was never done. From then on it never will be.
    fn reconcile(&mut self, key: u64) -> Result<Option<Outcome>, Error>;
}

/// An action on its way to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Index into the manifest's actions.
    pub action: u8,
    /// Millionths of a unit, positive.
    pub units: i64,
    /// The most that may be paid, fee included, where the action pays.
    pub limit: golem::Usdc,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The world's own record, or what it is made from, could not be read or written.
    #[error("{what} {path}: {source}")]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
    /// The record holds something this program never wrote.
    #[error("{path} line {line}: {why}; nothing was changed, see what can be saved with `bardo recover`")]
    Ledger { path: PathBuf, line: u64, why: String },
    /// Two worlds may not share one record.
    #[error("{path} is in use by another process")]
    Busy { path: PathBuf },
    /// After a failed write nobody knows what reached the disk; only reopening tells.
    #[error("an earlier write to {path} failed; open it again before doing more")]
    Stuck { path: PathBuf },
    #[error("cannot use {path} as candles: {why}")]
    Candles { path: PathBuf, why: String },
    #[error("{what} {why}")]
    Config { what: &'static str, why: &'static str },
}
