//! The whole of what is known now: the Grimoire has a heuristic as it was when it came; what it has learned since is
//! Life's.

use life::Life;
use life::grimoire::{Decision, Kind};
use life::time::{REFERENCE_TICK, Span};

use crate::grimoire::{Grimoire, entry_of};

/// The Grimoire with everything the playbook has learned; bloodstains on what was seen to hold or fail at the very end.
pub fn whole(grimoire: &Grimoire, life: &Life) -> Grimoire {
    let mut whole = grimoire.clone();
    whole.reserve(life.heuristics_made());
    for heuristic in life.playbook() {
        let entry = entry_of(heuristic, life, whole.get(heuristic.id));
        whole.apply(&Decision::Put(Box::new(entry)));
    }
    let Some(death) = &life.death() else { return whole };
    let since = window(death.at.since(life.born()));
    let pressed: Vec<u8> = death.open.iter().filter_map(|open| open.domain).collect();
    let stained: Vec<_> = whole
        .in_use()
        .filter(|entry| !entry.bloodstain)
        .filter(|entry| {
            // Entries first seen in the last hours, and warnings about domains whose stressors still pressed.
            let late = entry.born + since >= death.at;
            late || (entry.kind == Kind::Warning && entry.domain.is_some_and(|d| pressed.contains(&d)))
        })
        .cloned()
        .collect();
    for mut entry in stained {
        entry.bloodstain = true;
        whole.apply(&Decision::Put(Box::new(entry)));
    }
    whole
}

/// Ticks before a death in which entries count as learned in dying.
pub const LAST: u64 = 500;
/// The part of a life that counts as dying at most, as one in so many: not all that a short life knew was learned in
/// dying.
const PART: u64 = 4;

/// How long before a death of this age its dying began.
fn window(age: Span) -> Span {
    REFERENCE_TICK.times(LAST).min(Span::millis(age.as_millis() / PART))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_life_is_not_all_dying() {
        let ticks = |n: u64| REFERENCE_TICK.times(n);
        for (lived, dying) in [(397, 99), (2_000, 500), (116_491, 500), (0, 0)] {
            let window = window(ticks(lived));
            assert!(window >= ticks(dying) && window < ticks(dying + 1), "{lived} ticks, {window} of them dying");
        }
    }
}
