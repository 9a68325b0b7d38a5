//! Staging: what was dreamt is tried on what happens next, claim against claim, before it may change what a golem goes
//! by. It learns meanwhile, without a say; and can be traced from the playbook back to its night, its episodes and what
//! confirmed it. What later does worse loses its say again.

use serde::{Deserialize, Serialize};

use super::revision::{self, Revision};
use super::work::Found;
use crate::constitution::{DreamFigures, DreamMethod};
use crate::draft::Draft;
use crate::event::Event;
use crate::life::Life;
use crate::limits;
use crate::prediction::Prediction;
use crate::rule::{Heuristic, learning, mind};
use crate::time::Time;
use crate::world::Features;

/// Where a trial ends.
pub const PROMOTED: f64 = 0.7;
pub const REFUTED: f64 = 0.1;
/// What half-formed ideas and those of others begin with.
const HALF_FORMED: f64 = 0.15;
/// Hypotheses on trial at once; each has a bit in every claim it would have had a say in.
pub const STAGED: usize = 10;
/// Ticks of forty seconds after which a trial is over, and the looks it is never fewer than.
const EXPIRY: f64 = 5_000.0;
const EXPIRY_FLOOR: f64 = 500.0;
/// Changes that are watched at once.
const CHANGES: usize = 10;
/// Claims after which what was promoted is looked at again, and after which it is as good as any other.
const LOOKED_AT_AGAIN: u32 = 60;
const SETTLED: u32 = 600;

/// How an idea came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Something episodes have in common: an insight.
    Pattern,
    /// Caught while falling asleep.
    Fragment,
    /// Put together from others: a hypothesis of a strategy.
    Recombined,
    /// Left unfinished by who came before.
    Inherited,
    /// Made up, and believed without asking; for experiments.
    Random,
    /// Where the other choice would have been better.
    Regret,
}

impl Origin {
    /// The confidence a trial begins with.
    pub fn confidence(self, figures: &DreamFigures) -> f64 {
        match self {
            Origin::Pattern => figures.insight,
            Origin::Recombined | Origin::Random | Origin::Regret => figures.hypothesis,
            Origin::Fragment | Origin::Inherited => HALF_FORMED,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Staged {
    /// As it learns in its trial.
    pub heuristic: Heuristic,
    pub origin: Origin,
    pub night: u64,
    /// Some of the episodes it held on before it was staged.
    pub episodes: Vec<u64>,
    /// The tick of the first of them.
    #[serde(default)]
    pub seed: u64,
    /// By how much less wrong than the playbook it was there.
    pub utility: f64,
    pub confidence: f64,
    pub confirmed: u32,
    pub contradicted: u32,
    /// How wrong it was in its trial, and the naive forecast beside it.
    pub error: f64,
    pub naive_error: f64,
    pub since: u64,
    /// Up to where time has been counted, so that no two cases share any.
    pub until: Time,
}

/// What became of a hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    Promoted,
    Refuted,
    Expired,
    /// A better one took its place.
    Displaced,
}

/// Something dreamt that has come into use, until it has shown that it may stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub slot: u8,
    pub id: u64,
    pub night: u64,
    /// Claims it had been tried in by then.
    pub tried: u32,
}

impl Staged {
    pub(super) fn new(
        heuristic: Heuristic,
        origin: Origin,
        utility: f64,
        (episodes, seed): (Vec<u64>, u64),
        life: &Life,
    ) -> Staged {
        let night = life.dreams.night.as_ref().map_or(0, |night| night.number);
        Staged {
            heuristic,
            origin,
            night,
            episodes,
            seed,
            utility,
            confidence: origin.confidence(&life.constitution().dream),
            confirmed: 0,
            contradicted: 0,
            error: 0.0,
            naive_error: 0.0,
            since: life.tick,
            until: life.now,
        }
    }

