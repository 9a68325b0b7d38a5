//! Birth, backup, restore and move: everything that makes, copies or hands on the files of a life.
//!
//! One life must not become two. A move seals what it leaves behind; a moved archive can be taken in once;
//! a backup older than what this home has acknowledged is refused unless the owner rewinds on purpose, and
//! never once the treasury has received money the backup still holds.

use std::fs;
use std::path::{Path, PathBuf};

use golem::inheritance::Descent;
use golem::life::{Birth, Endowment};
use golem::world::Manifest;
use golem::{Golem, GolemId, Life, Name, laws};
use serde::{Deserialize, Serialize};
use vault::archive;
use vault::{Anchor, Head, Place, Reader, Seal, Vault};
use world::{Ledger, Spec};

use crate::Error;
use crate::books;
use crate::chance::{self, Secret};
use crate::config::{File, Settings};
use crate::home::{GolemHome, Home};
use crate::living::{Living, Silent};
use crate::private;

/// What kind of golem to make.
#[derive(Debug)]
pub struct Wish {
    pub name: Name,
    pub spec: Spec,
    /// Derive identity, secret and world from this, so that the life can be repeated.
    pub seed: Option<u64>,
    pub settings: Settings,
    /// Whom it comes from, and what it is left, as a bundle.
    pub descent: Option<Descent>,
    pub bundle: Option<String>,
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
/// Names the folder a move was built in.
const BUILT: &str = "MOVED-FROM";

/// Brings a golem into the world and funds it.
pub fn birth(home: &Home, wish: Wish) -> Result<Living, Error> {
    let place = home.place(&wish.name);
    if place.folder.exists() {
        return Err(Error::NameTaken(wish.name));
    }
    let constitution = wish.settings.constitution()?;
    let endowment =
        Endowment { credit: wish.settings.money("funds.credit"), capital: wish.settings.money("funds.capital") };
    let (asked, there) = (endowment.credit + endowment.capital, home.treasury()?.balance()?);
    if asked > there {
        return Err(vault::Error::TreasuryShort { asked, there }.into());
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
    if !constitution.policy.fits(&manifest) {
        let actions: Vec<&str> = manifest.actions.iter().map(|action| action.name.as_str()).collect();
        let known = actions.join(", ");
        return Err(Error::Advice(format!("policy.allow names an action this world does not have; it has {known}")));
    }
    let domains: Vec<&str> = manifest.domains.iter().map(|domain| domain.name.as_str()).collect();
    if constitution.stress.objectives.len() > domains.len() {
        return Err(Error::Advice("stress.objectives names a domain twice".to_owned()));
    }
    if let Some(unknown) = constitution.stress.objectives.iter().find(|name| !domains.contains(&name.as_str())) {
        let known = domains.join(", ");
        return Err(Error::Advice(format!("stress.objectives names {unknown}; the domains of this world are {known}")));
    }
    let secret = wish.seed.map_or_else(Secret::draw, |seed| Secret::from_seed(seed, wish.name.as_str()));
    let birth = Birth {
        id: chance::identity(wish.seed, wish.name.as_str()),
        name: wish.name.clone(),
        generation: wish.descent.as_ref().map_or(0, |descent| descent.generation),
        laws: laws::NEWEST,
        secret_hash: secret.hash(),
        seeded: wish.seed.is_some(),
        constitution,
        world: manifest,
        endowment,
        lineage: wish.descent.as_ref().map(|descent| descent.lineage.clone()),
        unfinished: wish.descent.as_ref().map(|descent| descent.unfinished.clone()).unwrap_or_default(),
    };
    // A head without its first money is a birth that was cut short: nobody has lived there.
    if Head::peek(&home.heads(), birth.id).is_some_and(|anchor| anchor.seq > 1) {
        return Err(Error::Advice(format!(
            "a golem with this seed and name has lived here before; choose another seed or name than {}",
            wish.name
        )));
    }

    // Made aside and moved into place whole: a birth cut short leaves no half-made golem behind.
    let id = birth.id;
    let cradle = aside(&home.golems(), "birth")?;
    let config = cradle.join("golem.toml");
    fs::write(&config, wish.settings.to_toml()).map_err(Error::io("cannot write", &config))?;
    secret.save(&cradle.join("secret"))?;
    if let Some(bundle) = &wish.bundle {
        let path = cradle.join("inheritance.bundle");
        fs::write(&path, bundle).map_err(Error::io("cannot write", &path))?;
    }
    // The marker needs nobody's cooperation, of an heir as of anyone.
    if let Some(line) = birth.lineage.as_ref().filter(|line| line.frozen) {
        let path = cradle.join("FROZEN");
        let reason = format!("{} was frozen when it died", line.parent_name);
        fs::write(&path, reason).map_err(Error::io("cannot write", &path))?;
    }
    let begins = wish.descent.as_ref().map_or(world.start(), |descent| descent.begins.max(world.start()));
    let (golem, record) = Golem::born(birth, begins);
    let nursery = Place { folder: cradle.clone(), heads: home.heads() };
    drop(Vault::create(&nursery, &record, golem.life(), 1)?);
    sync_folder(&cradle)?;
    if fs::rename(&cradle, &place.folder).is_err() {
        let _ = fs::remove_dir_all(&cradle);
        return Err(Error::NameTaken(wish.name));
    }
    sync_folder(&home.golems())?;

    let opened = match Living::open(place.clone(), 1) {
        Ok((living, _)) if living.life().is_dead() => Err(vault::Error::LineEnded.into()),
        Ok((living, _)) => return Ok(living),
        Err(why) => Err(why),
    };
    if let Err(Error::Vault(vault::Error::TreasuryShort { .. } | vault::Error::LineEnded)) = opened {
        // Somebody else was quicker, with the money or with a word: this birth never was.
        let _ = fs::remove_dir_all(&place.folder);
        let _ = fs::remove_file(Head::path(&home.heads(), id));
    }
    opened
}

/// A consistent copy of a life into a new folder, whether or not it is being lived.
pub fn backup(place: &GolemHome, to: &Path) -> Result<Label, Error> {
    let parent = must_be_free(place, to)?;
    let built = build_archive(place, &parent, false)?;
    take_stretches(&place.archive(), &built)?;
    give_name(&built, to, &parent)
}

/// One of many copies of the same life. What has left its file never changes again, so all of them share one of that.
pub(crate) fn backup_sharing(place: &GolemHome, to: &Path, shared: &str) -> Result<Label, Error> {
    let parent = must_be_free(place, to)?;
    let built = build_archive(place, &parent, false)?;
    let (own, common) = (built.join("archive"), parent.join(shared));
    if archive::agree(&place.archive(), &common) {
        copy_stretches(&place.archive(), &common, &built)?;
        if common.exists() {
            std::os::unix::fs::symlink(Path::new("..").join(shared), &own).map_err(Error::io("cannot create", &own))?;
        }
        sync_folder(&built)?;
    } else {
        // It was taken back to before something that is archived, and went another way since.
        take_stretches(&place.archive(), &built)?;
    }
    give_name(&built, to, &parent)
}

/// Gives a copy of a life an archive of its own.
fn take_stretches(from: &Path, copy: &Path) -> Result<(), Error> {
    copy_stretches(from, &copy.join("archive"), copy)?;
    sync_folder(copy)
}

/// Copies what belongs to this copy of a life and is not there yet, each under its name only once it is whole.
fn copy_stretches(from: &Path, to: &Path, of: &Path) -> Result<(), Error> {
    let begins_at = Reader::open(&of.join("life.db"))?.begins_at()?;
    for file in archive::files(from, begins_at) {
        let copy = to.join(file.file_name().expect("a file has a name"));
        if copy.exists() {
            continue;
        }
        fs::create_dir_all(to).map_err(Error::io("cannot create", to))?;
        let draft = to.join("draft");
        private::copy(&file, &draft).map_err(Error::io("cannot copy", &file))?;
        fs::File::open(&draft).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", &draft))?;
        fs::rename(&draft, &copy).map_err(Error::io("cannot create", &copy))?;
        sync_folder(to)?;
    }
    Ok(())
}

/// Seals this life here and leaves it in `to`, from where another home can take it in. There is only ever one
/// complete archive: it is built aside, the seal is made final, and then it gets its name. Cut short before the
/// final seal a move starts over; after it, repeating only finishes the naming.
pub fn move_out(place: &GolemHome, to: &Path, snapshot_every: u64) -> Result<Label, Error> {
    let parent = must_be_free(place, to)?;
    let mut head = match Living::open(place.clone(), snapshot_every) {
        Ok((mut living, _)) => {
            living.look_into_inbox(&mut Silent)?;
            if !living.golem().owes_nothing() {
                return Err(Error::Advice("something is still under way; run it for a tick and try again".into()));
            }
            living.into_vault().seal(&place.folder, &to.display().to_string())?
        }
        Err(Error::Vault(vault::Error::Sealed(gone_to))) => {
            let head = Head::open(&place.home().heads(), Reader::open(&place.database())?.id()?)?;
            let built = fs::read_to_string(place.folder.join(BUILT)).ok().map(PathBuf::from);
            let built = built.filter(|built| label_of(built).is_some());
            match (head.anchor().seal, built) {
                (Seal::Gone, Some(built)) => return finish_move(place, &built, to, &parent),
                (Seal::Gone, None) => return Err(vault::Error::Sealed(gone_to).into()),
                _ => head,
            }
        }
        Err(other) => return Err(other),
    };
    let built = build_archive(place, &parent, true)?;
    take_stretches(&place.archive(), &built)?;
    let note = place.folder.join(BUILT);
    fs::write(&note, built.display().to_string())
        .and_then(|()| fs::File::open(&note)?.sync_all())
        .map_err(Error::io("cannot write", &note))?;
    head.seal(Seal::Gone)?;
    finish_move(place, &built, to, &parent)
}

fn finish_move(place: &GolemHome, built: &Path, to: &Path, parent: &Path) -> Result<Label, Error> {
    let label = label_of(built).ok_or_else(|| vault::Error::Missing(built.to_owned()))?;
    let note = place.folder.join("MOVED");
    fs::write(&note, to.display().to_string()).map_err(Error::io("cannot write", &note))?;
    fs::rename(built, to).map_err(Error::io("cannot create", to))?;
    sync_folder(parent)?;
    Ok(label)
}

fn label_of(archive: &Path) -> Option<Label> {
    serde_json::from_slice(&fs::read(archive.join(LABEL)).ok()?).ok()
}

/// The folder `to` will stand in. A home is no place for copies of its own golems.
fn must_be_free(place: &GolemHome, to: &Path) -> Result<PathBuf, Error> {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if to.exists() {
        return Err(Error::Advice(format!("{} is already there; choose a new folder", to.display())));
    }
    if whole(to).starts_with(whole(place.home().root()).join("golems")) {
        return Err(Error::Advice(
            "choose a folder outside the home's golems: a copy in there would be a golem".into(),
        ));
    }
    let parent = whole(to).parent().unwrap_or(Path::new("/")).to_owned();
    fs::create_dir_all(&parent).map_err(Error::io("cannot create", &parent))?;
    Ok(parent)
}

fn give_name(built: &Path, to: &Path, parent: &Path) -> Result<Label, Error> {
    fs::rename(built, to).map_err(Error::io("cannot create", to))?;
    sync_folder(parent)?;
    label_of(to).ok_or_else(|| vault::Error::Missing(to.to_owned()).into())
}

/// Everything of a life in a folder aside, complete and synced.
fn build_archive(place: &GolemHome, parent: &Path, moved: bool) -> Result<PathBuf, Error> {
    let built = aside(parent, "archive")?;
    // The journal first: whatever the world did later belongs to ticks this copy does not have.
    Reader::open(&place.database())?.copy_to(&built.join("life.db"))?;
    for file in [place.config(), place.secret(), place.ledger(), place.frozen_marker()] {
        copy_if_there(&file, &built)?;
    }
    let (golem, _) = Reader::open(&built.join("life.db"))?.wake()?;
    let label = Label {
        name: place.name.clone(),
        id: golem.life().id().to_string(),
        tick: golem.life().tick,
        records: golem.seq(),
        moved,
    };
    let path = built.join(LABEL);
    fs::write(&path, serde_json::to_vec_pretty(&label).expect("plain data"))
        .and_then(|()| fs::File::open(&path)?.sync_all())
        .map_err(Error::io("cannot write", &path))?;
    sync_folder(&built)?;
    Ok(built)
}

/// A life that wants to come in.
struct Arrival<'a> {
    from: &'a Path,
    reader: Reader,
    golem: Golem,
    moved: bool,
}

/// Takes a backup, a moved life or a hand-made copy of a golem's folder into this home.
pub fn restore(home: &Home, from: &Path, name: Option<Name>, consent: Consent) -> Result<(Name, Life), Error> {
    home.require()?;
    let arrival = Arrival::look_at(from)?;
    let (life, id) = (arrival.golem.life(), arrival.golem.life().id());
    let name = name.unwrap_or_else(|| life.birth.name.clone());
    let place = home.place(&name);
    if place.folder.exists() && !place.is(id) {
        return Err(Error::NameTaken(name));
    }
    // What a host log still has of the life that is here must not come back into the copy.
    if place.folder.exists() {
        place.catch_up()?;
    }
    // From here to the end nobody else may live, move or restore this life.
    let (mut head, known) = lock(home, id, consent)?;
    if let Err(refused) = arrival.come_in(home, &place, known, consent) {
        if known.is_none() {
            let _ = fs::remove_file(Head::path(&home.heads(), id));
        }
        return Err(refused);
    }
    head.set(arrival.reader.tip()?)?;
    Ok((name, life.clone()))
}

impl Arrival<'_> {
    /// Everything about it is checked before anything here is touched.
    fn look_at(from: &Path) -> Result<Arrival<'_>, Error> {
        let reader = Reader::open(&from.join("life.db"))?;
        let (golem, _) = reader.verify(Path::new(""))?;
        let label = label_of(from);
        let moved = label.as_ref().is_some_and(|label| label.moved);
        if let Some(known) = label.map(|label| label.records).filter(|known| *known != golem.seq()) {
            return Err(vault::Error::Stale { here: golem.seq(), known }.into());
        }
        file_yields_birth(from, &golem.life().birth)?;
        if golem.life().transfers_taken == 0 {
            return Err(Error::Advice(
                "it was never given its first money, so it has never lived; make a new one".into(),
            ));
        }
        if Secret::load(&from.join("secret"))?.hash() != golem.life().birth.secret_hash {
            return Err(Error::WrongSecret(from.join("secret")));
        }
        Ok(Arrival { from, reader, golem, moved })
    }

    fn come_in(&self, home: &Home, place: &GolemHome, known: Option<Anchor>, consent: Consent) -> Result<(), Error> {
        self.may_replace(home, known, consent)?;
        money_allows(home, self.golem.life())?;
        let crib = make_ready(home, self.from, &self.golem)?;
        if self.moved
            && let Err(taken) = adopt(home, self.from)
        {
            let _ = fs::remove_dir_all(&crib);
            return Err(taken);
        }
        if self.moved || known.is_none() {
            books::Arrival::declare(&mut home.treasury()?, self.golem.life())?;
        }
        put_in_place(home, &crib, place, self.golem.life().id())
    }

    /// Whether this copy may become the life this home knows.
    fn may_replace(&self, home: &Home, known: Option<Anchor>, consent: Consent) -> Result<(), Error> {
        let (tip, moved) = (self.reader.tip()?, self.moved);
        let Some(known) = known else {
            return if moved || consent.take_over { Ok(()) } else { Err(Error::Advice(STRANGE.into())) };
        };
        // A copy that has what is known here, and perhaps more, goes on from it.
        let goes_on = match self.reader.hash_at(known.seq) {
            // It cannot be asked; who wants it anyway has said so.
            Err(vault::Error::Archived { .. }) if consent.rewind => false,
            found => found? == Some(known.hash),
        };
        let here = home.list()?.iter().any(|place| place.is(self.golem.life().id()));
        match (known.seal, goes_on) {
        (Seal::Open, _) if consent.rewind => Ok(()),
        (Seal::Open, true) if here && tip.seq == known.seq => {
            Err(Error::Advice("this life is here already and nothing of it is missing".into()))
        }
        (Seal::Open, true) if here => Err(Error::Advice(
            "this life is here already, and the copy goes on from it; if the copy is the one to keep, repeat with --rewind"
                .into(),
        )),
        (Seal::Open, true) => Ok(()),
        (Seal::Open, false) if known.seq > tip.seq => Err(Error::Advice(format!(
            "this copy ends at record {}, but this home has acknowledged record {} of the same life; restoring \
             would undo what happened since. If that is what you want, repeat with --rewind",
            tip.seq, known.seq
        ))),
        (Seal::Open, false) => Err(vault::Error::Forked(known.seq).into()),
        (_, true) if moved => Ok(()),
        _ => Err(vault::Error::Sealed("another home; only the archive of a later move brings it back".into()).into()),
    }
    }
}

