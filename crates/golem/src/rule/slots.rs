//! The slots of the playbook: one bit each in every claim.

use super::{Heuristic, Provenance};
use crate::life::Life;
use crate::limits;

/// A heuristic on trial is not judged before this many claims.
pub(super) const TRIAL: f64 = 30.0;

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
    let failed =
        |h: &Heuristic| h.provenance != Provenance::Instinct && h.weight >= TRIAL && (h.skill() <= 0.0 || !h.voice);
    let candidates = life.playbook.iter().enumerate().filter(|(_, heuristic)| failed(heuristic));
    candidates.min_by(|(_, a), (_, b)| a.skill().total_cmp(&b.skill())).map(|(slot, _)| slot)
}
