//! The way onto the owner's shelf, for everything that leaves a golem's memory, alive or dead.

use golem::Life;
use golem::grimoire::Entry;
use golem::grimoire::bundle::export;
use golem::inheritance::{Way, has_tried, may_leave};
use vault::library::{By, Shelved};

use crate::Error;
use crate::home::GolemHome;

/// How many of the offered entries were added or kept back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub added: u64,
    /// Not sure enough, or too many at once.
    pub kept_back: u64,
}

/// Puts those of these entries on the shelf that may go there. Done again it adds nothing.
pub fn leave<'a>(
    place: &GolemHome,
    life: &Life,
    entries: impl Iterator<Item = &'a Entry>,
    way: Way,
) -> Result<Tally, Error> {
    let (mut library, mut tally, now_ms) = (place.home().library()?, Tally::default(), place.home().wall().now_ms());
    for entry in entries {
        if !may_leave(entry, life, way) {
            tally.kept_back += 1;
            continue;
        }
        let tried = has_tried(entry, life);
        let by = By { golem: life.id(), name: place.name.as_str(), tried, stranger: false, limited: way.is_limited() };
        match library.shelve(&export(entry, life), by, now_ms)? {
            Shelved::New | Shelved::Known => tally.added += 1,
            Shelved::TooMany => tally.kept_back += 1,
            Shelved::Again => {}
        }
    }
    Ok(tally)
}
