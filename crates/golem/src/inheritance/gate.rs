//! The one gate for all knowledge that leaves a golem.

use life::Life;
use life::grimoire::{Entry, How, Kind, Source, Status};
use life::mortality::phase::Phase;

/// The way by which an entry leaves a golem.
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

    /// Whether entries are limited per hour: a living golem could be made to say anything.
    pub fn is_limited(self) -> bool {
        matches!(self, Way::Clade | Way::Shelf)
    }
}

/// The least confidence with which a living golem puts an entry on the shelf.
const SHELVED: f64 = 0.5;

/// Whether an entry may leave a golem by this way.
pub fn may_leave(entry: &Entry, life: &Life, way: Way) -> bool {
    let confidence = entry.confidence(life.now());
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

/// Whether the golem found this itself, or has seen it hold: handing on hearsay makes it no surer.
pub fn has_tried(entry: &Entry, life: &Life) -> bool {
    let own = |source: &Source| source.golem == life.id() && source.how != How::Instinct;
    entry.evidence_for > 0.0 || entry.provenance.sources.iter().any(own)
}

/// Whether an entry is sure enough to share, by the standard of the golem's phase; a warning always is. The dead keep
/// nothing back.
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
