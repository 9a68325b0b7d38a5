//! Golems lent out: one golem's business never needs the whole host stopped. A host lets a golem go that its owner has
//! released, and one that a command has borrowed for as long as the command lasts.
//!
//! A release is a marker in the golem's folder: it holds until the owner takes it back, whatever is killed or started
//! meanwhile. A loan is a lock on that folder: it ends with the process that took it, however that ends.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::place::GolemHome;
use crate::Error;
use crate::durable::sync_folder;

/// How long a host has to let go of a golem; a night that has begun is finished first.
const PATIENCE: Duration = Duration::from_secs(30);
/// Marker that tells a host to forget records of this golem in its log that cannot be carried over.
const GIVEN_UP: &str = "GIVEN-UP";

/// A golem that no host touches until this is dropped.
#[derive(Debug)]
pub struct Loan {
    place: GolemHome,
    _lock: File,
}

impl GolemHome {
    pub fn released_marker(&self) -> PathBuf {
        self.folder.join("RELEASED")
    }

    /// Whether its owner wants no host to run it.
    pub fn is_released(&self) -> bool {
        self.released_marker().exists()
    }

    /// Whether a host has to let go of it, for now or until it is told otherwise.
    pub fn is_lent(&self) -> bool {
        let taken = |folder: &Path| {
            let lock = File::open(folder).map(|folder| folder.try_lock_shared());
            matches!(lock, Ok(Err(TryLockError::WouldBlock)))
        };
        self.is_released() || taken(&self.folder)
    }

    /// Takes it out of a running host, until the loan is dropped.
    pub fn borrow(&self) -> Result<Loan, Error> {
        let lock = File::open(&self.folder).map_err(Error::io("cannot open", &self.folder))?;
        let deadline = Instant::now() + PATIENCE;
        // Another process may be holding it for a moment, only to see whether it is lent.
        while let Err(why) = lock.try_lock() {
            match why {
                TryLockError::Error(e) => return Err(Error::io("cannot lock", &self.folder)(e)),
                TryLockError::WouldBlock if Instant::now() > deadline => {
                    let name = &self.name;
                    return Err(Error::Busy(format!("another command is busy with {name}; wait for it to end")));
                }
                TryLockError::WouldBlock => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        let loan = Loan { place: self.clone(), _lock: lock };
        wait_until_let_go(self, deadline)?;
        Ok(loan)
    }

    /// Whether the owner has given up records that a host's log has and its file cannot take.
    pub fn is_given_up(&self) -> bool {
        self.folder.join(GIVEN_UP).exists()
    }
}

impl Loan {
    /// Follows the golem to the folder that it has been moved to: a host is told there that it may have it again.
    pub(crate) fn follow(&mut self, to: &GolemHome) {
        self.place = to.clone();
    }

    /// Tells a host that it may forget records it could not carry over: a copy takes the place of this life.
    pub(crate) fn give_up(&self) -> Result<(), Error> {
        let marker = self.place.folder.join(GIVEN_UP);
        fs::write(&marker, "").map_err(Error::io("cannot write", &marker))
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        // The lock must be gone when the bell is heard.
        let _ = self._lock.unlock();
        self.place.ring();
    }
}

/// Releases it: no host runs it from now on, until it is joined. Says whether one did.
pub fn release(place: &GolemHome) -> Result<bool, Error> {
    let marker = place.released_marker();
    fs::write(&marker, "")
        .and_then(|()| File::open(&marker)?.sync_all())
        .map_err(Error::io("cannot write", &marker))?;
    sync_folder(&place.folder)?;
    let was_lived = place.lodges()?;
    wait_until_let_go(place, Instant::now() + PATIENCE)?;
    Ok(was_lived)
}

/// Joins it again: a host may run it. Says whether it had been released.
pub fn join(place: &GolemHome) -> Result<bool, Error> {
    let marker = place.released_marker();
    let released = match fs::remove_file(&marker) {
        Ok(()) => true,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => false,
        Err(e) => return Err(Error::io("cannot remove", &marker)(e)),
    };
    sync_folder(&place.folder)?;
    place.ring();
    Ok(released)
}

fn wait_until_let_go(place: &GolemHome, deadline: Instant) -> Result<(), Error> {
    while place.lodges()? {
        if Instant::now() > deadline {
            return Err(Error::Busy(format!(
                "the host has not let go of {0}; try again, or stop the host if it hangs",
                place.name
            )));
        }
        place.ring();
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
