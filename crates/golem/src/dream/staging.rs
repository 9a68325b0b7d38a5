//! Staging: what was dreamt is tried on what happens next, claim against claim, before it may change what a golem goes
//! by; and can be traced from the playbook back to its night, its episodes and what confirmed it.

use serde::{Deserialize, Serialize};

use super::work::Found;
use crate::draft::Draft;
use crate::episode::Pending;
use crate::event::Event;
use crate::laws::Laws;
use crate::life::Life;
use crate::limits;
use crate::rule::{Heuristic, learning, mind};
use crate::time::Time;
use crate::world::{DomainKind, Features, Manifest, Values};

/// What a hypothesis begins with, and where it ends.
pub const HYPOTHESIS: f64 = 0.2;
pub const PROMOTED: f64 = 0.7;
pub const REFUTED: f64 = 0.1;
/// Hypotheses on trial at once.
pub const STAGED: usize = 10;
/// Ticks of forty seconds after which a trial is over, and the looks it is never fewer than.
const EXPIRY: f64 = 5_000.0;
const EXPIRY_FLOOR: f64 = 500.0;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Staged {
    pub heuristic: Heuristic,
    pub night: u64,
    /// Some of the episodes it held on before it was staged.
    pub episodes: Vec<u64>,
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

impl Staged {
    pub(super) fn new(heuristic: Heuristic, utility: f64, episodes: Vec<u64>, life: &Life) -> Staged {
        let night = life.dreams.night.as_ref().map_or(0, |night| night.number);
        Staged {
            heuristic,
            night,
            episodes,
            utility,
            confidence: HYPOTHESIS,
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
    for new in &found.staged {
        let known = draft.playbook.iter().any(|h| h.voice && same(h, &new.heuristic))
            || draft.dreams.staged.iter().any(|old| old.says_the_same(new));
        if known || accepted.len() >= STAGED {
            continue;
        }
        let staged = &draft.dreams.staged;
        if staged.len() + accepted.len() >= STAGED {
            let worst = (0..staged.len()).min_by(|a, b| staged[*a].utility.total_cmp(&staged[*b].utility));
            let Some(at) = worst.filter(|at| staged[*at].utility < new.utility) else { continue };
            draft.emit(Event::Unstaged { at: at as u8, fate: Fate::Displaced });
        }
        accepted.push(new.clone());
    }
    draft.emit(Event::Dreamt(Box::new(Found { staged: accepted, ..found.clone() })));
}

/// What an episode that has just ended says of each hypothesis: whether it did better than naive where it spoke.
pub(crate) fn tried(
    staged: &mut [Staged],
    world: &Manifest,
    pending: &Pending,
    began: Time,
    actual: &Values,
    laws: &Laws,
) {
    let (state, base) = (&pending.state, &pending.values);
    let features: Features = state.iter().map(|feature| f64::from(*feature)).collect();
    for hypothesis in staged {
        let heuristic = &hypothesis.heuristic;
        let domain = usize::from(heuristic.domain);
        let (Some(spec), Some(base), Some(actual)) = (world.domains.get(domain), base.get(domain), actual.get(domain))
        else {
            continue;
        };
        if began < hypothesis.until || !heuristic.condition.holds(&features) {
            continue;
        }
        hypothesis.until = pending.due;
        let naive = match spec.kind {
            DomainKind::Value => *base,
            DomainKind::Direction => 0.5,
            DomainKind::Range => {
                let share = spec.scale.and_then(|at| features.get(usize::from(at))).copied().unwrap_or(0.0);
                (base * share).abs()
            }
        };
        let error = learning::error(spec.kind, *base, heuristic.forecast(spec.kind, naive), *actual, laws);
        let naive_error = learning::error(spec.kind, *base, naive, *actual, laws);
        hypothesis.error += error;
        hypothesis.naive_error += naive_error;
        if error < naive_error {
            hypothesis.confirmed += 1;
            hypothesis.confidence += laws.dream_confirms;
        } else {
            hypothesis.contradicted += 1;
            hypothesis.confidence -= laws.dream_contradicts;
        }
    }
}

/// Ends the trials that are over: into the playbook, or out. One that was right more often than not and yet no less wrong
/// than naive as a whole is not let in.
pub(crate) fn settle(draft: &mut Draft<'_>) {
    let scale = draft.constitution().interval.reference_ticks();
    let expiry = (EXPIRY / scale).max(EXPIRY_FLOOR) as u64;
    let mut at = 0;
    while let Some(hypothesis) = draft.dreams.staged.get(at) {
        let surely = hypothesis.confidence >= PROMOTED - 1e-9;
        let better = hypothesis.error < hypothesis.naive_error;
        let fate = match () {
            () if surely && better => Some(Fate::Promoted),
            () if hypothesis.confidence < REFUTED + 1e-9 || surely => Some(Fate::Refuted),
            () if draft.tick >= hypothesis.since + expiry => Some(Fate::Expired),
            () => None,
        };
        let Some(fate) = fate else {
            at += 1;
            continue;
        };
        let promoted = (fate == Fate::Promoted).then(|| grown(hypothesis, draft));
        let slot = mind::free_slot(draft).unwrap_or(limits::HEURISTICS);
        if promoted.is_some() && slot >= limits::HEURISTICS {
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

/// As a heuristic, with what it has shown in its trial.
fn grown(staged: &Staged, life: &Life) -> Heuristic {
    let mut heuristic = staged.heuristic.clone();
    heuristic.id = life.heuristics_made + 1;
    heuristic.since = life.tick;
    heuristic.weight = f64::from(staged.confirmed + staged.contradicted);
    (heuristic.error, heuristic.naive_error) = (staged.error, staged.naive_error);
    (heuristic.evidence_for, heuristic.evidence_against) = (staged.confirmed, staged.contradicted);
    heuristic
}
