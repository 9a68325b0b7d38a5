//! What is known as it is now: the Grimoire has a heuristic as it was when it came; what it has learned since is Life's.

use crate::grimoire::{Decision, Grimoire, entry_of};
use crate::life::Life;

/// The Grimoire with everything the playbook has learned; bloodstains on what was seen to hold or fail at the very end.
pub fn whole(grimoire: &Grimoire, life: &Life) -> Grimoire {
    let mut whole = grimoire.clone();
    whole.reserve(life.heuristics_made);
    for heuristic in &life.playbook {
        let entry = entry_of(heuristic, life, whole.get(heuristic.id));
        whole.apply(&Decision::Put(Box::new(entry)));
    }
    let Some(death) = &life.death else { return whole };
    let since = crate::time::REFERENCE_TICK.times(LAST);
    let pressed: Vec<u8> = death.open.iter().filter_map(|open| open.domain).collect();
    let stained: Vec<_> = whole
        .in_use()
        .filter(|entry| !entry.bloodstain)
        .filter(|entry| {
            // What was seen in the last hours, first, or has to do with what still pressed.
            let late = entry.born + since >= death.at;
            late || (entry.kind == crate::grimoire::Kind::Warning && entry.domain.is_some_and(|d| pressed.contains(&d)))
        })
        .cloned()
        .collect();
    for mut entry in stained {
        entry.bloodstain = true;
        whole.apply(&Decision::Put(Box::new(entry)));
    }
    whole
}

/// Ticks before a death in which what is learned was learned in dying.
pub const LAST: u64 = 500;
