//! Birth, backup, restore and move: everything that makes, copies or hands on the files of a life.
//!
//! One life must not become two. A move seals what it leaves behind; a moved archive can be taken in once;
//! a backup older than what this home has acknowledged is refused unless the owner rewinds on purpose, and
//! never once the treasury has received money the backup still holds.

use std::fs;
use std::path::{Path, PathBuf};

use golem::life::Birth;
use golem::world::Manifest;
use golem::{Golem, GolemId, Life, Name, laws};
use serde::{Deserialize, Serialize};
use vault::{Anchor, Head, Place, Reader, Vault};
use world::{Ledger, Spec};

use crate::Error;
use crate::chance::{self, Secret};
use crate::config::Settings;
use crate::home::{GolemHome, Home};
use crate::living::{Living, Silent};

/// What kind of golem to make.
#[derive(Debug)]
pub struct Wish {
    pub name: Name,
    pub spec: Spec,
    /// Derive identity, secret and world from this, so that the life can be repeated.
    pub seed: Option<u64>,
    pub settings: Settings,
}

/// What stands beside the files in an archive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Label {
    pub name: Name,
    pub id: String,
    pub tick: u64,
    pub records: u64,
    /// The source was sealed: this archive is the life now.
    pub moved: bool,
}

/// What an owner is willing to give up to have a backup back.
#[derive(Clone, Copy, Debug, Default)]
pub struct Consent {
    /// Acknowledged ticks of the same life in this home.
    pub rewind: bool,
    /// The certainty that no other home is still living it.
    pub take_over: bool,
}

const LABEL: &str = "backup.json";
const ADOPTED: &str = "ADOPTED";

/// Brings a golem into the world and funds it.
pub fn birth(home: &Home, wish: Wish) -> Result<Living, Error> {
    let mut treasury = home.treasury()?;
    let place = home.place(&wish.name);
    if place.folder.exists() {
        return Err(Error::NameTaken(wish.name));
    }
    let constitution = wish.settings.constitution()?;
    let (credit, capital) = (wish.settings.money("funds.credit"), wish.settings.money("funds.capital"));
    let there = treasury.balance()?;
    if credit + capital > there {
        return Err(vault::Error::TreasuryShort { asked: credit + capital, there }.into());
    }

    let spec = serde_json::to_string(&wish.spec).expect("a spec is plain data");
    let world = home.open_world(&spec, Ledger::memory())?;
    let manifest = Manifest { spec, ..world.manifest() };
    if !constitution.interval.as_millis().is_multiple_of(manifest.bar.as_millis()) {
        return Err(Error::Advice(format!(
            "this world moves in steps of {}; set heartbeat.interval to a multiple of that",
            manifest.bar
        )));
    }
    let secret = wish.seed.map_or_else(Secret::draw, |seed| Secret::from_seed(seed, wish.name.as_str()));
    let birth = Birth {
        id: chance::identity(wish.seed, wish.name.as_str()),
        name: wish.name.clone(),
        generation: 0,
        laws: laws::NEWEST,
        secret_hash: secret.hash(),
        seeded: wish.seed.is_some(),
        constitution,
        world: manifest,
    };
    if Head::peek(&home.heads(), birth.id).is_some() {
        return Err(Error::Advice(format!(
            "a golem with this seed and name has lived here before; choose another seed or name than {}",
            wish.name
        )));
    }

    // Made aside and moved into place whole: a birth cut short leaves no half-made golem behind.
    let cradle = home.golems().join(format!(".birth-{}", wish.name));
    let _ = fs::remove_dir_all(&cradle);
    fs::create_dir_all(&cradle).map_err(Error::io("cannot create", &cradle))?;
    let config = cradle.join("golem.toml");
    fs::write(&config, wish.settings.to_toml()).map_err(Error::io("cannot write", &config))?;
    secret.save(&cradle.join("secret"))?;
    let (golem, record) = Golem::born(birth, world.start());
    let nursery = Place { folder: cradle.clone(), heads: home.heads() };
    drop(Vault::create(&nursery, &record, golem.life(), 1)?);
    fs::rename(&cradle, &place.folder).map_err(Error::io("cannot create", &place.folder))?;
    sync_folder(&home.golems())?;

    treasury.send(golem.life().id(), 0, credit, capital)?;
    let (mut living, _) = Living::open(place, 1)?;
    living.take_money(&mut Silent)?;
    Ok(living)
}

