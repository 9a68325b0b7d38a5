//! The registry of worlds that are busy. A life that was left may be opened again while one of its calls is still under
//! way, and two worlds of one life must not act side by side.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use golem::GolemId;
use world::World;

use super::async_world::AsyncWorld;
use super::slots::Errands;
use crate::locks::lock;
use crate::wall::Wall;

/// The worlds of one process that answer later, and the runtime of their calls.
#[derive(Debug, Default)]
pub struct AsyncWorlds {
    errands: Arc<Errands>,
    wall: Wall,
    known: Mutex<BTreeMap<GolemId, Weak<AsyncWorld>>>,
}

impl AsyncWorlds {
    /// A registry whose calls wait until a test runs them.
    pub(crate) fn waiting(wall: &Wall) -> AsyncWorlds {
        AsyncWorlds { errands: Arc::new(Errands::waiting()), wall: wall.clone(), known: Mutex::default() }
    }

    /// How many errands wait to be run.
    pub fn errands_waiting(&self) -> usize {
        self.errands.how_many_wait()
    }

    /// Drops the errands that wait.
    pub fn forget_errands(&self) {
        self.errands.forget_waiting();
    }

    /// Runs one of the errands that wait, on this thread.
    pub fn run(&self, nth: usize) {
        self.errands.run_waiting(nth);
    }

    /// The errands of this process.
    pub(crate) fn errands(&self) -> &Arc<Errands> {
        &self.errands
    }

    /// The world of a life, if it is busy with an earlier call.
    pub(crate) fn busy(&self, id: GolemId) -> Option<Arc<AsyncWorld>> {
        self.known().get(&id).and_then(Weak::upgrade).filter(|world| world.is_busy())
    }

    /// Whether the world of a life is busy with an earlier call.
    pub fn is_busy(&self, id: GolemId) -> bool {
        self.busy(id).is_some()
    }

    /// Sends the calls of this life to its world from now on.
    pub(crate) fn open(
        &self,
        id: GolemId,
        world: Box<dyn World + Send>,
        provider: &str,
        frozen: PathBuf,
        hurry: Arc<AtomicBool>,
    ) -> Arc<AsyncWorld> {
        let opened = AsyncWorld::new(world, Arc::clone(&self.errands), provider, frozen, self.wall.clone(), hurry);
        let mut known = self.known();
        known.retain(|_, world| world.strong_count() > 0);
        known.insert(id, Arc::downgrade(&opened));
        opened
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<GolemId, Weak<AsyncWorld>>> {
        lock(&self.known)
    }
}
