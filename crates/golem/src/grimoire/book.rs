//! All entries of one golem, in memory, and what they speak of.

use std::collections::{BTreeMap, BTreeSet};

use life::grimoire::{Decision, Entry, Link, Status};

use super::sameness::{MeaningKey, Subject};

/// Entries in use at once.
pub const ENTRIES: usize = 20_000;

/// Characters in an entry's text.
pub const TEXT: usize = 500;

/// Sources one entry remembers.
pub const SOURCES: usize = 8;

/// All entries of one golem, in memory. The rows in its vault are what counts; this is made from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grimoire {
    /// Entries in use.
    pub(super) entries: BTreeMap<u64, Entry>,
    /// Entries no longer in use, which are most of them.
    pub(super) archive: BTreeMap<u64, Entry>,
    keys: BTreeMap<MeaningKey, u64>,
    /// Entries by what they speak of: only those can contradict each other.
    subjects: BTreeMap<About, BTreeSet<u64>>,
    next: u64,
}

/// The subject of an entry, as far as contradictions go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum About {
    Claim(Subject),
    Link(u8, u8),
}

impl About {
    fn of(entry: &Entry) -> Option<About> {
        match entry.link {
            Some(link) => Some(About::Link(link.cause, link.effect)),
            None => Subject::of(entry).map(About::Claim),
        }
    }
}

impl Grimoire {
    pub fn new(entries: impl IntoIterator<Item = Entry>) -> Grimoire {
        let mut grimoire = Grimoire { next: 1, ..Grimoire::default() };
        entries.into_iter().for_each(|entry| grimoire.put(entry));
        grimoire
    }

    pub fn apply(&mut self, decision: &Decision) {
        match decision {
            Decision::Put(entry) => self.put((**entry).clone()),
            Decision::Forget(id) => self.remove(*id),
        }
    }

    fn put(&mut self, entry: Entry) {
        self.remove(entry.id);
        self.next = self.next.max(entry.id + 1);
        self.keys.insert(MeaningKey::of(&entry), entry.id);
        if let Some(about) = About::of(&entry) {
            self.subjects.entry(about).or_default().insert(entry.id);
        }
        let place = if entry.status == Status::Archived { &mut self.archive } else { &mut self.entries };
        place.insert(entry.id, entry);
    }

    fn remove(&mut self, id: u64) {
        let Some(entry) = self.entries.remove(&id).or_else(|| self.archive.remove(&id)) else { return };
        let key = MeaningKey::of(&entry);
        if self.keys.get(&key) == Some(&id) {
            self.keys.remove(&key);
        }
        if let Some(about) = About::of(&entry)
            && let Some(ids) = self.subjects.get_mut(&about)
        {
            ids.remove(&id);
            if ids.is_empty() {
                self.subjects.remove(&about);
            }
        }
    }

    pub fn get(&self, id: u64) -> Option<&Entry> {
        self.entries.get(&id).or_else(|| self.archive.get(&id))
    }

    /// All entries: those in use by number, then the archived.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> + Clone {
        self.entries.values().chain(self.archive.values())
    }

    pub fn in_use(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    pub fn len(&self) -> usize {
        self.entries.len() + self.archive.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number the next new entry gets; numbers below `made` are taken by heuristics the mind tried itself.
    pub fn next_id(&self) -> u64 {
        self.next
    }

    pub fn reserve(&mut self, made: u64) {
        self.next = self.next.max(made + 1);
    }

    pub(super) fn by_key(&self, key: &MeaningKey) -> Option<&Entry> {
        self.keys.get(key).and_then(|id| self.get(*id))
    }

    /// Whether the very same entry is there already, in use or archived.
    pub fn knows(&self, entry: &Entry) -> bool {
        self.keys.contains_key(&MeaningKey::of(entry))
    }

    /// Whether this link is there already, in use or archived.
    pub fn knows_link(&self, link: Link) -> bool {
        let ids = self.subjects.get(&About::Link(link.cause, link.effect));
        ids.into_iter().flatten().filter_map(|id| self.get(*id)).any(|entry| entry.link == Some(link))
    }

    /// Entries that speak of the same subject.
    pub(crate) fn about_the_same(&self, entry: &Entry) -> impl Iterator<Item = &Entry> {
        let ids = About::of(entry).and_then(|about| self.subjects.get(&about));
        ids.into_iter().flatten().filter_map(|id| self.get(*id))
    }
}