/// A consistent copy of a life into a new folder, whether or not it is being lived.
pub fn backup(place: &GolemHome, to: &Path) -> Result<Label, Error> {
    archive(place, to, false)
}

/// Seals this life here and leaves it in `to`, from where another home can take it in. Cut short, it can be
/// repeated: the source stays sealed and the archive is completed.
pub fn move_out(place: &GolemHome, to: &Path, snapshot_every: u64) -> Result<Label, Error> {
    match Living::open(place.clone(), snapshot_every) {
        Ok((living, _)) => {
            if !living.golem().owes_nothing() {
                return Err(Error::Advice("something is still under way; run it for a tick and try again".into()));
            }
            living.into_vault().seal(&place.folder, &to.display().to_string())?;
        }
        Err(Error::Vault(vault::Error::Sealed(_))) if !to.exists() => {}
        Err(other) => return Err(other),
    }
    archive(place, to, true)
}

fn archive(place: &GolemHome, to: &Path, moved: bool) -> Result<Label, Error> {
    if to.exists() {
        return Err(Error::Advice(format!("{} is already there; choose a new folder", to.display())));
    }
    let partial = to.with_extension("partial");
    let _ = fs::remove_dir_all(&partial);
    fs::create_dir_all(&partial).map_err(Error::io("cannot create", &partial))?;
    // The journal first: whatever the world did later belongs to ticks this copy does not have.
    Reader::open(&place.database())?.copy_to(&partial.join("life.db"))?;
    for file in [place.config(), place.secret(), place.ledger()] {
        copy_if_there(&file, &partial)?;
    }
    let (golem, _) = Reader::open(&partial.join("life.db"))?.wake()?;
    let label = Label {
        name: place.name.clone(),
        id: golem.life().id().to_string(),
        tick: golem.life().tick,
        records: golem.seq(),
        moved,
    };
    let path = partial.join(LABEL);
    fs::write(&path, serde_json::to_vec_pretty(&label).expect("plain data"))
        .map_err(Error::io("cannot write", &path))?;
    sync_folder(&partial)?;
    fs::rename(&partial, to).map_err(Error::io("cannot create", to))?;
    Ok(label)
}