    pub fn says_the_same(&self, other: &Staged) -> bool {
        same(&self.heuristic, &other.heuristic)
    }
}

fn same(a: &Heuristic, b: &Heuristic) -> bool {
    a.domain == b.domain && a.condition.same(&b.condition) && (a.effect - b.effect).abs() < 0.05
}

/// Takes up what a night has found: what is known already is left, the best of the rest gets a place.
pub(crate) fn stage(draft: &mut Draft<'_>, found: &Found) {
    let mut accepted: Vec<Staged> = Vec::new();
    let most = (draft.constitution().dream.staged_most as usize).min(STAGED);
    if !found.ideas.is_empty() {
        draft.emit(Event::Conceived { ideas: found.ideas.clone() });
    }
    if draft.constitution().dream.method == DreamMethod::Random {
        let report = Found { staged: Vec::new(), revisions: Vec::new(), ..found.clone() };
        draft.emit(Event::Dreamt(Box::new(report)));
        return believe(draft, found);
    }
    for new in &found.staged {
        let known = draft.playbook.iter().any(|h| h.voice && same(h, &new.heuristic))
            || draft.dreams.staged.iter().any(|old| old.says_the_same(new));
        if known || accepted.len() >= most {
            continue;
        }
        let staged = &draft.dreams.staged;
        if staged.len() + accepted.len() >= most {
            let worst = (0..staged.len()).min_by(|a, b| staged[*a].utility.total_cmp(&staged[*b].utility));
            let Some(at) = worst.filter(|at| staged[*at].utility < new.utility) else { continue };
            draft.emit(Event::Unstaged { at: at as u8, fate: Fate::Displaced });
        }
        accepted.push(new.clone());
    }
    let revised = |r: &&Revision| !draft.dreams.revisions.iter().any(|old| old.domain == r.domain);
    let mut revisions: Vec<Revision> = found.revisions.iter().filter(revised).cloned().collect();
    revisions.dedup_by_key(|revision| revision.domain);
    draft.emit(Event::Dreamt(Box::new(Found { staged: accepted, revisions, ..found.clone() })));
}

/// Takes whatever was made up straight into use.
fn believe(draft: &mut Draft<'_>, found: &Found) {
    for new in &found.staged {
        let Some(slot) = mind::free_slot(draft) else { return };
        let mut heuristic = new.heuristic.clone();
        (heuristic.id, heuristic.since) = (draft.heuristics_made + 1, draft.tick);
        draft.emit(Event::Adopted { slot: slot as u8, heuristic: Box::new(heuristic) });
    }
}

/// The hypotheses whose condition holds, one bit each.
pub(crate) fn holding(life: &Life, features: &Features) -> u16 {
    let bits = life.dreams.staged.iter().enumerate();
    bits.fold(0, |bits, (at, staged)| bits | u16::from(staged.heuristic.condition.holds(features)) << at)
}

/// Those of them that speak of a domain.
pub(crate) fn about(life: &Life, domain: u8) -> u16 {
    let bits = life.dreams.staged.iter().enumerate();
    bits.fold(0, |bits, (at, staged)| bits | u16::from(staged.heuristic.domain == domain) << at)
}

/// A claim came true or not: what it says of each hypothesis that held when it was made.
pub(crate) fn tried(life: &mut Life, domain: usize, claim: &Prediction, actual: f64) {
    let (laws, kind, regime) = (life.laws(), life.birth.world.domains[domain].kind, life.regimes.now);
    let made = claim.due - life.horizon(domain);
    for (at, hypothesis) in life.dreams.staged.iter_mut().enumerate() {
        if claim.staged >> at & 1 == 0 {
            continue;
        }
        let wrong = |h: &Heuristic| learning::error(kind, claim.base, h.forecast(kind, claim.naive), actual, laws);
        let error = wrong(&hypothesis.heuristic);
        let naive = learning::error(kind, claim.base, claim.naive, actual, laws);
        hypothesis.heuristic.learn(kind, claim, actual, regime, laws);
        hypothesis.error += error;
        hypothesis.naive_error += naive;
        if made < hypothesis.until {
            continue;
        }
        hypothesis.until = claim.due;
        if error < naive {
            hypothesis.confirmed += 1;
            hypothesis.confidence = (hypothesis.confidence + laws.dream_confirms).min(1.0);
        } else {
            hypothesis.contradicted += 1;
            hypothesis.confidence -= laws.dream_contradicts;
        }
    }
}

/// One left: those after it move up, in every claim.
pub(crate) fn leave(life: &mut Life, at: usize) {
    life.dreams.staged.remove(at);
    let below = (1_u16 << at) - 1;
    let close = |bits: u16| bits & below | (bits >> 1) & !below;
    life.dreams.holds.0 = close(life.dreams.holds.0);
    for claim in life.open.iter_mut().flatten() {
        claim.staged = close(claim.staged);
    }
}

/// Ends the trials that are over: into the playbook, or out. Enough confirmations are not enough: what is let in must
/// also be less wrong over its whole trial, beyond what luck could do; until then it waits.
pub(crate) fn settle(draft: &mut Draft<'_>) {
    let scale = draft.constitution().interval.reference_ticks();
    let expiry = (EXPIRY / scale).max(EXPIRY_FLOOR) as u64;
    look_again(draft);
    revision::settle(draft, expiry);
    let mut at = 0;
    while let Some(hypothesis) = draft.dreams.staged.get(at) {
        let fate = match () {
            () if admitted(draft, hypothesis) => Some(Fate::Promoted),
            () if hypothesis.confidence < REFUTED + 1e-9 => Some(Fate::Refuted),
            () if draft.tick >= hypothesis.since + expiry => Some(Fate::Expired),
            () => None,
        };
        let Some(fate) = fate else {
            at += 1;
            continue;
        };
        let promoted = (fate == Fate::Promoted).then(|| grown(hypothesis, draft));
        let slot = mind::free_slot(draft).unwrap_or(limits::HEURISTICS);
        let full = draft.dreams.changes.len() >= CHANGES;
        if promoted.is_some() && (slot >= limits::HEURISTICS || full) {
            // There is no room for it; it waits, as long as it may.
            at += 1;
            continue;
        }
        draft.emit(Event::Unstaged { at: at as u8, fate });
        if let Some(heuristic) = promoted {
            draft.emit(Event::Adopted { slot: slot as u8, heuristic: Box::new(heuristic) });
        }
    }
}

/// The admission gate.
fn admitted(life: &Life, hypothesis: &Staged) -> bool {
    let heuristic = &hypothesis.heuristic;
    let kind = life.birth.world.domains[usize::from(heuristic.domain)].kind;
    hypothesis.confidence >= PROMOTED - 1e-9
        && hypothesis.error < hypothesis.naive_error
        && heuristic.say(kind, life.laws()) > 0.0
}

/// As a heuristic, with what it has shown in its trial.
fn grown(staged: &Staged, life: &Life) -> Heuristic {
    let mut heuristic = staged.heuristic.clone();
    heuristic.id = life.heuristics_made + 1;
    heuristic.since = life.tick;
    heuristic
}

/// What was let in and has done worse than naive since loses its say.
fn look_again(draft: &mut Draft<'_>) {
    let mut at = 0;
    while let Some(change) = draft.dreams.changes.get(at) {
        let now = draft.playbook.get(usize::from(change.slot)).filter(|h| h.id == change.id);
        let since = now.map_or(SETTLED, |h| (h.evidence_for + h.evidence_against).saturating_sub(change.tried));
        let worse = now.is_some_and(|h| h.skill() < 0.0);
        if since >= LOOKED_AT_AGAIN && worse {
            draft.emit(Event::RolledBack { at: at as u8 });
        } else if since >= SETTLED {
            draft.emit(Event::Proven { at: at as u8 });
        } else {
            at += 1;
        }
    }
}

impl Change {
    pub(crate) fn new(slot: u8, heuristic: &Heuristic, night: u64) -> Change {
        let tried = heuristic.evidence_for + heuristic.evidence_against;
        Change { slot, id: heuristic.id, night, tried }
    }
}
