//! The last word of a program: where it may leave one, what its heir is given to read, and which files it changed. All of it lies
//! outside the tree the program works in, because agents commit what lies there and take it for instructions.

mod folder;
mod page;
mod teller;
mod tree;

use golem::Life;
use shell::legacy::remains;
use shell::{Error, GolemHome};

pub(crate) use self::folder::LifeFolder;
pub(crate) use self::teller::{EndTeller, kept_of};
pub(crate) use self::tree::{forget, note};
use super::keeper::life;
use crate::output;

/// Makes the folder of a life, with the page for it; none where that cannot be and its program does not ask for it.
pub(crate) fn prepare(
    own: impl Fn(&str) -> Option<String>,
    (place, life): (&GolemHome, &Life),
    program: &[String],
) -> Result<Option<LifeFolder>, Error> {
    let made = LifeFolder::make(own, life.id()).and_then(|folder| {
        let page = page::page(place, life).map_err(|why| why.to_string())?;
        folder.bequeath(&page).map_err(|why| why.to_string())?;
        Ok(folder)
    });
    match made {
        Ok(folder) => Ok(Some(folder)),
        Err(why) if LifeFolder::is_asked_for(program) => {
            Err(Error::Host(format!("there is no {{inheritance}}: {why}")))
        }
        Err(why) => {
            output::complain(format!("{} is left nothing to read, and can leave no last word: {why}", place.name));
            Ok(None)
        }
    }
}

/// Takes in what a life has left that died after its process had: after a kill, or by its owner while its line stood still. Once
/// another has lived since, its files are no longer known.
pub(crate) fn gather_late(
    own: impl Fn(&str) -> Option<String>,
    (place, life): (&GolemHome, &Life),
    is_newest: bool,
) -> Result<(), Error> {
    let folder = LifeFolder::of(&own, life.id());
    if !(tree::is_noted(place) || folder.is_ok_and(|folder| folder.is_there())) {
        return Ok(());
    }
    if !is_newest {
        tree::forget(place);
    }
    gather(own, place)
}

/// Takes in what the program of a life has left, its last word and the files it changed, and removes its folder. What is not found
/// again, as after a kill, stays as it was.
pub(crate) fn gather(own: impl Fn(&str) -> Option<String>, place: &GolemHome) -> Result<(), Error> {
    let (life, before) = (life(place)?, remains::read(place).unwrap_or_default());
    let (folder, mut left) = (LifeFolder::of(own, life.id()).ok(), before.clone());
    left.word = folder.as_ref().and_then(LifeFolder::testament).unwrap_or(left.word);
    left.files = tree::changed_files(place).or(left.files);
    if left != before {
        remains::write(place, &left)?;
    }
    if life.is_dead() {
        tree::forget(place);
    }
    folder.iter().for_each(LifeFolder::remove);
    Ok(())
}
