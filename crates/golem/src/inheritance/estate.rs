//! The estate: entries of a Grimoire that are left to an heir, and in which order.

use life::Life;
use life::grimoire::Entry;
use life::rule::neutral;

use super::bottleneck::compress;
use crate::grimoire::Grimoire;
use crate::grimoire::bundle::{self, BundleLine};

/// Lines of a Grimoire for an heir: through the bottleneck, in the words of the world, surest surprises first.
pub fn estate(grimoire: &Grimoire, life: &Life, budget: usize) -> Vec<BundleLine> {
    let mut chosen = compress(grimoire.entries(), life.now(), budget);
    chosen.sort_by(|a, b| surprise(b, life).total_cmp(&surprise(a, life)).then(a.id.cmp(&b.id)));
    chosen.into_iter().map(|entry| bundle::export(entry, life)).collect()
}

/// How much an entry says that a newborn does not know: how far its expectation is from the neutral one, and how sure
/// it is.
fn surprise(entry: &Entry, life: &Life) -> f64 {
    let Some(claim) = entry.claim else { return 0.0 };
    let kind = life.birth().world.domains.get(usize::from(claim.domain)).map(|spec| spec.kind);
    let says = kind.map_or(0.0, |kind| (claim.effect - neutral(kind)).abs());
    says.min(1.0) * entry.confidence(life.now())
}
