//! What crosses a death: as much of what was known as fits through the bottleneck, each crossing discounted, and the
//! question whether whoever comes next would be more than a copy.

mod bottleneck;
mod descent;
mod gate;
mod mandate;
mod whole;

use crate::grimoire::bundle::Line;
use crate::grimoire::{Entry, Grimoire, bundle};
use crate::life::Life;
pub use bottleneck::{BALDWIN, BUDGET, compress, is_innate};
pub use descent::Descent;
pub use gate::{Way, has_tried, may_leave};
pub use mandate::{Mandate, divergence};
pub use whole::{LAST, whole};

/// What of a Grimoire an heir may have: through the bottleneck, in the words of the world, surest surprises first.
pub fn estate(grimoire: &Grimoire, life: &Life, budget: usize) -> Vec<Line> {
    let mut chosen = compress(grimoire.entries(), life.now, budget);
    chosen.sort_by(|a, b| surprise(b, life).total_cmp(&surprise(a, life)).then(a.id.cmp(&b.id)));
    chosen.into_iter().map(|entry| bundle::export(entry, life)).collect()
}

/// How much an entry says that nobody is born knowing: how far what it expects is from expecting nothing, and how sure.
pub fn surprise(entry: &Entry, life: &Life) -> f64 {
    let Some(claim) = entry.claim else { return 0.0 };
    let kind = life.birth.world.domains.get(usize::from(claim.domain)).map(|spec| spec.kind);
    let says = kind.map_or(0.0, |kind| (claim.effect - crate::rule::neutral(kind)).abs());
    says.min(1.0) * entry.confidence(life.now)
}
