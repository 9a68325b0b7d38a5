//! Where a life is written down while it is lived: in its own file, or at the desk of a host that keeps many.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use golem::grimoire::Entry;
use golem::wire::Message;
use golem::{Golem, Life, Record};
use tracing::{debug, info};
use vault::codec::Hash;
use vault::{Batch, Line, Reader, Vault};

use crate::Error;
use crate::herald::Herald;
use crate::home::GolemHome;
use crate::up::board::Status;
use crate::up::desk::Desk;
use crate::up::notify;

#[derive(Debug)]
pub(crate) enum Keep {
    Own(Box<Vault>),
    Lodged(Lodging),
}

/// A place at the desk.
#[derive(Debug)]
pub(crate) struct Lodging {
    desk: Arc<Desk>,
    name: Arc<str>,
    tip: Hash,
    lines: Vec<Line>,
    /// It as it was before the first record that is not durable yet, so that what happened can be told.
    before: Option<Box<Golem>>,
    /// Nothing of it waits in the log: its own file has everything.
    carried: bool,
    refusals: u64,
}

impl Lodging {
    pub(crate) fn new(desk: Arc<Desk>, name: &str, tip: Hash) -> Lodging {
        Lodging { desk, name: name.into(), tip, lines: Vec::new(), before: None, carried: true, refusals: 0 }
    }

    /// Makes everything staged durable with what others bring, then tells whoever listens.
    fn commit(&mut self, records: &[Record], life: &Life) -> Result<(), Error> {
        let mut batch = Batch { lines: std::mem::take(&mut self.lines), ..Batch::default() };
        let mut messages = Vec::new();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
        if let Some(before) = self.before.take() {
            let mut herald = Herald::after(*before);
            for record in records {
                herald.tell(record, |told| {
                    self.refusals += u64::from(matches!(told.message, Message::Refused { .. }));
                    batch.notes.extend(notify::note(&self.name, life, &told, now));
                    let text = serde_json::to_string(&told).expect("a message is plain data");
                    messages.push((told.seq, told.message.is_routine(), text));
                })?;
            }
        }
        self.carried = false;
        let kinds: Vec<String> = batch.notes.iter().map(|note| note.kind.clone()).collect();
        self.desk.commit(batch)?;
        for kind in kinds {
            // Not what it says: it may hold an owner's words. And a cap that is reached is reached again and again.
            if kind == "cap" {
                debug!(golem = &*self.name, kind, "its owner is told");
            } else {
                info!(golem = &*self.name, kind, "its owner is told");
            }
        }
        let status = Status { refusals: self.refusals, ..Status::of(life) };
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

/// Brings a golem's own file up to what the log has, and lets the log forget it.
pub(crate) fn carry_over(place: &GolemHome, desk: &Desk) -> Result<(), Error> {
    let id = Reader::open(&place.database())?.id()?;
    let lines = desk.lines(id)?;
    let Some(last) = lines.last().map(|line| line.seq) else { return Ok(()) };
    let (mut vault, mut golem, _) = Vault::open(&place.vault(), 1)?;
    vault.retain(place.home().retention()?);
    vault.catch_up(&mut golem, &lines)?;
    tidy(&mut vault, golem.life());
    desk.leave(Batch { carried: vec![(id, last)], ..Batch::default() });
    Ok(())
}

/// What cannot be archived now stays where it is and is tried again; it is no reason to stop living.
fn tidy(vault: &mut Vault, life: &Life) {
    if let Err(why) = vault.tidy(life) {
        tracing::warn!(golem = %life.birth.name, %why, "cannot archive its journal");
    }
}

impl Keep {
    pub(crate) fn stage(&mut self, record: &Record, life: &Life) {
        match self {
            Keep::Own(vault) => vault.stage(record, life),
            Keep::Lodged(lodging) => {
                let line = Line::of(life.id(), &lodging.tip, record, life);
                lodging.tip = line.hash;
                lodging.lines.push(line);
            }
        }
    }

    /// Called before a step: a lodger will have to tell what it came to.
    pub(crate) fn about_to_step(&mut self, golem: &Golem) {
        if let Keep::Lodged(lodging) = self
            && lodging.before.is_none()
        {
            lodging.before = Some(Box::new(golem.clone()));
        }
    }

    pub(crate) fn commit(&mut self, records: &[Record], life: &Life) -> Result<(), Error> {
        match self {
            Keep::Own(vault) => {
                vault.commit(life)?;
                tidy(vault, life);
                Ok(())
            }
            Keep::Lodged(lodging) => lodging.commit(records, life),
        }
    }

    /// Sees to it that the golem's own file has everything, for whoever reads there.
    pub(crate) fn carry_over(&mut self, place: &GolemHome) -> Result<(), Error> {
        match self {
            Keep::Own(_) => Ok(()),
            Keep::Lodged(lodging) => lodging.carry_over(place),
        }
    }

    /// Everything it knows, by number.
    pub(crate) fn entries(&mut self, place: &GolemHome) -> Result<Vec<Entry>, Error> {
        self.carry_over(place)?;
        match self {
            Keep::Own(vault) => Ok(vault.entries()?),
            Keep::Lodged(_) => Ok(Reader::open(&place.database())?.entries()?),
        }
    }

    /// The living who come next by name, where a host knows of all of them.
    pub(crate) fn neighbours(&self, name: &str, most: usize) -> Option<Vec<String>> {
        match self {
            Keep::Own(_) => None,
            Keep::Lodged(lodging) => Some(lodging.desk.board.after(name, most)),
        }
    }

    /// One of many keeps in memory only what it cannot do without.
    pub(crate) fn is_lodged(&self) -> bool {
        matches!(self, Keep::Lodged(_))
    }
}
