//! The Curator: every fifty ticks what has faded is archived, what does not fit the regime sleeps, contradictions
//! that evidence has decided are settled, and those it has not become questions. Nothing else tidies up.

use life::grimoire::{Class, Decision, Entry, Kind, Source, Status};
use life::regime::Regime;
use life::time::Time;
use life::world::Manifest;

use super::admission::{Candidate, draft};
use super::{ENTRIES, Grimoire};

/// Confidence below which an entry is archived.
pub const ARCHIVE: f64 = 0.1;
/// A contradiction is decided when the two differ by this much.
const DECIDED_BY: f64 = 0.2;
/// Evidence that it takes to decide a contradiction.
const DECIDED_ON: f64 = 8.0;

/// The result of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    pub decisions: Vec<Decision>,
    /// Entries in use before.
    pub alive: u32,
    /// How many of them were archived.
    pub archived: u32,
}

impl Grimoire {
    /// Entries at work in the playbook, which `held` knows, prove themselves every tick and are left alone.
    pub fn curate(
        &self,
        manifest: &Manifest,
        regime: Regime,
        source: Source,
        now: Time,
        held: impl Fn(u64) -> bool,
    ) -> Round {
        let mut round = Round::default();
        let mut changed: std::collections::BTreeMap<u64, Entry> = std::collections::BTreeMap::new();
        let mut questions = Vec::new();
        for entry in self.in_use() {
            round.alive += 1;
            if held(entry.id) {
                continue;
            }
            let faded = entry.confidence(now) < ARCHIVE;
            let status = if faded { Status::Archived } else { awake(entry, regime) };
            let stands = |id: &u64| self.get(*id).is_some_and(|other| other.status != Status::Archived);
            if status != entry.status || !entry.contradicts.iter().all(stands) {
                let mut next = entry.clone();
                next.status = status;
                next.contradicts.retain(stands);
                changed.insert(entry.id, next);
            }
        }
        for (a, b) in self.contradictions() {
            match decided(a, b, now) {
                Some((winner, loser)) => {
                    let mut lost = changed.remove(&loser.id).unwrap_or_else(|| loser.clone());
                    lost.status = Status::Archived;
                    lost.contradicts.retain(|id| *id != winner.id);
                    changed.insert(lost.id, lost);
                    let mut won = changed.remove(&winner.id).unwrap_or_else(|| winner.clone());
                    won.contradicts.retain(|id| *id != loser.id);
                    changed.insert(won.id, won);
                }
                None => questions.push(format!("which holds: \"{}\" or \"{}\"?", a.text, b.text)),
            }
        }
        for entry in self.surplus(now, &changed) {
            let mut next = entry.clone();
            next.status = Status::Archived;
            changed.insert(entry.id, next);
        }
        let was_in_use = |entry: &Entry| self.get(entry.id).is_some_and(|before| before.status != Status::Archived);
        round.archived =
            changed.values().filter(|entry| entry.status == Status::Archived && was_in_use(entry)).count() as u32;
        round.decisions.extend(changed.into_values().map(|entry| Decision::Put(Box::new(entry))));
        round.decisions.extend(self.forgotten());
        if let Some(text) = questions.first() {
            let entry = draft(Kind::Question, text, source, now);
            let candidate = Candidate { entry, seen_for: 0.0, seen_against: 0.0, single: false };
            round.decisions.extend(self.admit(candidate, manifest, now));
        }
        round
    }

    /// The weakest entries in use, where there are more than there is room for.
    fn surplus(&self, now: Time, changed: &std::collections::BTreeMap<u64, Entry>) -> Vec<&Entry> {
        if self.entries.len() <= ENTRIES {
            return Vec::new();
        }
        let mut staying: Vec<(&Entry, f64)> = self
            .in_use()
            .filter(|entry| changed.get(&entry.id).is_none_or(|next| next.status != Status::Archived))
            .map(|entry| (entry, entry.confidence(now) * (0.5 + entry.quality) * (1.0 + entry.strength).min(5.0)))
            .collect();
        if staying.len() <= ENTRIES {
            return Vec::new();
        }
        staying.sort_by(|(a, x), (b, y)| x.total_cmp(y).then(a.id.cmp(&b.id)));
        let over = staying.len() - ENTRIES;
        staying.into_iter().take(over).map(|(entry, _)| entry).collect()
    }

    /// Archived entries beyond as many as may be in use: the oldest are forgotten for good.
    fn forgotten(&self) -> impl Iterator<Item = Decision> + '_ {
        let over = self.archive.len().saturating_sub(ENTRIES);
        self.archive.keys().take(over).map(|id| Decision::Forget(*id))
    }

    /// Pairs in use that say the opposite of each other, each once.
    fn contradictions(&self) -> impl Iterator<Item = (&Entry, &Entry)> {
        let later = |entry: &&Entry, id: u64| id > entry.id;
        self.in_use().filter(|entry| !entry.contradicts.is_empty()).flat_map(move |entry| {
            let others = entry.contradicts.iter().filter(move |id| later(&entry, **id));
            others
                .filter_map(move |id| self.get(*id))
                .filter(|other| other.status != Status::Archived)
                .map(move |b| (entry, b))
        })
    }
}

/// The status of an entry in this regime: asleep in the wrong one; candidates stay what they are.
fn awake(entry: &Entry, regime: Regime) -> Status {
    let fits = entry.regime.is_none_or(|own| own == regime);
    match (entry.status, entry.class) {
        (Status::Active, Class::RegimeConditional | Class::Tactical) if !fits => Status::Dormant,
        (Status::Dormant, _) if fits => Status::Active,
        (status, _) => status,
    }
}

/// The entry that is right and the one that is wrong, if the evidence says so.
fn decided<'a>(a: &'a Entry, b: &'a Entry, now: Time) -> Option<(&'a Entry, &'a Entry)> {
    let seen = |entry: &Entry| entry.evidence_for + entry.evidence_against;
    let (x, y) = (a.confidence(now), b.confidence(now));
    if seen(a) + seen(b) < DECIDED_ON || (x - y).abs() < DECIDED_BY {
        return None;
    }
    Some(if x > y { (a, b) } else { (b, a) })
}
