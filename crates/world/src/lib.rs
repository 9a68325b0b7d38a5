//! What a golem lives in. A world shows bars, says what an action would do, does it, and can be asked
//! afterwards what became of it; the golem's core never sees more of it than that.

use golem::time::Time;
use golem::world::{Manifest, Observation, Outcome, Quote};

/// Something to live in. One instance serves one golem.
pub trait World {
    /// What this world declares of itself; recorded in the birth record.
    fn manifest(&self) -> Manifest;

    /// World time at which a golem born into it now begins.
    fn start(&self) -> Time;

    /// World time after which nothing more will ever be seen; none if it goes on for ever.
    fn end(&self) -> Option<Time>;

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
    /// The world's own record could not be read or written.
    #[error("{what} {path}: {source}")]
    Io { what: &'static str, path: std::path::PathBuf, source: std::io::Error },
}
