//! Taking a life in: a backup, a moved life, or a folder copied by hand.
//!
//! One life must not become two. A moved archive is taken in by the home it is addressed to, once; a backup older than
//! what this home has acknowledged is refused unless the owner rewinds on purpose, and never once the treasury has
//! received money the backup still holds. A host that lives the golem lets go of it first.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use golem::Birth;
use golem::{Golem, GolemId, Life, Name, hex};
use settings::chance::Secret;
use settings::{File, Settings};
use vault::{Anchor, Head, Passing, Reader, Seal};
use world::Ledger;

use super::label::{self, ArchiveStanding, LABEL};
use super::parcel::Crib;
use crate::Error;
use crate::durable::{copy_if_there, sync_folder};
use crate::home::loan::Loan;
use crate::home::{GolemHome, Home, books};

/// How long a host has to empty its log of a golem that was taken out of it.
const PATIENCE: Duration = Duration::from_secs(10);

/// The owner's consent: what may be given up or vouched for to have a copy back.
#[derive(Clone, Debug, Default)]
pub struct Consent {
    /// Acknowledged ticks of the same life in this home.
    pub rewind: bool,
    /// The certainty that no other home is still living it.
    pub take_over: bool,
    /// The key of the home that a moved life comes from.
    pub signed_by: Option<String>,
}

/// A life that is to be taken in. It lies in a folder of our own already.
struct Arrival {
    crib: Crib,
    reader: Reader,
    golem: Golem,
    /// Its name where the copy was made.
    called: Option<Name>,
    standing: ArchiveStanding,
}

/// Takes a backup, a moved life or a hand-made copy of a golem's folder into this home.
pub fn restore(home: &Home, from: &Path, name: Option<Name>, consent: &Consent) -> Result<(Name, Life), Error> {
    home.require()?;
    let arrival = Arrival::look_at(home, from, consent)?;
    let (life, id) = (arrival.golem.life().clone(), arrival.golem.life().id());
    let here = home.list()?.into_iter().find(|here| here.is(id));
    // As it is called here; or else where it comes from, which its birth record does not know.
    let called = here.as_ref().map(|here| here.name.clone()).or_else(|| arrival.called.clone());
    let name = name.or(called).unwrap_or_else(|| life.birth().name.clone());
    let place = home.place(&name);
    if !place.is(id) {
        home.must_be_free(&name, Some(id))?;
    }
    // A host that lives it lets go of it first, and what its log still has must not come back over the copy.
    let loan = here.as_ref().map(GolemHome::borrow).transpose()?;
    if let (Some(here), Some(loan)) = (&here, &loan) {
        empty_the_log(here, loan, id, consent)?;
    }
    // From here to the end no other process may run, move or restore this life.
    let (mut head, known) = lock(home, id, consent)?;
    let (tip, standing) = (arrival.reader.tip()?, arrival.standing);
    if let Err(refused) = arrival.come_in(home, &place, known, consent) {
        if known.is_none() {
            let _ = fs::remove_file(Head::path(&home.heads(), id));
        }
        return Err(refused);
    }
    head.set(tip)?;
    if let ArchiveStanding::Moved(number) = standing {
        home.treasury()?.note(Passing::Arrived, id, number, None)?;
    }
    drop(head);
    drop(loan);
    // Under whatever name a host had it, this is its folder now.
    place.ring();
    Ok((name, life))
}