/// The file beside a life decides nothing; one that says something else than the birth was put there to mislead.
fn file_yields_birth(from: &Path, birth: &Birth) -> Result<(), Error> {
    let path = from.join("golem.toml");
    if !path.exists() {
        return Ok(());
    }
    let settings = Settings::load(File::Golem, Some(&path), std::iter::empty(), &[])?;
    let Some((key, says, is)) = settings.contradicts(birth)? else { return Ok(()) };
    let (name, path) = (&birth.name, path.display());
    Err(Error::Advice(format!(
        "{path} says {key} = {says}, but {name} was born with {is}; only the birth counts: take the line out of the file, or \
         the file away, and try again"
    )))
}

/// The life's lock, and what is known of it; a life never seen here gets a head that knows nothing yet.
fn lock(home: &Home, id: GolemId, consent: Consent) -> Result<(Head, Option<Anchor>), Error> {
    let nothing = Anchor { seq: 0, hash: [0; 32], seal: Seal::Open };
    match Head::open(&home.heads(), id) {
        Ok(head) => {
            let known = head.anchor();
            Ok((head, Some(known).filter(|known| known.seq > 0)))
        }
        Err(vault::Error::NoHead(_)) => Ok((Head::create(&home.heads(), id, nothing)?, None)),
        Err(vault::Error::Damaged { .. }) if consent.rewind || consent.take_over => {
            Ok((Head::create(&home.heads(), id, nothing)?, None))
        }
        Err(other) => Err(other.into()),
    }
}

