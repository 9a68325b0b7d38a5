//! What crosses a death: as much of what was known as fits through the bottleneck, each crossing discounted, and the
//! question whether whoever comes next would be more than a copy.

mod bottleneck;
mod descent;
mod mandate;
mod whole;

use crate::grimoire::bundle::Line;
use crate::grimoire::{Entry, Grimoire, How, Kind, Source, Status, bundle};
use crate::life::Life;
use crate::mortality::phase::Phase;
pub use bottleneck::{BALDWIN, BUDGET, compress, is_innate};
pub use descent::Descent;
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

/// By which way something goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To its siblings, while it lives.
    Clade,
    /// Onto its owner's shelf, while it lives.
    Shelf,
    /// Onto the shelf by its death.
    Deposit,
    /// Picked from among what the dead knew, by their owner.
    Picked,
    /// Into a file of its owner's.
    Copied,
}

impl Way {
    pub const ALL: [Way; 5] = [Way::Clade, Way::Shelf, Way::Deposit, Way::Picked, Way::Copied];

    /// Whoever lives could be made to say anything, and is held to so much an hour.
    pub fn is_limited(self) -> bool {
        matches!(self, Way::Clade | Way::Shelf)
    }
}

/// Believed at least this much by a living golem that puts it on the shelf.
const SHELVED: f64 = 0.5;

/// Whether an entry may leave a golem by this way: the one gate for everything that goes out.
pub fn may_leave(entry: &Entry, life: &Life, way: Way) -> bool {
    let confidence = entry.confidence(life.now);
    match way {
        Way::Clade => is_shared(entry, confidence, life),
        Way::Shelf => is_shared(entry, confidence, life) && confidence >= SHELVED,
        Way::Deposit => match entry.kind {
            Kind::Warning => true,
            Kind::Insight | Kind::Heuristic => confidence >= 0.6,
            Kind::CausalLink => confidence >= 0.5 && entry.evidence_for >= 3.0,
            Kind::StrategyFragment | Kind::Question => false,
        },
        Way::Picked => life.is_dead(),
        Way::Copied => matches!(entry.status, Status::Active | Status::Dormant),
    }
}

/// It came to this by itself, or has seen it hold; handing down what it was told makes nobody surer of it.
pub fn has_tried(entry: &Entry, life: &Life) -> bool {
    let own = |source: &Source| source.golem == life.id() && source.how != How::Instinct;
    entry.evidence_for > 0.0 || entry.provenance.sources.iter().any(own)
}

/// Ripe enough for others, by how sure its phase wants to be; a warning is at once. The dead keep nothing back.
fn is_shared(entry: &Entry, confidence: f64, life: &Life) -> bool {
    let phase = if life.is_dead() { Phase::Terminal } else { life.phase() };
    let sure = phase.behaviour().sharing;
    match entry.kind {
        Kind::Warning => true,
        Kind::Insight => confidence >= sure && entry.status == Status::Active,
        Kind::Heuristic => confidence >= sure + 0.1 && entry.evidence_for + entry.evidence_against >= 10.0,
        Kind::CausalLink => confidence >= sure - 0.1 && entry.evidence_for > 0.0,
        Kind::StrategyFragment => confidence >= sure,
        Kind::Question => false,
    }
}
