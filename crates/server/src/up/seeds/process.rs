//! A home as one process has it. Errands that the process has sent out and that are still open end with it.

use std::ops::Deref;
use std::path::Path;

use shell::Home;
use shell::wall::Wall;

pub(super) struct Process(Home);

impl Process {
    pub(super) fn begin(root: &Path, wall: &Wall) -> Process {
        Process(Home::simulated(root.to_owned(), wall))
    }
}

impl Deref for Process {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.async_worlds().forget_errands();
    }
}
