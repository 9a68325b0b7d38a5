//! Restores a whole home from its copies: made aside and checked from end to end, then moved into place. It takes the
//! newest round of which everything is there.

use std::fs;
use std::path::{Path, PathBuf};

use golem::{GolemId, Name, Usdc};
use serde::Serialize;
use vault::{Head, Seal, Treasury};

use super::backups::{self, Away, FILES, LIBRARY, Round, SEALED};
use super::copies::NOTES;
use super::parcel;
use super::restore::{self, Consent};
use super::sealed::{self, Passphrase};
use crate::durable::{aside, sync_folder};
use crate::home::{Home, data, loan};
use crate::{Error, hash, private};

/// Bytes of the largest file of a home that is not a database.
const LARGEST: u64 = 16 << 20;

/// The parts that were restored.
#[derive(Debug, Serialize)]
pub struct Restored {
    pub round: String,
    pub golems: Vec<Back>,
    pub treasury: Usdc,
    pub data: usize,
    pub keys: Vec<String>,
    /// Whether keys are in the copy and were not asked for.
    pub keys_left: bool,
    /// Golems that could not be copied then, and why.
    pub missing: Vec<(String, String)>,
    /// Newer rounds that were passed over, and why.
    pub passed_over: Vec<(String, String)>,
}

#[derive(Debug, Serialize)]
pub struct Back {
    pub name: String,
    pub tick: u64,
    pub gone: bool,
}

/// Restores a home into an empty place.
pub fn restore(root: &Path, from: &Path, keys: Option<&Passphrase>) -> Result<Restored, Error> {
    let empty = fs::read_dir(root).map_or(true, |mut entries| entries.next().is_none());
    if !empty {
        return Err(Error::Usage(format!(
            "{} is not empty; a home is restored into an empty folder: choose another with --home",
            root.display()
        )));
    }
    let whole = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let parent = whole.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent).map_err(Error::io("cannot create", parent))?;
    let mut passed_over: Vec<(String, Error)> = Vec::new();
    for (name, round) in backups::rounds_in(from).into_iter().rev() {
        let draft = Draft(aside(parent, "restore")?);
        let made = round.and_then(|round| fill(&draft.0, from, &name, &round, keys));
        match made {
            Ok(mut restored) => {
                fs::rename(&draft.0, &whole).map_err(Error::io("cannot create", &whole))?;
                sync_folder(parent)?;
                restored.passed_over = passed_over.into_iter().map(|(name, why)| (name, why.to_string())).collect();
                return Ok(restored);
            }
            Err(why) => passed_over.push((name, why)),
        }
    }
    Err(match passed_over.into_iter().next() {
        None => Error::Usage(format!("there is no backup of a home in {}", from.display())),
        Some((name, why)) => why.about(format!("nothing was restored; round {name}")),
    })
}

/// A folder that vanishes unless it was moved into place.
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn fill(root: &Path, from: &Path, name: &str, round: &Round, keys: Option<&Passphrase>) -> Result<Restored, Error> {
    let home = Home::at(root.to_owned());
    for folder in [home.golems(), home.heads(), home.data()] {
        private::folder(&folder).map_err(Error::io("cannot create", &folder))?;
    }
    for (file, hash) in &round.files {
        if hash::of_file(&plain(from, file)?)?.as_ref() != Some(hash) {
            return Err(Error::Damaged(format!("{file} is missing or not the one that was copied")));
        }
    }
    let mut sealed_keys = None;
    for file in round.files.keys() {
        let path = plain(from, file)?;
        if file.starts_with("treasury/") {
            parcel::take(&path, &Treasury::path(root), u64::MAX)?;
            Treasury::take_in(root, &home.heads())?;
            continue;
        }
        let parts: Vec<&str> = file.split('/').skip(2).collect();
        match parts[..] {
            [name] if name == SEALED => sealed_keys = Some(path),
            [name] if FILES.contains(&name) => parcel::take(&path, &root.join(name), LARGEST)?,
            [LIBRARY] => parcel::take(&path, &root.join(LIBRARY), u64::MAX)?,
            _ => return Err(Error::Damaged(format!("{file} is not part of a home"))),
        }
    }
    for (name, file) in &round.data {
        let name: Name = name.parse().map_err(|_| Error::Damaged(format!("{name} is not a name for data")))?;
        let (path, copy) = (plain(from, &format!("data/{file}"))?, home.data().join(format!("{name}.csv")));
        parcel::take(&path, &copy, u64::MAX)?;
        if *file != format!("{}.csv", data::digest(&copy)?) {
            return Err(Error::Damaged(format!("the data named {name} is not what was copied")));
        }
    }
    for plan in &round.followed {
        plan.write(&home)?;
    }
    if home.identity()? != round.home {
        return Err(Error::Damaged("home-id is missing or of another home".into()));
    }
    let golems = restore_golems(&home, from, round)?;
    let keys_left = sealed_keys.is_some() && keys.is_none();
    let keys = match (sealed_keys, keys) {
        (Some(path), Some(passphrase)) => sealed::unseal(&path, &home, passphrase)?,
        (None, Some(_)) => return Err(Error::Usage("there are no keys in this backup".into())),
        _ => Vec::new(),
    };
    sync_folder(root)?;
    let missing = round.missing.iter().map(|(name, why)| (name.clone(), why.clone())).collect();
    Ok(Restored {
        round: name.trim_end_matches(".json").to_owned(),
        golems,
        treasury: home.treasury()?.balance()?,
        data: round.data.len(),
        keys,
        keys_left,
        missing,
        passed_over: Vec::new(),
    })
}

fn restore_golems(home: &Home, from: &Path, round: &Round) -> Result<Vec<Back>, Error> {
    let consent = Consent { take_over: true, ..Consent::default() };
    let mut golems = Vec::new();
    for (name, kept) in &round.golems {
        let known: Name = name.parse().map_err(|_| Error::Damaged(format!("{name} is not a name for a golem")))?;
        let copy = plain(from, &format!("golems/{name}/{}", kept.copy))?;
        let (_, life) = restore::restore(home, &copy, Some(known.clone()), &consent).map_err(|why| why.about(name))?;
        let id: GolemId = life.id();
        if id.to_string() != kept.id || life.tick() != kept.tick {
            return Err(Error::Damaged(format!("{name}: this is not the copy that was made")));
        }
        let place = home.place(&known);
        if kept.released {
            loan::release(&place)?;
        }
        for (note, text) in kept.notes.iter().filter(|(note, _)| NOTES.contains(&note.as_str())) {
            let note = place.folder.join(note);
            fs::write(&note, text).map_err(Error::io("cannot write", &note))?;
        }
        // A golem that was moved away from here stays away, and one that was leaving goes on leaving.
        match kept.away {
            Some(Away::Leaving) => Head::open(&home.heads(), id)?.seal(Seal::Leaving)?,
            Some(Away::Gone) => Head::open(&home.heads(), id)?.seal(Seal::Gone)?,
            None => {}
        }
        golems.push(Back { name: name.clone(), tick: life.tick(), gone: kept.away.is_some() });
    }
    Ok(golems)
}

/// A path inside the folder, whatever a round says.
fn plain(folder: &Path, inside: &str) -> Result<PathBuf, Error> {
    let good = inside.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    if good && !inside.contains('\\') {
        Ok(folder.join(inside))
    } else {
        Err(Error::Damaged(format!("{inside} does not name a part of this backup")))
    }
}
