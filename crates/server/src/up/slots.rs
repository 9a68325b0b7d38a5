//! All golems from the loop's side: which are here, which are with a worker, and when each is due next.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::ops::{Index, IndexMut};
use std::path::Path;
use std::time::{Duration, Instant};

use golem::GolemId;
use shell::home::GolemHome;
use shell::life::Living;

/// A golem, from the loop's side.
pub(super) struct Slot {
    pub(super) place: GolemHome,
    pub(super) id: GolemId,
    pub(super) living: Option<Box<Living>>,
    /// Whether a worker has it.
    pub(super) away: bool,
    /// When it is due next.
    pub(super) due: Instant,
    /// When its tick was meant to be.
    pub(super) meant: Instant,
    /// Whether it has a letter.
    pub(super) rung: bool,
    /// Whether its world has answered.
    pub(super) answered: bool,
    /// Whether its tick waits for its world.
    pub(super) waits: bool,
    /// The times of its latest falls.
    pub(super) falls: VecDeque<Instant>,
    /// How often in a row the disk has kept it from its turn.
    pub(super) disk_failures: usize,
    /// Whether it is dead and its heir is to be tried again when it is due.
    pub(super) heirless: bool,
    pub(super) state: SlotState,
}

impl Slot {
    /// The series it watches grow, if it is here and does.
    pub(super) fn watches(&self) -> Option<&Path> {
        self.living.as_ref().and_then(|living| living.watches())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotState {
    Up,
    Down,
    Stopped,
    /// Moved, or lived by another process, which may let go of it.
    Out,
    Dead,
}

/// The slots of all golems, and the order in which they are due.
#[derive(Default)]
pub(super) struct Slots {
    all: Vec<Slot>,
    names: BTreeMap<String, usize>,
    ids: BTreeMap<GolemId, usize>,
    due: BinaryHeap<Reverse<(Instant, usize)>>,
}

impl Slots {
    /// Adds a golem that was not known yet and that a worker is about to open.
    pub(super) fn add(&mut self, place: GolemHome, id: GolemId, now: Instant) -> usize {
        let at = self.all.len();
        self.names.insert(place.name.to_string(), at);
        self.ids.insert(id, at);
        self.all.push(Slot {
            place,
            id,
            living: None,
            away: true,
            due: now,
            meant: now,
            rung: false,
            answered: false,
            waits: false,
            falls: VecDeque::new(),
            disk_failures: 0,
            heirless: false,
            state: SlotState::Down,
        });
        at
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The golem with this id, whatever it is called.
    pub(super) fn find_id(&self, id: GolemId) -> Option<usize> {
        self.ids.get(&id).copied().filter(|at| self.all[*at].id == id)
    }

    /// Notes which golem a folder turned out to hold.
    pub(super) fn identify(&mut self, at: usize, id: GolemId) {
        self.all[at].id = id;
        self.ids.insert(id, at);
    }

    /// Gives a golem the folder that it has under its new name.
    pub(super) fn rename(&mut self, at: usize, place: GolemHome) {
        let name = place.name.to_string();
        let before = std::mem::replace(&mut self.all[at].place, place);
        self.names.remove(before.name.as_str());
        self.names.insert(name, at);
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.all.iter()
    }

    /// Schedules a golem's next tick.
    pub(super) fn schedule(&mut self, at: usize, due: Instant) {
        self.all[at].meant = due;
        self.look_again(at, due);
    }

    /// Has a golem looked at again then, while its tick stays due when it was meant to be.
    pub(super) fn look_again(&mut self, at: usize, due: Instant) {
        self.all[at].due = due;
        self.due.push(Reverse((due, at)));
    }

    /// When the next golem is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse((due, _))| *due)
    }

    /// Takes the next golem that is due by now and not away.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<usize> {
        while let Some(Reverse((due, at))) = self.due.peek().copied().filter(|Reverse((due, _))| *due <= now) {
            self.due.pop();
            // Passed over: put off meanwhile, or with a worker, who brings it back to be scheduled again.
            if self.all[at].due == due && !self.all[at].away {
                return Some(at);
            }
        }
        None
    }

    /// The time from one tick of a golem to the next; zero for one that lives as fast as the series it watches grows.
    pub(super) fn interval(&self, at: usize, speed: f64) -> Duration {
        let living = self.all[at].living.as_ref().filter(|living| living.watches().is_none());
        living.map_or(Duration::ZERO, |living| living.interval_at(speed))
    }

    /// Whether there is a golem whose last write went well.
    pub(super) fn anyone_writes(&self) -> bool {
        let idle = |slot: &Slot| slot.living.as_ref().is_some_and(|living| living.life().heartbeat().paused);
        self.iter().any(|slot| slot.state == SlotState::Up && slot.disk_failures == 0 && !idle(slot))
    }

    pub(super) fn anyone_away(&self) -> bool {
        self.iter().any(|slot| slot.away)
    }
}

impl Index<usize> for Slots {
    type Output = Slot;

    fn index(&self, at: usize) -> &Slot {
        &self.all[at]
    }
}

impl IndexMut<usize> for Slots {
    fn index_mut(&mut self, at: usize) -> &mut Slot {
        &mut self.all[at]
    }
}
