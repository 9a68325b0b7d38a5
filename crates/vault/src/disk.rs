//! The last step before something counts. Whatever is acknowledged passes here on its way to the disk: each commit of a
//! store, each head, each thing done in a world. In production nobody watches. A simulation can, on its own thread: it
//! sees each step before it is taken and after, and may refuse it as a full disk would.

use std::cell::RefCell;
use std::io;

use rusqlite::{Transaction, ffi};

/// A step on its way to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is about to be taken, and may be refused.
    Before(&'static str),
    /// It was taken, and nobody has been told.
    After(&'static str),
}

type Watcher = Box<dyn FnMut(Step) -> io::Result<()>>;

thread_local! {
    static WATCHER: RefCell<Option<Watcher>> = const { RefCell::new(None) };
}

/// As long as it is there, whatever its thread writes is watched.
#[derive(Debug)]
pub struct Watch(());

/// Watches every step this thread takes from now on. What it says of a step that was taken does not count.
pub fn watch(watcher: impl FnMut(Step) -> io::Result<()> + 'static) -> Watch {
    WATCHER.set(Some(Box::new(watcher)));
    Watch(())
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHER.set(None);
    }
}

/// Something is about to become durable, if nothing stands in its way.
pub fn before(what: &'static str) -> io::Result<()> {
    see(Step::Before(what))
}

/// It is durable.
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
