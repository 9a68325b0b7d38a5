//! The one gate for everything that goes out.

use life::Life;
use life::grimoire::{Entry, How, Kind, Source, Status};
use life::mortality::phase::Phase;

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
