//! The bottleneck: of everything known, as many entries as an heir can be given. A quarter for what was paid for with a
//! life or has stood the test of generations, half shared out among the domains, a quarter to the best of the rest; no
//! entry twice, and no place empty while an entry is left.

use std::collections::BTreeMap;

use life::grimoire::{Entry, Status};
use life::time::Time;

/// Entries an heir is given at most.
pub const BUDGET: usize = 2_048;
/// Generations after which, and the confidence from which, what was learned becomes innate.
pub const BALDWIN: (u32, f64) = (3, 0.7);

/// True for an entry that has been in the line for generations and is still believed.
pub fn is_innate(entry: &Entry, generation: u32, now: Time) -> bool {
    let first = entry.provenance.sources.iter().map(|source| source.generation).min().unwrap_or(generation);
    generation >= first + BALDWIN.0 && entry.confidence(now) >= BALDWIN.1
}

/// Chooses entries for an heir. Equal entries give an equal choice, whatever order they come in.
pub fn compress<'a>(entries: impl Iterator<Item = &'a Entry>, now: Time, budget: usize) -> Vec<&'a Entry> {
    // Archived entries were given up; everything else is weighed once.
    let mut all: Vec<(f64, &Entry)> = entries
        .filter(|entry| entry.status != Status::Archived)
        .map(|entry| (entry.quality.clamp(0.0, 1.0) * entry.confidence(now), entry))
        .map(|(worth, entry)| (if worth.is_finite() { worth } else { 0.0 }, entry))
        .collect();
    let best = |a: &(f64, &Entry), b: &(f64, &Entry)| {
        b.0.total_cmp(&a.0).then(b.1.validated_at.cmp(&a.1.validated_at)).then(a.1.id.cmp(&b.1.id))
    };
    all.sort_by(best);
    let newest = all.iter().map(|(_, entry)| generation(entry)).max().unwrap_or(0);
    let mut taken = vec![false; all.len()];
    let mut chosen = Vec::with_capacity(budget.min(all.len()));
    // Paid for with a life, the newest first; then what generations have kept.
    let mut paid: Vec<usize> = (0..all.len()).filter(|at| all[*at].1.bloodstain).collect();
    paid.sort_by(|a, b| all[*b].1.born.cmp(&all[*a].1.born).then(all[*a].1.id.cmp(&all[*b].1.id)));
    let innate = (0..all.len()).filter(|at| !all[*at].1.bloodstain && is_innate(all[*at].1, newest, now));
    for at in paid.into_iter().chain(innate.collect::<Vec<_>>()).take(budget / 4) {
        taken[at] = true;
        chosen.push(all[at].1);
    }
    // One from each domain in turn, best first, until half the places are gone.
    let mut by_domain: BTreeMap<Option<u8>, std::collections::VecDeque<usize>> = BTreeMap::new();
    for at in (0..all.len()).filter(|at| !taken[*at]) {
        by_domain.entry(all[at].1.domain).or_default().push_back(at);
    }
    let mut shared = 0;
    while shared < budget / 2 && !by_domain.is_empty() {
        by_domain.retain(|_, waiting| {
            if shared < budget / 2
                && let Some(at) = waiting.pop_front()
            {
                taken[at] = true;
                chosen.push(all[at].1);
                shared += 1;
            }
            !waiting.is_empty()
        });
    }
    let left = budget.saturating_sub(chosen.len());
    chosen.extend((0..all.len()).filter(|at| !taken[*at]).take(left).map(|at| all[at].1));
    chosen
}

fn generation(entry: &Entry) -> u32 {
    entry.provenance.sources.iter().map(|source| source.generation).max().unwrap_or(0)
}
