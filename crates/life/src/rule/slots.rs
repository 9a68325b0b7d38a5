//! The slots of the playbook: one bit each in every claim.

use super::{Heuristic, Provenance, sample};
use crate::constitution::MindKind;
use crate::life::Life;
use crate::limits;

/// Claims before which a heuristic on trial is not judged.
const TRIAL: f64 = 30.0;
/// Stretches of time, none overlapping another, before which a heuristic on trial is not judged.
const STRETCHES: f64 = 3.0;

/// Whether the trial of a heuristic is over: enough claims, at least a third of them its own where it inherited the
/// rest.
pub fn is_tried(life: &Life, heuristic: &Heuristic) -> bool {
    if heuristic.fragment().is_some() {
        return sample::is_tried(life, heuristic);
    }
    let ahead = f64::from(life.looks_ahead(usize::from(heuristic.domain)));
    let trial = if life.laws().honest { TRIAL.max(STRETCHES * ahead) } else { TRIAL };
    let own = f64::from(heuristic.evidence_for) + f64::from(heuristic.evidence_against);
    heuristic.weight >= trial && own >= trial / 3.0
}

pub fn slots(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let slot = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(slot)
    })
}

/// Ticks between two new ideas, as its phase has it; none if there are no new ones.
pub fn ideas_every(life: &Life) -> Option<u64> {
    let mind = &life.constitution().mind;
    let some = mind.kind == MindKind::Rules && mind.explore_every > 0 && life.learns();
    let pace = life.phase().behaviour().mode.ideas_every().filter(|_| some)?;
    Some(u64::from(mind.explore_every) * pace)
}

/// How many more blends there is room for.
pub fn room_for_blends(life: &Life) -> usize {
    limits::BLENDS.saturating_sub(life.playbook.iter().filter(|heuristic| heuristic.blend.is_some()).count())
}

pub fn free_slot(life: &Life) -> Option<usize> {
    if life.playbook.len() < limits::HEURISTICS {
        return Some(life.playbook.len());
    }
    let failed = |h: &Heuristic| match h.fragment() {
        _ if h.provenance == Provenance::Instinct => false,
        Some(_) => sample::has_failed(life, h),
        None => is_tried(life, h) && (h.skill() <= 0.0 || !h.voice),
    };
    let candidates = life.playbook.iter().enumerate().filter(|(_, heuristic)| failed(heuristic));
    candidates.min_by(|(_, a), (_, b)| a.skill().total_cmp(&b.skill())).map(|(slot, _)| slot)
}
