//! Copies of a life: a backup, taken while it may go on, and a move, which seals what it leaves behind.
//!
//! Every copy is made aside and gets its name only when it is whole. Beside the files stands a label that says what
//! they are; that of a move is addressed to one home and signed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use golem::hex;
use vault::{Head, Passing, Reader, Seal, archive};

use super::label::{LABEL, Label, Passage, label_of};
use crate::durable::{aside, copy_if_there, sync_folder};
use crate::home::{GolemHome, Home};
use crate::life::{Living, Silent};
use crate::{Error, Runtime, hash, private};

/// Names the folder a move was built in.
const BUILT: &str = "MOVED-FROM";
/// Names the home a move is addressed to, from the moment it has begun.
const ADDRESSEE: &str = "MOVED-TO";
/// Notes of a move beside the life it leaves.
pub(crate) const NOTES: &[&str] = &["MOVED", BUILT, ADDRESSEE];
/// Files that go along with the journal, if they are there.
const ALONG: &[&str] = &[
    "golem.toml",
    "secret",
    "world.log",
    "FROZEN",
    "GONE_HOME",
    "PLAYBOOK.md",
    "testament.json",
    "testament.md",
    "legacy.bundle",
    "inherited.bundle",
    "inheritance.bundle",
];

/// Makes a consistent copy of a life in a new folder, whether or not it is running.
pub fn backup(place: &GolemHome, to: &Path) -> Result<Label, Error> {
    let parent = must_be_free(place.home(), to)?;
    let (built, _) = build(place, &parent, None)?;
    take_stretches(&place.archive(), &built)?;
    give_name(&built, to, &parent)
}

/// Makes one of many copies of the same life. Archived segments never change again, so all copies share one of each.
pub(crate) fn backup_sharing(place: &GolemHome, to: &Path, shared: &str) -> Result<Label, Error> {
    let parent = must_be_free(place.home(), to)?;
    let (built, _) = build(place, &parent, None)?;
    let common = parent.join(shared);
    if archive::agree(&place.archive(), &common) {
        copy_stretches(&place.archive(), &common, &built)?;
        link_stretches(&common, &built)?;
    } else {
        // The life was taken back to before something that is archived, and went another way since.
        take_stretches(&place.archive(), &built)?;
    }
    give_name(&built, to, &parent)
}

/// Gives a copy of a life an archive of its own.
pub(crate) fn take_stretches(from: &Path, copy: &Path) -> Result<(), Error> {
    copy_stretches(from, &copy.join("archive"), copy)?;
    sync_folder(copy)
}

/// Gives a copy of a life an archive of its own that takes no room: the same files under a second name.
fn link_stretches(common: &Path, copy: &Path) -> Result<(), Error> {
    let (own, begins_at) = (copy.join("archive"), Reader::open(&copy.join("life.db"))?.begins_at()?);
    for file in archive::files(common, begins_at) {
        private::folder(&own).map_err(Error::io("cannot create", &own))?;
        let link = own.join(file.file_name().expect("a file has a name"));
        if fs::hard_link(&file, &link).is_err() {
            copy_if_there(&file, &own)?;
        }
        sync_folder(&own)?;
    }
    sync_folder(copy)
}

/// Copies segments that belong to this copy of a life and are not there yet, each under its name only once it is whole.
fn copy_stretches(from: &Path, to: &Path, of: &Path) -> Result<(), Error> {
    let begins_at = Reader::open(&of.join("life.db"))?.begins_at()?;
    for file in archive::files(from, begins_at) {
        let copy = to.join(file.file_name().expect("a file has a name"));
        if copy.exists() {
            continue;
        }
        private::folder(to).map_err(Error::io("cannot create", to))?;
        let draft = to.join("draft");
        private::copy(&file, &draft).map_err(Error::io("cannot copy", &file))?;
        fs::File::open(&draft).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", &draft))?;
        fs::rename(&draft, &copy).map_err(Error::io("cannot create", &copy))?;
        sync_folder(to)?;
    }
    Ok(())
}

/// Seals this life here and leaves it in `to`, from where the home it is addressed to can take it in. There is only
/// ever one complete archive: it is built aside, the seal is made final, and then it gets its name. Cut short before
/// the final seal a move starts over; after it, repeating only finishes the naming.
pub fn move_out(
    runtime: &Arc<Runtime>,
    place: &GolemHome,
    to: &Path,
    addressee: &str,
    snapshot_every: u64,
) -> Result<Label, Error> {
    let home = place.home();
    if addressee == home.identity()? {
        return Err(Error::Usage(format!("{} is in that home already", place.name)));
    }
    if addressee.parse::<golem::GolemId>().is_err() {
        return Err(Error::Usage(format!(
            "{addressee} is not the id of a home; `bardo home` prints it in the other home"
        )));
    }
    let parent = must_be_free(home, to)?;
    let mut head = match Living::open(runtime, place.clone(), snapshot_every) {
        Ok((mut living, _)) => {
            living.look_into_inbox(&mut Silent)?;
            let dying = living.life().is_dead() && !place.has_gone_home(living.life());
            if !living.golem().owes_nothing() || dying {
                return Err(Error::Busy("something is still under way; run it for a tick and try again".into()));
            }
            arrive(home, living.life().id())?;
            write(&place.folder.join(ADDRESSEE), addressee)?;
            living.into_vault().seal(&place.folder, &to.display().to_string())?
        }
        Err(Error::Vault(vault::Error::Sealed(gone_to))) => {
            let head = Head::open(&home.heads(), Reader::open(&place.database())?.id()?)?;
            let built = fs::read_to_string(place.folder.join(BUILT)).ok().map(PathBuf::from);
            let built = built.filter(|built| label_of(built).is_ok_and(|label| label.is_some()));
            match (head.anchor().seal, built) {
                (Seal::Gone, Some(built)) => return finish_move(place, &built, to, &parent),
                (Seal::Gone, None) => return Err(vault::Error::Sealed(gone_to).into()),
                _ => head,
            }
        }
        Err(other) => return Err(other),
    };
    // The first addressee is the only one, however often this is cut short.
    let begun = fs::read_to_string(place.folder.join(ADDRESSEE)).unwrap_or_default();
    if begun != addressee {
        return Err(Error::Usage(format!(
            "a move to home {begun} is already in progress; repeat it with --to {begun}"
        )));
    }
    let (built, _) = build(place, &parent, Some(addressee))?;
    take_stretches(&place.archive(), &built)?;
    write(&place.folder.join(BUILT), &built.display().to_string())?;
    head.seal(Seal::Gone)?;
    finish_move(place, &built, to, &parent)
}

