//! Renaming a golem: its folder is moved, and with it the address of its gateway and of its API. A host lets go of it
//! between two turns and takes it up again under the new name; the old name leads on for a day, see [`names`].
//!
//! [`names`]: crate::home::names

use std::fs;
use std::time::{Duration, Instant};

use golem::{GolemId, Name};
use vault::{Head, Holder, Reader, disk};

use crate::Error;
use crate::durable::sync_folder;
use crate::home::names::Renamed;
use crate::home::{GolemHome, Home};

/// How long a host that has let go of a golem may take to write down the last of it.
const PATIENCE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(20);

/// Gives a golem another name, whether it lives, is frozen or is dead. Killed at any instant it leaves the golem under
/// one of the two names, and both lead to it.
pub fn rename(place: &GolemHome, new: &Name) -> Result<Renamed, Error> {
    let (home, old) = (place.home(), &place.name);
    if old == new {
        return Err(Error::Usage(format!("it is called {new} already")));
    }
    must_not_be_released(place)?;
    let id = Reader::open(&place.database())?.id()?;
    home.must_be_free(new, Some(id))?;
    // A host and every other command keep away from it until it has its name.
    let mut loan = place.borrow()?;
    let _life = hold(home, old, id)?;
    let _names = home.hold_names()?;
    // Meanwhile it may have been released, or another folder put in the place of the one that is locked.
    must_not_be_released(place)?;
    if !place.is(id) {
        return Err(Error::Busy(format!("{old} was moved meanwhile; try again")));
    }
    home.must_be_free(new, Some(id))?;
    let renamed = home.note_rename(id, old, new)?;
    let moved = home.place(new);
    disk::before("a name").map_err(Error::io("cannot move", &place.folder))?;
    fs::rename(&place.folder, &moved.folder).map_err(Error::io("cannot move", &place.folder))?;
    sync_folder(&home.golems())?;
    disk::after("a name");
    loan.follow(&moved);
    Ok(renamed)
}

fn must_not_be_released(place: &GolemHome) -> Result<(), Error> {
    if !place.is_released() {
        return Ok(());
    }
    let name = &place.name;
    Err(Error::Refused(format!(
        "{name} is released, and another program may be using its folder; `bardo golem join {name}` takes it back"
    )))
}

/// Takes the lock of the life, so that no process runs it in the folder that is moved; none if it has no head, and so
/// cannot be run.
fn hold(home: &Home, name: &Name, id: GolemId) -> Result<Option<Head>, Error> {
    let until = Instant::now() + PATIENCE;
    loop {
        match Head::open(&home.heads(), id) {
            Ok(head) => return Ok(Some(head)),
            Err(vault::Error::NoHead(_) | vault::Error::Damaged { .. }) => return Ok(None),
            Err(vault::Error::Locked(_)) if home.is_up() && Instant::now() < until => std::thread::sleep(AGAIN),
            Err(vault::Error::Locked(path)) => {
                let holder = Holder::of(&path);
                return Err(Error::Busy(format!("{holder} is running {name}; stop it, and rename {name} then")));
            }
            Err(other) => return Err(other.into()),
        }
    }
}
