//! Revision: a domain's heuristics learn again from nothing, in the shadow of those in use, because what they know seems
//! to have stopped being true. Both stand before the same claims; who does better has the say, and for a while the
//! other stays, in case it was right after all.

use serde::{Deserialize, Serialize};

use super::staging::{Fate, Origin, PROMOTED, REFUTED};
use crate::draft::Draft;
use crate::event::Event;
use crate::life::Life;
use crate::prediction::Prediction;
use crate::rule::{Heuristic, learning};
use crate::time::Time;
use crate::world::DomainKind;

/// Claims, none overlapping another, after which what was replaced is let go.
const PROBATION: u32 = 30;
/// Deviations by which it must do better, beside having been confirmed often enough.
const SURE: f64 = 3.0;
/// Claims, none overlapping another, that it must have stood before at least.
const LEAST: u32 = 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Revision {
    pub domain: u8,
    pub night: u64,
    /// Some of the episodes it held on before it was tried.
    pub episodes: Vec<u64>,
    /// It has the say, and these are those it took it from.
    pub adopted: bool,
    /// By slot of the playbook.
    pub heuristics: Vec<(u8, Heuristic)>,
    pub utility: f64,
    pub confidence: f64,
    pub confirmed: u32,
    pub contradicted: u32,
    /// By what share these were less wrong than those in use, and its square, over what was counted.
    pub gain: f64,
    pub squares: f64,
    /// How wrong these were in all, less how wrong those in use were.
    pub excess: f64,
    pub since: u64,
    /// Up to where time has been counted, so that no two cases share any.
    pub until: Time,
}

impl Revision {
    pub(super) fn new(
        domain: u8,
        heuristics: Vec<(u8, Heuristic)>,
        utility: f64,
        episodes: Vec<u64>,
        life: &Life,
    ) -> Revision {
        Revision {
            domain,
            night: life.dreams.night.as_ref().map_or(0, |night| night.number),
            episodes,
            adopted: false,
            heuristics,
            utility,
            confidence: Origin::Recombined.confidence(&life.constitution().dream),
            confirmed: 0,
            contradicted: 0,
            gain: 0.0,
            squares: 0.0,
            excess: 0.0,
            since: life.tick,
            until: life.now,
        }
    }
}

impl Revision {
    /// Confirmed, surely and in all less wrong than those in use.
    fn is_better(&self) -> bool {
        let confirmed = self.confidence >= PROMOTED - 1e-9 && self.confirmed + self.contradicted >= LEAST;
        confirmed && self.deviations() >= SURE && self.excess < 0.0
    }

    /// By how many deviations these do better.
    pub fn deviations(&self) -> f64 {
        let n = f64::from(self.confirmed + self.contradicted);
        if n < 2.0 {
            return 0.0;
        }
        let mean = self.gain / n;
        let error = ((self.squares / n - mean * mean).max(0.0) / (n - 1.0)).sqrt();
        if error > 0.0 { mean / error } else { 0.0 }
    }
}

/// A claim came true or not: what those in the shadow would have claimed, and what they learn from it.
pub(crate) fn tried(life: &mut Life, domain: usize, claim: &Prediction, actual: f64) {
    let (laws, kind, regime) = (life.laws(), life.birth.world.domains[domain].kind, life.regimes.now);
    let made = claim.due - life.horizon(domain);
    let playbook = &life.playbook;
    for revision in life.dreams.revisions.iter_mut().filter(|r| usize::from(r.domain) == domain) {
        // Whose slot has been taken by another meanwhile says nothing any more.
        let fired = |slot: &u8, h: &Heuristic| {
            claim.fired >> slot & 1 == 1 && playbook.get(usize::from(*slot)).is_some_and(|now| now.id == h.id)
        };
        let voices = revision.heuristics.iter().filter(|(slot, h)| fired(slot, h)).map(|(_, h)| h);
        let together = learning::together(kind, claim.naive, voices, laws);
        let value = if kind == DomainKind::Direction { together.clamp(0.01, 0.99) } else { together };
        let error = learning::error(kind, claim.base, value, actual, laws);
        let rival = learning::error(kind, claim.base, claim.value, actual, laws);
        for (slot, heuristic) in &mut revision.heuristics {
            if fired(slot, heuristic) {
                heuristic.learn(kind, claim, actual, regime, laws);
            }
        }
        revision.excess += error - rival;
        if made < revision.until {
            continue;
        }
        let gain = if rival + error > 0.0 { (rival - error) / (rival + error) } else { 0.0 };
        revision.gain += gain;
        revision.squares += gain * gain;
        revision.until = claim.due;
        if error < rival {
            revision.confirmed += 1;
            revision.confidence = (revision.confidence + laws.dream_confirms).min(1.0);
        } else {
            revision.contradicted += 1;
            revision.confidence -= laws.dream_contradicts;
        }
    }
}

/// Those in the shadow and those in use change places.
pub(crate) fn change_places(life: &mut Life, at: usize) {
    let revision = &mut life.dreams.revisions[at];
    for (slot, heuristic) in &mut revision.heuristics {
        let Some(now) = life.playbook.get_mut(usize::from(*slot)).filter(|now| now.id == heuristic.id) else {
            continue;
        };
        // What holding paid is a fact of its own, and stays with who is in use.
        (heuristic.paid, heuristic.stance, heuristic.voice) = (now.paid, now.stance, now.voice);
        *heuristic = std::mem::replace(now, heuristic.clone());
    }
    revision.adopted = !revision.adopted;
    (revision.confirmed, revision.contradicted) = (0, 0);
    (revision.gain, revision.squares, revision.excess) = (0.0, 0.0, 0.0);
}

/// What was lived up to here has been judged, and is no reason to judge again.
pub(crate) fn settled(life: &mut Life, at: usize) {
    let domain = usize::from(life.dreams.revisions[at].domain);
    life.dreams.settled[domain] = life.tick;
}

/// Ends the trials, and the probations, that are over.
pub(super) fn settle(draft: &mut Draft<'_>, expiry: u64) {
    let mut at = 0;
    while let Some(revision) = draft.dreams.revisions.get(at) {
        let counted = revision.confirmed + revision.contradicted;
        let event = match revision.adopted {
            false if revision.is_better() => Some(Event::Revised { at: at as u8 }),
            false if revision.confidence < REFUTED + 1e-9 => {
                Some(Event::RevisionLeft { at: at as u8, fate: Fate::Refuted })
            }
            false if draft.tick >= revision.since + expiry => {
                Some(Event::RevisionLeft { at: at as u8, fate: Fate::Expired })
            }
            true if counted >= PROBATION && revision.deviations() > 0.0 => Some(Event::Reverted { at: at as u8 }),
            true if counted >= PROBATION => Some(Event::RevisionLeft { at: at as u8, fate: Fate::Promoted }),
            _ => None,
        };
        match event {
            Some(event @ Event::Revised { .. }) => {
                draft.emit(event);
                at += 1;
            }
            Some(event) => draft.emit(event),
            None => at += 1,
        }
    }
}
