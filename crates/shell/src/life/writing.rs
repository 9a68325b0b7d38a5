//! The place a life is written down to while it runs: its own file, or the desk of a host that keeps many.

use std::sync::Arc;

use golem::grimoire::Entry;
use golem::wire::Message;
use golem::{Event, Golem, Life, Name, Record};
use tracing::{debug, info};
use vault::codec::Hash;
use vault::{Batch, LogLine, Note, Reader, Vault};

use super::desk::Desk;
use crate::Error;
use crate::home::GolemHome;
use crate::river::RiverStore;
use crate::view::narrator::each;
use crate::view::notes;
use crate::view::status::Status;

#[derive(Debug)]
pub(crate) enum Writing {
    Own(Box<Vault>),
    Lodged(Lodging),
}

/// A place at the desk.
#[derive(Debug)]
pub(crate) struct Lodging {
    desk: Arc<Desk>,
    name: Arc<str>,
    tip: Hash,
    /// The number of the record in the making.
    next: u64,
    lines: Vec<LogLine>,
    /// Messages to tell once they are durable: the number of the record, whether it is routine, and the text.
    messages: Vec<(u64, bool, String)>,
    notes: Vec<Note>,
    /// Whether nothing of it waits in the log: its own file has everything.
    carried: bool,
    refusals: u64,
}

impl Lodging {
    pub(crate) fn new(desk: Arc<Desk>, name: &Name, golem: &Golem, tip: Hash) -> Lodging {
        let (name, next): (Arc<str>, _) = (name.as_str().into(), golem.seq() + 1);
        let life = golem.life();
        let unheard = |store: &RiverStore| store.unheard_by(life.id(), life.clade());
        let unheard = desk.river.as_ref().map(unheard).unwrap_or_default();
        desk.mail.arrive(&name, life.id(), life.clade().taught, unheard);
        let (lines, messages, notes) = (Vec::new(), Vec::new(), Vec::new());
        Lodging { desk, name, tip, next, lines, messages, notes, carried: true, refusals: 0 }
    }

    /// Makes the messages of an event, while its effects are plain.
    fn show(&mut self, event: &Event, life: &Life) {
        each(event, life, self.next, |told| {
            self.refusals += u64::from(matches!(told.message, Message::Refused { .. }));
            self.notes.extend(notes::note(&self.name, life, &told, self.desk.runtime.wall().now_ms()));
            let text = serde_json::to_string(&told).expect("a message is plain data");
            self.messages.push((told.seq, told.message.is_routine(), text));
        });
    }

    /// Makes everything staged durable with what others bring, then tells the listener.
    fn commit(&mut self, life: &Life) -> Result<(), Error> {
        let (lines, notes) = (std::mem::take(&mut self.lines), std::mem::take(&mut self.notes));
        let messages = std::mem::take(&mut self.messages);
        let batch = Batch { lines, notes, ..Batch::default() };
        self.carried = false;
        let kinds: Vec<String> = batch.notes.iter().map(|note| note.kind.clone()).collect();
        self.desk.commit(batch)?;
        for kind in kinds {
            // The kind and not the text: it may hold an owner's words. And a cap that is reached is reached again and
            // again.
            if kind == "cap" {
                debug!(golem = &*self.name, kind, "its owner is told");
            } else {
                info!(golem = &*self.name, kind, "its owner is told");
            }
        }
        let status = Status { refusals: self.refusals, ..Status::of(&self.name, life) };
        self.desk.board.post(status);
        self.desk.board.tell(&self.name, messages);
        Ok(())
    }

    /// Carries everything over into its own file.
    fn carry_over(&mut self, place: &GolemHome) -> Result<(), Error> {
        if self.carried {
            return Ok(());
        }
        carry_over(place, &self.desk)?;
        self.carried = true;
        Ok(())
    }
}

impl Drop for Lodging {
    fn drop(&mut self) {
        self.desk.mail.leave(&self.name);
    }
}

/// Brings a golem's own file up to what the log has, and lets the log forget it.
pub fn carry_over(place: &GolemHome, desk: &Desk) -> Result<(), Error> {
    let id = Reader::open(&place.database())?.id()?;
    let lines = desk.lines(id)?;
    let Some(last) = lines.last().map(|line| line.seq) else { return Ok(()) };
    let (mut vault, mut golem, _) = Vault::open(&place.vault(), 1)?;
    vault.retain(desk.runtime.retention());
    vault.catch_up(&mut golem, &lines)?;
    tidy(&mut vault, &place.name, golem.life());
    desk.leave(Batch { carried: vec![(id, last)], ..Batch::default() });
    Ok(())
}

/// Archives what can be archived; the rest stays where it is and is tried again, which is no reason to stop living.
fn tidy(vault: &mut Vault, name: &Name, life: &Life) {
    if let Err(why) = vault.tidy(life) {
        tracing::warn!(golem = name.as_str(), %why, "cannot archive its journal");
    }
}

impl Writing {
    /// Has staged records written without waiting to share a sync with others.
    pub(crate) fn hurry(&self) {
        if let Writing::Lodged(lodging) = self {
            lodging.desk.hurry();
        }
    }

    pub(crate) fn stage(&mut self, record: &Record, life: &Life) {
        match self {
            Writing::Own(vault) => vault.stage(record, life),
            Writing::Lodged(lodging) => {
                let line = LogLine::of(life.id(), &lodging.tip, record, life);
                lodging.tip = line.hash;
                lodging.next = record.seq + 1;
                lodging.lines.push(line);
            }
        }
    }

    /// Prepares a lodger to tell the result of its step.
    pub(crate) fn show(&mut self, event: &Event, life: &Life) {
        if let Writing::Lodged(lodging) = self {
            lodging.show(event, life);
        }
    }

    pub(crate) fn commit(&mut self, place: &GolemHome, life: &Life) -> Result<(), Error> {
        match self {
            Writing::Own(vault) => {
                vault.commit(life)?;
                tidy(vault, &place.name, life);
                Ok(())
            }
            Writing::Lodged(lodging) => lodging.commit(life),
        }
    }

    /// Has everything carried over into the golem's own file, for a reader of that file.
    pub(crate) fn carry_over(&mut self, place: &GolemHome) -> Result<(), Error> {
        match self {
            Writing::Own(_) => Ok(()),
            Writing::Lodged(lodging) => lodging.carry_over(place),
        }
    }

    /// Every entry it knows, by number.
    pub(crate) fn entries(&mut self, place: &GolemHome) -> Result<Vec<Entry>, Error> {
        self.carry_over(place)?;
        match self {
            Writing::Own(vault) => Ok(vault.entries()?),
            Writing::Lodged(_) => Ok(Reader::open(&place.database())?.entries()?),
        }
    }

    /// The host it lodges at, if it does, and its name there.
    pub(crate) fn lodged(&self) -> Option<(&Desk, &str)> {
        match self {
            Writing::Own(_) => None,
            Writing::Lodged(lodging) => Some((&lodging.desk, &lodging.name)),
        }
    }

    /// Whether it is one of many golems that are written down at a host's desk.
    pub(crate) fn is_lodged(&self) -> bool {
        matches!(self, Writing::Lodged(_))
    }
}