/// Enters the arrival of a life that leaves, however the command that took it in ended.
fn arrive(home: &Home, id: golem::GolemId) -> Result<(), Error> {
    let mut treasury = home.treasury()?;
    for row in treasury.noted(Passing::Arriving, id)? {
        treasury.note(Passing::Arrived, id, row.number, None)?;
    }
    Ok(())
}

fn finish_move(place: &GolemHome, built: &Path, to: &Path, parent: &Path) -> Result<Label, Error> {
    let label = label_of(built)?.ok_or_else(|| vault::Error::Missing(built.to_owned()))?;
    let (id, mut treasury) = (Reader::open(&place.database())?.id()?, place.home().treasury()?);
    if let Some(passage) = &label.passage {
        treasury.note(Passing::Left, id, passage.departure, None)?;
    }
    let note = place.folder.join("MOVED");
    fs::write(&note, to.display().to_string()).map_err(Error::io("cannot write", &note))?;
    fs::rename(built, to).map_err(Error::io("cannot create", to))?;
    sync_folder(parent)?;
    Ok(label)
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).and_then(|()| fs::File::open(path)?.sync_all()).map_err(Error::io("cannot write", path))
}

/// The parent of the folder `to`.
fn must_be_free(home: &Home, to: &Path) -> Result<PathBuf, Error> {
    if to.symlink_metadata().is_ok() {
        return Err(Error::Usage(format!("{} is already there; choose a new folder", to.display())));
    }
    let whole = std::path::absolute(to).unwrap_or_else(|_| to.to_owned());
    let parent = whole.parent().unwrap_or(Path::new("/")).to_owned();
    must_be_outside(home, &parent)?;
    private::folder(&parent).map_err(Error::io("cannot create", &parent))?;
    must_be_outside(home, &parent)?;
    Ok(parent)
}

/// Refuses a place inside the home's golems, whatever the path to it is called.
pub fn must_be_outside(home: &Home, folder: &Path) -> Result<(), Error> {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let golems = fs::canonicalize(home.golems()).unwrap_or_else(|_| home.golems());
    let there = whole.ancestors().find_map(|known| fs::canonicalize(known).ok());
    if there.is_some_and(|there| there.starts_with(&golems)) {
        return Err(Error::Usage("choose a folder outside the home's golems: a copy in there would be a golem".into()));
    }
    Ok(())
}

fn give_name(built: &Path, to: &Path, parent: &Path) -> Result<Label, Error> {
    fs::rename(built, to).map_err(Error::io("cannot create", to))?;
    sync_folder(parent)?;
    label_of(to)?.ok_or_else(|| vault::Error::Missing(to.to_owned()).into())
}

/// Copies everything of a life into a folder aside, complete and synced; with an addressee it is a move.
fn build(place: &GolemHome, parent: &Path, addressee: Option<&str>) -> Result<(PathBuf, Label), Error> {
    let built = aside(parent, "archive")?;
    let done = fill(place, &built, addressee);
    if done.is_err() {
        let _ = fs::remove_dir_all(&built);
    }
    Ok((built, done?))
}

fn fill(place: &GolemHome, built: &Path, addressee: Option<&str>) -> Result<Label, Error> {
    // The journal first: whatever the world did later belongs to ticks this copy does not have.
    Reader::open(&place.database())?.copy_to(&built.join("life.db"))?;
    let mut files = BTreeMap::new();
    for name in ALONG {
        copy_if_there(&place.folder.join(name), built)?;
        if let Some(hash) = hash::of_file(&built.join(name))? {
            files.insert((*name).to_owned(), hash);
        }
    }
    let reader = Reader::open(&built.join("life.db"))?;
    let (golem, _) = reader.wake()?;
    let life = golem.life();
    let mut label = Label {
        name: place.name.clone(),
        id: life.id().to_string(),
        tick: life.tick(),
        records: golem.seq(),
        tip: hex::encode(&reader.tip()?.hash),
        deposits: life.deposits_made(),
        files,
        passage: None,
    };
    if let Some(addressee) = addressee {
        let departure = place.home().treasury()?.noted(Passing::Left, life.id())?.len() as u64 + 1;
        Passage::sign(&mut label, place.home(), addressee, departure)?;
    }
    write(&built.join(LABEL), &serde_json::to_string_pretty(&label).expect("plain data"))?;
    sync_folder(built)?;
    Ok(label)
}
