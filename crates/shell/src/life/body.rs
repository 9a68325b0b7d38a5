//! What stands around one golem while it is lived: where it is written down, its world, its purse and what it knows. It
//! is the shell of that life: what the golem owes is done here, and its records go out from here.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use golem::dream::{self, Memory};
use golem::grimoire::{self, Grimoire};
use golem::shell::Shell;
use golem::world::{Effect, Observation};
use golem::{Duty, Errand, Event, GolemId, Life, Record, What};
use settings::chance::Secret;
use vault::Treasury;

use super::ground::Ground;
use super::listener::Listener;
use super::memory;
use super::writing::Writing;
use crate::Error;
use crate::errands::{Act, Served, Thinking, Waker};
use crate::home::GolemHome;
use crate::legacy::testament;

pub(crate) struct Body {
    pub(super) place: GolemHome,
    /// Let go of before the lock of the life: whoever takes that may have its world.
    pub(super) ground: Ground,
    /// Its questions to models, from the first on.
    pub(super) thinking: Option<Arc<Thinking>>,
    /// Where its agent's calls wait.
    pub(super) counter: Served,
    /// Whoever wants to know when something has come.
    pub(super) waker: Option<Waker>,
    pub(super) writing: Writing,
    pub(super) secret: Secret,
    pub(super) treasury: Arc<Mutex<Treasury>>,
    pub(super) observation: Observation,
    /// Records stepped but not yet durable.
    pub(super) unsaid: Vec<Record>,
    /// What it knows, read from its rows when it is first needed.
    pub(super) grimoire: Option<Grimoire>,
    /// What it can dream of, read from its journal when it first dreams.
    pub(super) memory: Option<Memory>,
    /// Its playbook may have changed since it was last written down.
    pub(super) rewritten: bool,
    /// Words whose lines have gone through the last round, by teller and number, and what of them is left for another.
    pub(super) digested: Vec<((GolemId, u64), Vec<String>)>,
    /// Letters that wait for a round, and need not be read again before it.
    pub(super) put_off: BTreeSet<PathBuf>,
    /// It has looked for what siblings told before it was here.
    pub(super) caught_up: bool,
}

/// A body, with whoever listens to it.
pub(super) struct Shelled<'a, L> {
    pub(super) body: &'a mut Body,
    pub(super) listener: &'a mut L,
}

impl<L: Listener> Shell for Shelled<'_, L> {
    type Error = Error;

    fn roll(&mut self, life: &Life) -> u64 {
        self.body.secret.roll(life.id(), life.tick + 1)
    }

    fn duty(&mut self, life: &Life, duty: Duty) -> Result<What, Error> {
        match duty {
            Duty::Curate => self.body.curate(life),
            Duty::Dream { .. } => self.body.dream(life),
            Duty::Reflect => self.body.reflect(life),
            Duty::Bequeath => self.body.bequeath(life),
            Duty::Deposit { deposit, amount } => {
                self.body.treasury().receive(life.id(), deposit, amount)?;
                Ok(What::Deposited { deposit })
            }
        }
    }

    fn errand(&mut self, life: &Life, errand: &Errand) -> Result<Option<What>, Error> {
        let adds = match *errand {
            Errand::Tell { number, news } => {
                let peers = self.body.tell_peers(life, number, news)?;
                return Ok(Some(What::Told { number, peers }));
            }
            Errand::Commit { order, .. } => life.birth.world.actions[usize::from(order.action)].effect == Effect::Adds,
            Errand::Ask { key } => return self.body.think(life, key),
            Errand::Call { key } if self.body.counter.knows(key) => return Ok(None),
            Errand::Call { key } => return Ok(Some(What::lost(key))),
            Errand::Forfeit { key } => return Ok(Some(What::Forfeited { key })),
            Errand::Preview { .. } | Errand::Reconcile { .. } => false,
        };
        let frozen = self.body.place.frozen_marker();
        self.body.ground.errand(Act { errand: *errand, adds }, &frozen)
    }

    fn record(&mut self, record: Record, life: &Life) {
        self.body.writing.stage(&record, life);
        if let Some(memory) = &mut self.body.memory {
            memory.hear(&record, life);
        }
        self.body.unsaid.push(record);
    }

    fn sync(&mut self, life: &Life) -> Result<(), Error> {
        self.body.flush(life, self.listener)
    }

    fn show(&mut self, event: &Event, life: &Life) {
        self.body.writing.show(event, life);
    }
}

impl Body {
    pub(super) fn treasury(&self) -> MutexGuard<'_, Treasury> {
        self.treasury.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes durable what was stepped, then says so.
    pub(super) fn flush(&mut self, life: &Life, listener: &mut impl Listener) -> Result<(), Error> {
        if self.unsaid.is_empty() {
            return Ok(());
        }
        self.writing.commit(life)?;
        listener.acknowledged(&self.unsaid, life)?;
        self.unsaid.clear();
        Ok(())
    }

    /// One of very many keeps in memory only what it cannot do without.
    pub(super) fn forget_what_can_be_read_again(&mut self) {
        if self.writing.is_lodged() {
            (self.grimoire, self.memory) = (None, None);
        }
    }

    /// Everything it knows, as its rows have it.
    pub(super) fn known(&mut self) -> Result<Grimoire, Error> {
        Ok(Grimoire::new(self.writing.entries(&self.place)?))
    }

    /// Goes through what it knows, with what siblings have brought.
    fn curate(&mut self, life: &Life) -> Result<What, Error> {
        if self.grimoire.is_none() {
            self.grimoire = Some(self.known()?);
        }
        let parcels = if life.digests() { self.taught(life)? } else { Vec::new() };
        let Some(grimoire) = &mut self.grimoire else { unreachable!("just read") };
        let (answer, rest) = grimoire::digest(grimoire, life, &parcels.iter().collect::<Vec<_>>());
        self.digested = parcels.iter().map(|parcel| (parcel.from, parcel.number)).zip(rest).collect();
        self.rewritten = true;
        Ok(What::Curated(Box::new(answer)))
    }

    /// Does the night's work. What is lived and known is durable by now, so the file has it all; a night in the middle of
    /// a run must see no more and no less than one right after a start.
    fn dream(&mut self, life: &Life) -> Result<What, Error> {
        if self.grimoire.is_none() {
            self.grimoire = Some(self.known()?);
        }
        self.remember(life)?;
        let (Some(memory), Some(grimoire)) = (&self.memory, &self.grimoire) else { unreachable!("just read") };
        super::curse::strike(&self.place, super::curse::Part::Dream);
        Ok(What::Dreamt(Box::new(dream::work(memory, grimoire, life))))
    }

    /// Has at hand what its nights look back on.
    pub(super) fn remember(&mut self, life: &Life) -> Result<(), Error> {
        if self.memory.is_none() {
            self.writing.carry_over(&self.place)?;
            self.memory = Some(memory::remembered(&self.place, life)?);
        }
        Ok(())
    }

    /// Writes the testament.
    fn reflect(&mut self, life: &Life) -> Result<What, Error> {
        let grimoire = self.known()?;
        let hash = testament::reflect(&self.place, life, &grimoire, &self.secret)?;
        Ok(What::Reflected { hash })
    }

    /// Passes on what it knew.
    fn bequeath(&mut self, life: &Life) -> Result<What, Error> {
        let grimoire = self.known()?;
        let (hash, entries) = testament::bequeath(&self.place, life, &grimoire)?;
        Ok(What::Bequeathed { hash, entries })
    }
}
