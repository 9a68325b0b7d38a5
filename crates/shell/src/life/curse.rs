//! Curses break a golem on purpose, for those who try what a host makes of it: its world when it is looked at, its mind between making it up and
//! writing it down, or its dream in the middle of the night. It lies on the folder, so it outlasts being woken again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use golem::Time;
use golem::world::{Fate, Manifest, Observation, Quote};
use world::{Order, World};

use crate::home::GolemHome;
use crate::locks::lock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    World,
    Mind,
    Dream,
}

/// The cursed golems, by database: which part, and for how many times more.
static CURSES: Mutex<BTreeMap<PathBuf, (Part, u32)>> = Mutex::new(BTreeMap::new());

/// Whether anyone can be. Where nobody has said so, nothing is looked up and no world stands behind another.
static POSSIBLE: AtomicBool = AtomicBool::new(false);

/// From here on golems that are opened in this process can be cursed.
pub fn allow() {
    POSSIBLE.store(true, Ordering::SeqCst);
}

pub fn lay(place: &GolemHome, part: Part, times: u32) {
    lock(&CURSES).insert(place.database(), (part, times));
}

/// Panics if this part of this golem is cursed.
pub(crate) fn strike(place: &GolemHome, part: Part) {
    if !POSSIBLE.load(Ordering::Relaxed) {
        return;
    }
    let struck = match lock(&CURSES).get_mut(&place.database()) {
        Some((cursed, left)) if *cursed == part && *left > 0 => {
            *left -= 1;
            true
        }
        _ => false,
    };
    assert!(!struck, "the {part:?} of {} has come apart", place.name);
}

/// Wraps a world, which breaks when it is looked at while it is cursed.
pub(crate) fn over(place: &GolemHome, inner: Box<dyn World + Send>) -> Box<dyn World + Send> {
    if !POSSIBLE.load(Ordering::Relaxed) {
        return inner;
    }
    Box::new(Cursed { inner, place: place.clone() })
}

struct Cursed {
    inner: Box<dyn World + Send>,
    place: GolemHome,
}

impl World for Cursed {
    fn manifest(&self) -> Manifest {
        self.inner.manifest()
    }
    fn start(&self) -> Time {
        self.inner.start()
    }
    fn end(&self) -> Option<Time> {
        self.inner.end()
    }
    fn seek(&mut self, until: Time) -> Result<(), world::Error> {
        self.inner.seek(until)
    }
    fn observe(&mut self, since: Time, now: Time, seen: &mut Observation) -> Result<(), world::Error> {
        strike(&self.place, Part::World);
        self.inner.observe(since, now, seen)
    }
    fn preview(&mut self, order: &Order) -> Result<Option<Quote>, world::Error> {
        self.inner.preview(order)
    }
    fn commit(&mut self, key: u64, order: &Order) -> Result<Fate, world::Error> {
        self.inner.commit(key, order)
    }
    fn reconcile(&mut self, key: u64) -> Result<Fate, world::Error> {
        self.inner.reconcile(key)
    }
}
