//! Causal links as a graph: what follows from what, how surely, up to five steps ahead.

use std::collections::BTreeMap;

use life::grimoire::Status;
use life::time::Time;

use super::Grimoire;

/// Steps ahead that are still worth thinking about.
pub const HOPS: usize = 5;

/// Where a walk led, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Features, the first cause first.
    pub through: Vec<u8>,
    /// Whether the last rises when the first is high.
    pub same_way: bool,
    /// The product of the confidences on the way.
    pub confidence: f64,
}

impl Grimoire {
    /// The surest way from a feature to every other it reaches in so many hops, surest first.
    pub fn walk(&self, from: u8, hops: usize, now: Time) -> Vec<Path> {
        let mut best: BTreeMap<u8, Path> = BTreeMap::new();
        let mut edge = vec![Path { through: vec![from], same_way: true, confidence: 1.0 }];
        for _ in 0..hops.min(HOPS) {
            let mut next = Vec::new();
            for path in &edge {
                let at = *path.through.last().expect("a path begins somewhere");
                let links = self.in_use().filter(|entry| entry.status != Status::Candidate);
                for (link, entry) in links.filter_map(|entry| entry.link.map(|link| (link, entry))) {
                    if link.cause != at || path.through.contains(&link.effect) {
                        continue;
                    }
                    let mut through = path.through.clone();
                    through.push(link.effect);
                    let confidence = path.confidence * entry.confidence(now);
                    let step = Path { through, same_way: path.same_way == link.same_way, confidence };
                    if best.get(&link.effect).is_none_or(|known| step.confidence > known.confidence) {
                        best.insert(link.effect, step.clone());
                        next.push(step);
                    }
                }
            }
            edge = next;
        }
        let mut paths: Vec<Path> = best.into_values().collect();
        paths.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then(a.through.cmp(&b.through)));
        paths
    }
}
