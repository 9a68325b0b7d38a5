//! Staging: an idea from a dream is tried on what happens next, claim against claim, before it may enter the playbook.
//! It learns meanwhile, without a say, and can be traced from the playbook back to its night, its episodes and what
//! confirmed it. An idea that does worse later loses its say again.

use life::constitution::DreamMethod;
use life::dream::{Event, Fate, Found, PROMOTED, REFUTED, Revision, STAGED, Staged, same};
use life::rule::{self, Heuristic, free_slot};
use life::{Draft, Life, limits};

use super::revision;

/// Ticks of forty seconds after which a trial is over.
const EXPIRY: f64 = 5_000.0;

/// Looks that a trial is never shorter than.
const EXPIRY_FLOOR: f64 = 500.0;

/// Changes that are watched at once.
const CHANGES: usize = 10;

/// Claims after which a promoted idea is looked at again.
const LOOKED_AT_AGAIN: u32 = 60;

/// Claims after which a promoted idea is as good as any other heuristic.
const SETTLED: u32 = 600;

/// Takes up the findings of a night: known ones are left out, the best of the rest get a place.
pub(super) fn stage(draft: &mut Draft<'_>, found: &Found) {
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
        let known = draft.playbook().iter().any(|h| h.voice && same(h, &new.heuristic))
            || draft.dreams().staged.iter().any(|old| old.says_the_same(new));
        if known || accepted.len() >= most {
            continue;
        }
        let staged = &draft.dreams().staged;
        if staged.len() + accepted.len() >= most {
            let worst = (0..staged.len()).min_by(|a, b| staged[*a].utility.total_cmp(&staged[*b].utility));
            let Some(at) = worst.filter(|at| staged[*at].utility < new.utility) else { continue };
            draft.emit(Event::Unstaged { at: at as u8, fate: Fate::Displaced });
        }
        accepted.push(new.clone());
    }
    let revised = |r: &&Revision| !draft.dreams().revisions.iter().any(|old| old.domain == r.domain);
    let mut revisions: Vec<Revision> = found.revisions.iter().filter(revised).cloned().collect();
    revisions.dedup_by_key(|revision| revision.domain);
    draft.emit(Event::Dreamt(Box::new(Found { staged: accepted, revisions, ..found.clone() })));
}

/// Takes whatever was made up straight into use.
fn believe(draft: &mut Draft<'_>, found: &Found) {
    for new in &found.staged {
        let Some(slot) = free_slot(draft) else { return };
        let mut heuristic = new.heuristic.clone();
        (heuristic.id, heuristic.since) = (draft.heuristics_made() + 1, draft.tick());
        draft.emit(rule::Event::Adopted { slot: slot as u8, heuristic: Box::new(heuristic), night: None });
    }
}

/// Ends the trials that are over: into the playbook, or out. Confirmations alone are not enough: an idea must also be
/// less wrong over its whole trial, beyond what luck could do; until then it waits.
pub(crate) fn end_trials(draft: &mut Draft<'_>) {
    let scale = draft.constitution().interval.reference_ticks();
    let expiry = (EXPIRY / scale).max(EXPIRY_FLOOR) as u64;
    look_again(draft);
    revision::end_trials(draft, expiry);
    let mut at = 0;
    while let Some(hypothesis) = draft.dreams().staged.get(at) {
        let fate = if admitted(draft, hypothesis) {
            Fate::Promoted
        } else if hypothesis.confidence < REFUTED + 1e-9 {
            Fate::Refuted
        } else if draft.tick() >= hypothesis.since + expiry {
            Fate::Expired
        } else {
            at += 1;
            continue;
        };
        let promoted = (fate == Fate::Promoted).then(|| (grown(hypothesis, draft), hypothesis.night));
        let slot = free_slot(draft).unwrap_or(limits::HEURISTICS);
        let full = draft.dreams().changes.len() >= CHANGES;
        if promoted.is_some() && (slot >= limits::HEURISTICS || full) {
            // The playbook is full; the hypothesis waits as long as it may.
            at += 1;
            continue;
        }
        draft.emit(Event::Unstaged { at: at as u8, fate });
        if let Some((heuristic, night)) = promoted {
            draft.emit(rule::Event::Adopted { slot: slot as u8, heuristic: Box::new(heuristic), night: Some(night) });
        }
    }
}

/// The admission gate: proven by bets, or under the first laws by confidence; and in all less wrong than naive.
fn admitted(life: &Life, hypothesis: &Staged) -> bool {
    let laws = life.laws();
    let heuristic = &hypothesis.heuristic;
    let kind = life.birth().world.domains[usize::from(heuristic.domain)].kind;
    let proven = if laws.proof > 0.0 {
        hypothesis.proof() >= laws.proof
    } else {
        hypothesis.confidence >= PROMOTED - 1e-9 && heuristic.say(kind, laws) > 0.0
    };
    proven && hypothesis.error < hypothesis.naive_error
}

/// The hypothesis as a heuristic, with what it has shown in its trial.
fn grown(staged: &Staged, life: &Life) -> Heuristic {
    let mut heuristic = staged.heuristic.clone();
    heuristic.id = life.heuristics_made() + 1;
    heuristic.since = life.tick();
    heuristic.said.clear();
    heuristic
}

/// Takes the say from promoted ideas that have done worse than naive since.
fn look_again(draft: &mut Draft<'_>) {
    let mut at = 0;
    while let Some(change) = draft.dreams().changes.get(at) {
        let now = draft.playbook().get(usize::from(change.slot)).filter(|h| h.id == change.id);
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
