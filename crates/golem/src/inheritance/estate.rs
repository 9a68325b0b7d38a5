//! The estate: what of a Grimoire is left to an heir, and in which order.

use life::Life;
use life::grimoire::Entry;
use life::rule::neutral;

use super::bottleneck::compress;
use crate::grimoire::Grimoire;
use crate::grimoire::bundle::{self, Line};

/// What of a Grimoire an heir may have: through the bottleneck, in the words of the world, surest surprises first.
pub fn estate(grimoire: &Grimoire, life: &Life, budget: usize) -> Vec<Line> {
    let mut chosen = compress(grimoire.entries(), life.now(), budget);
    chosen.sort_by(|a, b| surprise(b, life).total_cmp(&surprise(a, life)).then(a.id.cmp(&b.id)));
    chosen.into_iter().map(|entry| bundle::export(entry, life)).collect()
}

/// How much an entry says that nobody is born knowing: how far what it expects is from expecting nothing, and how sure.
fn surprise(entry: &Entry, life: &Life) -> f64 {
    let Some(claim) = entry.claim else { return 0.0 };
    let kind = life.birth().world.domains.get(usize::from(claim.domain)).map(|spec| spec.kind);
    let says = kind.map_or(0.0, |kind| (claim.effect - neutral(kind)).abs());
    says.min(1.0) * entry.confidence(life.now())
}
