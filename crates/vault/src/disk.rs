//! The last step before something counts. Every acknowledged write passes here on its way to the disk: each commit of a
//! store, each head, each thing done in a world. In production there is no watcher. A simulation sets one on its own
//! thread: it sees each step before and after it is taken, and may refuse it as a full disk would.

use std::cell::RefCell;
use std::io;

use rusqlite::{Transaction, ffi};

/// A step on its way to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// About to be taken; the watcher may refuse it.
    Before(&'static str),
    /// Taken, and not acknowledged yet.
    After(&'static str),
}

type Watcher = Box<dyn FnMut(Step) -> io::Result<()>>;

thread_local! {
    static WATCHER: RefCell<Option<Watcher>> = const { RefCell::new(None) };
}

/// A guard: while it lives, everything its thread writes is watched.
#[derive(Debug)]
pub struct Watch(());

/// Watches every step this thread takes from now on. The watcher's answer to [`Step::After`] is ignored.
pub fn watch(watcher: impl FnMut(Step) -> io::Result<()> + 'static) -> Watch {
    WATCHER.set(Some(Box::new(watcher)));
    Watch(())
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHER.set(None);
    }
}

/// Announces a write that is about to become durable; an error means that the watcher refused it.
pub fn before(what: &'static str) -> io::Result<()> {
    see(Step::Before(what))
}

/// Announces a write that is durable.
pub fn after(what: &'static str) {
    let _ = see(Step::After(what));
}

/// Commits what a store has written.
pub(crate) fn commit(what: &'static str, tx: Transaction<'_>) -> rusqlite::Result<()> {
    let full =
        |why: io::Error| rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), Some(why.to_string()));
    before(what).map_err(full)?;
    tx.commit()?;
    after(what);
    Ok(())
}

fn see(step: Step) -> io::Result<()> {
    WATCHER.with_borrow_mut(|watcher| watcher.as_mut().map_or(Ok(()), |watcher| watcher(step)))
}
