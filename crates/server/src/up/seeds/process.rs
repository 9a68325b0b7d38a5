//! The running half of a home as one process has it. Errands that the process has sent out and that are still open end with it.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use shell::wall::Wall;
use shell::{Home, Runtime};

pub(super) struct Process(Arc<Runtime>);

impl Process {
    pub(super) fn begin(root: &Path, wall: &Wall) -> Process {
        Process(Runtime::of(&Home::simulated(root.to_owned(), wall)))
    }
}

impl Deref for Process {
    type Target = Arc<Runtime>;

    fn deref(&self) -> &Arc<Runtime> {
        &self.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.async_worlds().forget_errands();
    }
}