const STRANGE: &str = "this home has never seen this life, and the original may still be running elsewhere; two copies \
     of one life would spend twice. If the original is gone for good, repeat with --take-over; to bring a living golem \
     over, use `bardo golem move` there";

/// Money the copy still holds must not have arrived elsewhere, and money it lacks must be there to be sent again.
fn money_allows(home: &Home, copy: &Life) -> Result<(), Error> {
    let treasury = home.treasury()?;
    let known = home.list()?.into_iter().find(|place| place.is(copy.id()));
    let known = known.and_then(|place| Reader::open(&place.database()).ok()?.wake().ok()).map(|(golem, _)| golem);
    let returned = known.as_ref().map_or(0, |golem| golem.life().deposits_made).max(treasury.received(copy.id())?);
    if returned > copy.deposits_made {
        return Err(Error::Advice(
            "money that this copy still holds has been returned to a treasury since; it cannot be restored".into(),
        ));
    }
    let taken = known.as_ref().map_or(0, |golem| golem.life().transfers_taken);
    let again = treasury.undelivered(copy.id(), copy.transfers_taken)?.iter().filter(|t| t.number <= taken).count();
    if taken > copy.transfers_taken + again as u64 {
        return Err(Error::Advice(
            "another home's treasury has funded this life since; it cannot be restored to before that".into(),
        ));
    }
    Ok(())
}

