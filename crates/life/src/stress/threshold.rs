//! Thresholds of stressors: the figures at which one begins to press, and at which it clears. What is read off the record
//! and what is said about it both take them from here.

use crate::time::Span;

/// Goals looked back on.
pub const GOALS: u32 = 20;

/// Failed goals from which failure presses, where they are more than half.
pub const FAILED: u32 = 4;
/// The share of failed goals, in per cent, below which failure clears.
pub const FAILED_PERCENT: u32 = 30;
/// Goals that must not have failed for failure to clear.
pub const COMPLETED: u32 = 3;

/// Completed goals from which futility presses.
pub const FUTILE: u32 = 8;
/// The most effects among them.
pub const FUTILE_EFFECTS: u32 = 1;
/// Effects at which futility clears.
pub const EFFECTS: u32 = 3;

/// Asks without an answer from which silence presses.
pub const ASKS: u32 = 50;
/// How long there was no answer by then.
pub const SILENCE: Span = Span::seconds(7 * 86_400);

/// Decisions that keep to the owner's rules, after which a breach is over.
pub const DECISIONS: u32 = 20;

/// Hours below which the money left is a threat.
pub const HOURS_SHORT: u64 = 72;
/// Hours for which money is safe.
pub const HOURS_SAFE: u64 = 96;
/// Skill below which falling is a threat.
pub const SKILL_SHORT: f64 = 0.45;
/// Skill at which falling is no threat.
pub const SKILL_SAFE: f64 = 0.50;

/// Goals from which purpose is judged.
pub const JUDGED: u32 = 8;
/// The share of them, in per cent, above which repeating what failed presses.
pub const REPEATING_PERCENT: u32 = 70;