/// Takes a backup, a moved life or a hand-made copy of a golem's folder into this home.
pub fn restore(home: &Home, from: &Path, name: Option<Name>, consent: Consent) -> Result<(Name, Life), Error> {
    let treasury = home.treasury()?;
    let reader = Reader::open(&from.join("life.db"))?;
    let tip = reader.tip()?;
    let (golem, _) = reader.verify(Path::new(""))?;
    let (life, id) = (golem.life(), golem.life().id());
    let label: Option<Label> = fs::read(from.join(LABEL)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let moved = label.as_ref().is_some_and(|label| label.moved);
    if let Some(label) = &label
        && label.records != golem.seq()
    {
        let (here, known) = (golem.seq(), label.records);
        return Err(vault::Error::Stale { here, known }.into());
    }
    let secret = Secret::load(&from.join("secret"))?;
    if secret.hash() != life.birth.secret_hash {
        return Err(Error::WrongSecret(from.join("secret")));
    }
    if treasury.received(id)? > life.deposits_made {
        return Err(Error::Advice(
            "the treasury has since received money that this copy still holds; it cannot be restored here".into(),
        ));
    }
    may_replace(home, id, &tip, moved, consent)?;
    if moved {
        adopt(from)?;
    }
    let name = name.unwrap_or_else(|| life.birth.name.clone());
    put_in_place(home, from, &name, &golem)?;
    drop(Head::create(&home.heads(), id, tip)?);
    Ok((name, life.clone()))
}

/// Whether this copy may become the life this home knows.
fn may_replace(home: &Home, id: GolemId, tip: &Anchor, moved: bool, consent: Consent) -> Result<(), Error> {
    if Head::is_taken(&home.heads(), id) {
        return Err(vault::Error::Locked(Head::path(&home.heads(), id)).into());
    }
    match Head::peek(&home.heads(), id) {
        None if moved || consent.take_over => Ok(()),
        None => Err(Error::Advice(
            "this home has never seen this life, and the original may still be running elsewhere; two copies of one \
             life would spend twice. If the original is gone for good, repeat with --take-over; to bring a living \
             golem over, use `bardo golem move` there"
                .into(),
        )),
        Some(known) if known.sealed && moved && known.seq == tip.seq => Ok(()),
        Some(known) if consent.rewind && !known.sealed => Ok(()),
        Some(known) if known.seq > tip.seq => Err(Error::Advice(format!(
            "this copy ends at record {}, but this home has acknowledged record {} of the same life; restoring \
             would undo what happened since. If that is what you want, repeat with --rewind",
            tip.seq, known.seq
        ))),
        Some(known) if known.sealed => Err(vault::Error::Sealed("another home".into()).into()),
        Some(known) if known.hash != tip.hash => Err(vault::Error::Forked(tip.seq).into()),
        Some(_) if exists_here(home, id)? => {
            Err(Error::Advice("this life is here already and nothing of it is missing".into()))
        }
        Some(_) => Ok(()),
    }
}

fn exists_here(home: &Home, id: GolemId) -> Result<bool, Error> {
    let same = |place: &GolemHome| Reader::open(&place.database()).and_then(|r| r.id()).is_ok_and(|other| other == id);
    Ok(home.list()?.iter().any(same))
}

/// A moved archive is taken in once.
fn adopt(from: &Path) -> Result<(), Error> {
    let path = from.join(ADOPTED);
    let new = fs::OpenOptions::new().write(true).create_new(true).open(&path);
    match new {
        Ok(file) => file.sync_all().map_err(Error::io("cannot write", &path)),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Err(Error::Advice(
            "this archive has been taken in by a home already; of two copies of one life, one must stay asleep".into(),
        )),
        Err(e) => Err(Error::io("cannot write", &path)(e)),
    }
}

fn put_in_place(home: &Home, from: &Path, name: &Name, golem: &Golem) -> Result<(), Error> {
    let id = golem.life().id();
    let place = home.place(name);
    let crib = home.golems().join(format!(".restore-{name}"));
    let _ = fs::remove_dir_all(&crib);
    fs::create_dir_all(&crib).map_err(Error::io("cannot create", &crib))?;
    Reader::open(&from.join("life.db"))?.copy_to(&crib.join("life.db"))?;
    for file in ["golem.toml", "secret", "world.log"] {
        copy_if_there(&from.join(file), &crib)?;
    }
    Ledger::file(crib.join("world.log"))?.forget_after(golem.life().flights_made)?;

    // Whatever of this life is here already goes to the attic; another golem of that name stays.
    for old in home.list()? {
        let same = Reader::open(&old.database()).and_then(|r| r.id()).is_ok_and(|other| other == id);
        if same {
            fs::create_dir_all(home.attic()).map_err(Error::io("cannot create", &home.attic()))?;
            let kept = free_name(&home.attic(), old.name.as_str());
            fs::rename(&old.folder, &kept).map_err(Error::io("cannot set aside", &old.folder))?;
        }
    }
    if place.folder.exists() {
        return Err(Error::NameTaken(name.clone()));
    }
    fs::rename(&crib, &place.folder).map_err(Error::io("cannot create", &place.folder))?;
    sync_folder(&home.golems())
}

fn free_name(folder: &Path, name: &str) -> PathBuf {
    (1..).map(|n| folder.join(format!("{name}-{n}"))).find(|path| !path.exists()).expect("some number is free")
}

fn copy_if_there(file: &Path, folder: &Path) -> Result<(), Error> {
    if !file.exists() {
        return Ok(());
    }
    let copy = folder.join(file.file_name().expect("a file has a name"));
    fs::copy(file, &copy).map_err(Error::io("cannot copy", file))?;
    fs::File::open(&copy).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", &copy))
}

fn sync_folder(folder: &Path) -> Result<(), Error> {
    fs::File::open(folder).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", folder))
}