/// Checks that the log of a host has nothing of a life that may be replaced. Records its own file cannot take are given
/// up only by an owner who rewinds.
fn empty_the_log(here: &GolemHome, loan: &Loan, id: GolemId, consent: &Consent) -> Result<(), Error> {
    let (home, deadline) = (here.home(), Instant::now() + PATIENCE);
    loop {
        let caught_up = here.catch_up();
        if home.lines(id)?.is_empty() {
            return Ok(());
        }
        if caught_up.is_err() && !consent.rewind {
            return caught_up;
        }
        if !home.is_up() {
            return home.forget_lines(id);
        }
        // Only the host writes in its log: it carries over what it can when it is asked, and forgets what is given up.
        if caught_up.is_err() {
            loan.give_up()?;
        }
        if Instant::now() > deadline {
            return Err(Error::Busy(format!(
                "the host's log still has records of {}; stop the host, or try again",
                here.name
            )));
        }
        here.ring();
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Checks that records of a life whose folder is not here go on in the log from the copy, or are given up.
fn goes_on_in_the_log(home: &Home, id: GolemId, tip: &Anchor, consent: &Consent) -> Result<(), Error> {
    let lines = home.lines(id)?;
    let Some(next) = lines.iter().find(|line| line.seq > tip.seq) else { return Ok(()) };
    if next.follows(tip) {
        return Ok(());
    }
    if home.is_up() {
        return Err(Error::Usage(
            "the log of the host that is up has newer records of this life; stop the host".into(),
        ));
    }
    if !consent.rewind {
        return Err(Error::Usage(
            "the log of a host has records of this life that do not follow from this copy; if the copy is the one to \
             keep, repeat with --rewind"
                .into(),
        ));
    }
    home.forget_lines(id)
}

impl Arrival {
    /// Checks everything about it before anything here is touched.
    fn look_at(home: &Home, from: &Path, consent: &Consent) -> Result<Arrival, Error> {
        let crib = Crib::take(&home.golems(), from)?;
        let reader = Reader::open(&crib.folder().join("life.db"))?;
        let (golem, _) = reader.verify(Path::new(""))?;
        let (mut standing, mut called) = (ArchiveStanding::Copy, None);
        if let Some(label) = crib.label()? {
            if label.records != golem.seq() {
                return Err(vault::Error::Stale { here: golem.seq(), known: label.records }.into());
            }
            if label.id != golem.life().id().to_string() || label.tip != hex::encode(&reader.tip()?.hash) {
                return Err(Error::Damaged("the label of this archive belongs to another; use another copy".into()));
            }
            standing = label::standing(home, &label, consent.signed_by.as_deref(), consent.take_over)?;
            called = Some(label.name);
        }
        file_yields_birth(crib.folder(), golem.life().birth())?;
        if golem.life().transfers_taken() == 0 {
            return Err(Error::Usage(
                "it was never given its first money, so it has never lived; make a new one".into(),
            ));
        }
        if Secret::load(&crib.folder().join("secret"))?.hash() != golem.life().birth().secret_hash {
            return Err(Error::WrongSecret(from.join("secret")));
        }
        crib.must_be_as_labelled()?;
        Ok(Arrival { crib, reader, golem, called, standing })
    }

    /// Rewinds the world's record, which may have gone on after the journal was copied; what the copy has not permitted
    /// never happened to it.
    fn rewind_world(&self) -> Result<(), Error> {
        let (life, world) = (self.golem.life(), self.crib.folder().join("world.log"));
        // A copy without its world's record gets what its journal has of it.
        if !world.exists() {
            let own = books::Own::read(&self.crib.folder().join("life.db"), &[])?;
            drop(Ledger::rebuild(&world, own.entries().collect())?);
        }
        let asked = life.flights().iter().filter(|flight| flight.is_unsent()).map(|flight| flight.key - 1).min();
        Ok(Ledger::file(world)?.forget_after(asked.unwrap_or(life.flights_made()))?)
    }

    fn come_in(self, home: &Home, place: &GolemHome, known: Option<Anchor>, consent: &Consent) -> Result<(), Error> {
        let (id, life) = (self.golem.life().id(), self.golem.life());
        self.may_replace(home, known, consent)?;
        goes_on_in_the_log(home, id, &self.reader.tip()?, consent)?;
        money_allows(home, life)?;
        // Only paper can be rewound: a real world alone knows what was done, and is asked about each key.
        if life.birth().world.paper {
            self.rewind_world()?;
        }
        sync_folder(self.crib.folder())?;
        let (mut treasury, tip) = (home.treasury()?, self.reader.tip()?);
        match self.standing {
            ArchiveStanding::Moved(number) => books::Arrival::declare(&mut treasury, life, Some(number), &tip)?,
            // If this treasury has a line of everything it was given and has returned, there is nothing to say.
            ArchiveStanding::Copy if known.is_none() && books::hold_treasury(&treasury, &place.name, life).is_err() => {
                books::Arrival::declare(&mut treasury, life, None, &tip)?;
            }
            ArchiveStanding::Copy => {}
        }
        drop((self.reader, treasury));
        put_in_place(home, self.crib, place, id)
    }

    /// Whether this copy may become the life this home knows.
    fn may_replace(&self, home: &Home, known: Option<Anchor>, consent: &Consent) -> Result<(), Error> {
        let (tip, moved) = (self.reader.tip()?, matches!(self.standing, ArchiveStanding::Moved(_)));
        let Some(known) = known else {
            return if moved || consent.take_over { Ok(()) } else { Err(Error::Usage(STRANGE.into())) };
        };
        // A copy that has what is known here, and perhaps more, goes on from it.
        let goes_on = match self.reader.hash_at(known.seq) {
            // That record of the copy is archived and cannot be compared; the owner who wants the copy anyway has said
            // so.
            Err(vault::Error::Archived { .. }) if consent.rewind => false,
            found => found? == Some(known.hash),
        };
        let here = home.list()?.iter().any(|place| place.is(self.golem.life().id()));
        match (known.seal, goes_on) {
        (Seal::Open, _) if consent.rewind => Ok(()),
        (Seal::Open, true) if here && tip.seq == known.seq => {
            Err(Error::Usage("this life is here already and nothing of it is missing".into()))
        }
        (Seal::Open, true) if here => Err(Error::Usage(
            "this life is here already, and the copy goes on from it; if the copy is the one to keep, repeat with --rewind"
                .into(),
        )),
        (Seal::Open, true) => Ok(()),
        (Seal::Open, false) if known.seq > tip.seq => Err(Error::Usage(format!(
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

/// Checks golem.toml, which decides nothing: one that contradicts the birth was put there to mislead.
fn file_yields_birth(from: &Path, birth: &Birth) -> Result<(), Error> {
    let path = from.join("golem.toml");
    if !path.exists() {
        return Ok(());
    }
    let settings = Settings::load(File::Golem, Some(&path), std::iter::empty(), &[])?;
    let Some((key, says, is)) = settings.contradicts(birth)? else { return Ok(()) };
    let name = &birth.name;
    Err(Error::Damaged(format!(
        "its golem.toml says {key} = {says}, but {name} was born with {is}; only the birth counts: take the line out of \
         the file, or the file away, and try again"
    )))
}

/// Takes the life's lock, with what is known of it; a life never seen here gets a head that knows nothing yet.
fn lock(home: &Home, id: GolemId, consent: &Consent) -> Result<(Head, Option<Anchor>), Error> {
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

/// Checks that money the copy still holds has not arrived elsewhere, and that money it lacks is there to be sent again.
fn money_allows(home: &Home, copy: &Life) -> Result<(), Error> {
    let treasury = home.treasury()?;
    let known = home.list()?.into_iter().find(|place| place.is(copy.id()));
    let known = known.and_then(|place| Reader::open(&place.database()).ok()?.wake().ok()).map(|(golem, _)| golem);
    let returned = known.as_ref().map_or(0, |golem| golem.life().deposits_made()).max(treasury.received(copy.id())?);
    if returned > copy.deposits_made() {
        return Err(Error::Usage(
            "money that this copy still holds has been returned to a treasury since; it cannot be restored".into(),
        ));
    }
    let taken = known.as_ref().map_or(0, |golem| golem.life().transfers_taken());
    let again = treasury.undelivered(copy.id(), copy.transfers_taken())?.iter().filter(|t| t.number <= taken).count();
    if taken > copy.transfers_taken() + again as u64 {
        return Err(Error::Usage(
            "another home's treasury has funded this life since; it cannot be restored to before that".into(),
        ));
    }
    Ok(())
}

/// Moves whatever of this life is here to the attic, but keeps what its owner forbade. A name that it had here leads on.
fn put_in_place(home: &Home, crib: Crib, place: &GolemHome, id: GolemId) -> Result<(), Error> {
    let _names = home.hold_names()?;
    if !place.is(id) {
        home.must_be_free(&place.name, Some(id))?;
    }
    for old in home.list()?.into_iter().filter(|old| old.is(id)) {
        copy_if_there(&old.frozen_marker(), crib.folder())?;
        copy_if_there(&old.released_marker(), crib.folder())?;
        fs::create_dir_all(home.attic()).map_err(Error::io("cannot create", &home.attic()))?;
        if old.name != place.name {
            home.note_rename(id, &old.name, &place.name)?;
        }
        let kept = free_name(&home.attic(), old.name.as_str());
        fs::rename(&old.folder, &kept).map_err(Error::io("cannot set aside", &old.folder))?;
    }
    // The label was true of the archive; a life in a home has none.
    let _ = fs::remove_file(crib.folder().join(LABEL));
    crib.put(&place.folder)?;
    sync_folder(&home.golems())
}

fn free_name(folder: &Path, name: &str) -> PathBuf {
    (1..).map(|n| folder.join(format!("{name}-{n}"))).find(|path| !path.exists()).expect("some number is free")
}
