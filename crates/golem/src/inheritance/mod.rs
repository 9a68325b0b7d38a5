//! What crosses a death: as much of what was known as fits through the bottleneck, each crossing discounted, and the
//! question whether whoever comes next would be more than a copy.

mod bottleneck;
mod mandate;
mod whole;

pub use bottleneck::{BALDWIN, BUDGET, compress, is_innate};
pub use mandate::{INVALIDATED, Mandate, NOVEL, QUESTIONS, divergence};
pub use whole::{LAST, whole};

use crate::grimoire::bundle::{self, Line};
use crate::grimoire::{Entry, Grimoire, Kind, Status};
use crate::life::Life;

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

/// Why an entry may leave a golem while it lives: the one gate for everything that goes out.
pub fn may_leave(entry: &Entry, life: &Life) -> bool {
    let confidence = entry.confidence(life.now);
    let active = entry.status == Status::Active;
    match entry.kind {
        Kind::Warning => true,
        Kind::Insight => confidence >= 0.6 && active,
        Kind::Heuristic => confidence >= 0.7 && entry.evidence_for + entry.evidence_against >= 10.0,
        Kind::CausalLink => confidence >= 0.5 && entry.evidence_for > 0.0,
        Kind::StrategyFragment => confidence >= 0.6,
        Kind::Question => false,
    }
}

/// What a death puts on its owner's shelf.
pub fn is_deposited(entry: &Entry, life: &Life) -> bool {
    let confidence = entry.confidence(life.now);
    match entry.kind {
        Kind::Warning => true,
        Kind::Insight | Kind::Heuristic => confidence >= 0.6,
        Kind::CausalLink => confidence >= 0.5 && entry.evidence_for >= 3.0,
        Kind::StrategyFragment | Kind::Question => false,
    }
}