/// A moved archive is taken in by one home; that home may try again. The mark appears whole or not at all.
fn adopt(home: &Home, from: &Path) -> Result<(), Error> {
    let (path, me) = (from.join(ADOPTED), home.identity()?);
    let draft = from.join(format!("{ADOPTED}-{}", chance::identity(None, "")));
    fs::write(&draft, &me)
        .and_then(|()| fs::File::open(&draft)?.sync_all())
        .map_err(Error::io("cannot write", &draft))?;
    let marked = fs::hard_link(&draft, &path);
    let _ = fs::remove_file(&draft);
    match marked {
        Ok(()) => sync_folder(from),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => match fs::read_to_string(&path) {
            Ok(by) if by == me => Ok(()),
            _ => Err(Error::Advice(
                "this archive has been taken in by a home already; of two copies of one life, one must stay asleep"
                    .into(),
            )),
        },
        Err(e) => Err(Error::io("cannot write", &path)(e)),
    }
}

/// Copies an archive into a folder aside, whole, before anything in this home is touched.
fn make_ready(home: &Home, from: &Path, golem: &Golem) -> Result<PathBuf, Error> {
    let life = golem.life();
    let crib = aside(&home.golems(), "restore")?;
    Reader::open(&from.join("life.db"))?.copy_to(&crib.join("life.db"))?;
    for file in ["golem.toml", "secret", "world.log", "FROZEN"] {
        copy_if_there(&from.join(file), &crib)?;
    }
    take_stretches(&from.join("archive"), &crib)?;
    // What came without its world's record brings what its journal has of it.
    if !from.join("world.log").exists() {
        let own = books::Own::read(&crib.join("life.db"), &[])?;
        drop(Ledger::rebuild(crib.join("world.log"), own.entries().collect())?);
    }
    // The world may have gone on after the journal was copied; what the copy has not permitted never happened to it.
    let asked = life.flights.iter().filter(|flight| flight.is_unsent()).map(|flight| flight.key - 1).min();
    Ledger::file(crib.join("world.log"))?.forget_after(asked.unwrap_or(life.flights_made))?;
    sync_folder(&crib)?;
    Ok(crib)
}

