//! Probing how unusual a tick is, and whether it is worth a question.

use life::event::Event;
use life::rule::Provenance;
use life::stress::Band;
use life::thought::Purpose;
use life::time::Span;
use life::{Draft, Life, policy, regime, stress};

/// Why a tick stands out.
pub(super) mod why {
    /// Claims were wrong by much more than they usually are.
    pub(crate) const SURPRISE: u8 = 1;
    /// The regime has changed.
    pub(crate) const REGIME: u8 = 2;
    /// Something presses that no model has been asked about of late.
    pub(crate) const PRESSURE: u8 = 4;
    /// A stop was hit.
    pub(crate) const STOP: u8 = 8;
    /// A rule that was left to it does worse than naive.
    pub(crate) const INHERITED: u8 = 16;
    /// A model asked for a stronger one.
    pub(crate) const DEEPER: u8 = 32;
}

/// Weights of the other reasons beside a surprise, which counts by its deviations.
const REGIME: f64 = 2.0;
const PRESSURE: f64 = 2.0;
const STOP: f64 = 4.0;
const INHERITED: f64 = 1.0;
/// Beyond this many deviations a surprise is as large as any.
const LARGEST: f64 = 6.0;

/// Age between two questions about a load that lasts.
const EXAMINED: Span = Span::seconds(6 * 3_600);

/// How unusual the tick is that has just been lived, and why.
pub(super) fn probe(draft: &Draft<'_>) -> (f32, u8) {
    let mut why = draft.events().iter().fold(0, |why, event| {
        why | match event {
            Event::Regime(regime::Event::Changed { .. }) => why::REGIME,
            Event::Policy(policy::Event::Stopped) => why::STOP,
            _ => 0,
        }
    });
    // What a sibling has seen of the world may be about to come here.
    if draft.clade().turned.is_some_and(|(_, tick)| tick + 1 >= draft.tick()) {
        why |= why::REGIME;
    }
    if presses(draft) {
        why |= why::PRESSURE;
    }
    let surprise = &draft.episodes().surprise;
    let deviation = (surprise.square - surprise.mean * surprise.mean).max(0.0).sqrt();
    let away = if deviation > 0.0 { ((surprise.last - surprise.mean) / deviation).clamp(0.0, LARGEST) } else { 0.0 };
    if away > 1.0 {
        why |= why::SURPRISE;
    }
    let failing = |slot: &life::rule::Heuristic| {
        slot.provenance == Provenance::Recalled && slot.judged && slot.voice && slot.skill() < 0.0
    };
    if draft.playbook().iter().any(failing) {
        why |= why::INHERITED;
    }
    let counts = [(why::REGIME, REGIME), (why::PRESSURE, PRESSURE), (why::STOP, STOP), (why::INHERITED, INHERITED)];
    let more: f64 = counts.iter().filter(|(bit, _)| why & bit != 0).map(|(_, counts)| counts).sum();
    ((away + more) as f32, why)
}

/// Whether to ask what presses: something has come since a model was last asked about it, or the load has lasted for a
/// while since then. Stressors are observed at the end of a step, and some come between two ticks, so it is read off the
/// life and not off the events of this tick; and it stays so until there is money and leave to ask.
fn presses(life: &Life) -> bool {
    let asked = life.thoughts().assessed;
    let new = || life.stress().active.iter().any(|stressor| asked.is_none_or(|asked| stressor.since >= asked));
    let lasts = || {
        stress::load_as_told(life) >= Band::Elevated.from() && asked.is_none_or(|asked| life.age() >= asked + EXAMINED)
    };
    !life.thoughts().asks(Purpose::Assess) && (new() || lasts())
}
