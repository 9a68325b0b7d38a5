//! The body of a golem while it runs: the file it is written to, its world, its purse and its knowledge. It
//! is the shell of that life: what the golem owes is done here, and its records go out from here.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

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
use crate::errands::{Act, Served, Thinking, Waker};
use crate::home::GolemHome;
use crate::legacy::testament;
use crate::locks::lock;
use crate::{Error, Runtime};

pub(crate) struct Body {
    pub(super) runtime: Arc<Runtime>,
    pub(super) place: GolemHome,
    /// The world; dropped before the lock of the life, because the next process to take the lock may open the world.
    pub(super) ground: Ground,
    /// Questions to models, from the first on.
    pub(super) thinking: Option<Arc<Thinking>>,
    /// The counter where its agent's calls wait.
    pub(super) counter: Served,
    /// Callback for the moment when something has come.
    pub(super) waker: Option<Waker>,
    pub(super) writing: Writing,
    pub(super) secret: Secret,
    pub(super) treasury: Arc<Mutex<Treasury>>,
    pub(super) observation: Observation,
    /// Records stepped but not yet durable.
    pub(super) unsaid: Vec<Record>,
    /// The knowledge, read from its rows when it is first needed.
    pub(super) grimoire: Option<Grimoire>,
    /// The episodes that nights look back on, read from the journal at the first dream.
    pub(super) memory: Option<Memory>,
    /// Whether the playbook may have changed since it was last written down.
    pub(super) rewritten: bool,
    /// Words whose lines have gone through the last round, by teller and number, and what of them is left for another.
    pub(super) digested: Vec<((GolemId, u64), Vec<String>)>,
    /// Letters that wait for a round, and need not be read again before it.
    pub(super) put_off: BTreeSet<PathBuf>,
    /// Whether it has read what siblings told before it was here.
    pub(super) caught_up: bool,
}

/// A body with the listener of its run.
pub(super) struct Shelled<'a, L> {
    pub(super) body: &'a mut Body,
    pub(super) listener: &'a mut L,
}

impl<L: Listener> Shell for Shelled<'_, L> {
    type Error = Error;

    fn roll(&mut self, life: &Life) -> u64 {
        self.body.secret.roll(life.id(), life.tick() + 1)
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
            Errand::Commit { order, .. } => {
                life.birth().world.actions[usize::from(order.action)].effect == Effect::Adds
            }
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
        lock(&self.treasury)
    }

    /// Makes durable what was stepped, then tells the listener.
    pub(super) fn flush(&mut self, life: &Life, listener: &mut impl Listener) -> Result<(), Error> {
        if self.unsaid.is_empty() {
            return Ok(());
        }
        self.writing.commit(&self.place, life)?;
        listener.acknowledged(&self.unsaid, life)?;
        self.unsaid.clear();
        Ok(())
    }

    /// Frees what can be read again: one golem of very many keeps in memory only what it cannot do without.
    pub(super) fn forget_what_can_be_read_again(&mut self) {
        if self.writing.is_lodged() {
            (self.grimoire, self.memory) = (None, None);
        }
    }

    /// The knowledge, as its rows have it.
    pub(super) fn known(&mut self) -> Result<Grimoire, Error> {
        Ok(Grimoire::new(self.writing.entries(&self.place)?))
    }

    /// Curates the knowledge, with what siblings have brought.
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

    /// Does the night's work. All that was lived and learned is durable by now, so the file has it; a night in the
    /// middle of a run must see no more and no less than one right after a start.
    fn dream(&mut self, life: &Life) -> Result<What, Error> {
        if self.grimoire.is_none() {
            self.grimoire = Some(self.known()?);
        }
        self.remember(life)?;
        let (Some(memory), Some(grimoire)) = (&self.memory, &self.grimoire) else { unreachable!("just read") };
        super::curse::strike(&self.place, super::curse::Part::Dream);
        Ok(What::Dreamt(Box::new(dream::work(memory, grimoire, life))))
    }

    /// Reads the episodes that nights look back on, if they are not in memory.
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

    /// Passes on the knowledge.
    fn bequeath(&mut self, life: &Life) -> Result<What, Error> {
        let grimoire = self.known()?;
        let (hash, entries) = testament::bequeath(&self.place, life, &grimoire)?;
        Ok(What::Bequeathed { hash, entries })
    }
}