/// Whatever of this life is here already goes to the attic, but a freeze outlives it.
fn put_in_place(home: &Home, crib: &Path, place: &GolemHome, id: GolemId) -> Result<(), Error> {
    for old in home.list()?.into_iter().filter(|old| old.is(id)) {
        copy_if_there(&old.frozen_marker(), crib)?;
        fs::create_dir_all(home.attic()).map_err(Error::io("cannot create", &home.attic()))?;
        let kept = free_name(&home.attic(), old.name.as_str());
        fs::rename(&old.folder, &kept).map_err(Error::io("cannot set aside", &old.folder))?;
    }
    fs::rename(crib, &place.folder).map_err(Error::io("cannot create", &place.folder))?;
    sync_folder(&home.golems())
}

/// A fresh folder that nobody else is using, to make something whole in.
fn aside(parent: &Path, what: &str) -> Result<PathBuf, Error> {
    let folder = parent.join(format!(".{what}-{}", chance::identity(None, "")));
    private::folder(&folder).map_err(Error::io("cannot create", &folder))?;
    Ok(folder)
}

fn free_name(folder: &Path, name: &str) -> PathBuf {
    (1..).map(|n| folder.join(format!("{name}-{n}"))).find(|path| !path.exists()).expect("some number is free")
}

fn copy_if_there(file: &Path, folder: &Path) -> Result<(), Error> {
    if !file.exists() {
        return Ok(());
    }
    let copy = folder.join(file.file_name().expect("a file has a name"));
    private::copy(file, &copy).map_err(Error::io("cannot copy", file))?;
    fs::File::open(&copy).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", &copy))
}

pub(crate) fn sync_folder(folder: &Path) -> Result<(), Error> {
    fs::File::open(folder).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", folder))
}
