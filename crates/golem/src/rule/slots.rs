//! The slots of the playbook: one bit each in every claim.

use super::{Heuristic, Provenance};
use crate::life::Life;
use crate::limits;

/// A heuristic on trial is not judged before this many claims.
const TRIAL: f64 = 30.0;
/// Nor before claims of so many stretches that share no time.
const STRETCHES: f64 = 3.0;

/// Claims after which a heuristic on trial is judged.
pub(super) fn trial(life: &Life, heuristic: &Heuristic) -> f64 {
    let ahead = f64::from(life.looks_ahead(usize::from(heuristic.domain)));
    if life.laws().honest { TRIAL.max(STRETCHES * ahead) } else { TRIAL }
}

pub(crate) fn slots(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let slot = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(slot)
    })
}

pub(crate) fn free_slot(life: &Life) -> Option<usize> {
    if life.playbook.len() < limits::HEURISTICS {
        return Some(life.playbook.len());
    }
    let failed = |h: &Heuristic| {
        h.provenance != Provenance::Instinct && h.weight >= trial(life, h) && (h.skill() <= 0.0 || !h.voice)
    };
    let candidates = life.playbook.iter().enumerate().filter(|(_, heuristic)| failed(heuristic));
    candidates.min_by(|(_, a), (_, b)| a.skill().total_cmp(&b.skill())).map(|(slot, _)| slot)
}
