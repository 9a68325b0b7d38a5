//! Episodes: the ticks that matter, remembered with what the world looked like, and what became of it.
//!
//! A tick matters when it surprised by more than a deviation, when something was intended or refused, when
//! the regime or the phase changed; and one in twenty does in any case. As far ahead as claims look it is
//! known what the world did and how much better the other choice would have been.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::draft::Draft;
use crate::event::Event;
use crate::life::Life;
use crate::limits;
use crate::money::Usdc;
use crate::time::{Span, Time};
use crate::world::{Bar, Values};

/// At least one tick in so many is remembered.
const ROUTINE: u64 = 20;

/// Why a tick is remembered; reasons add up.
pub mod why {
    pub const SURPRISE: u8 = 1;
    pub const INTENT: u8 = 2;
    pub const REFUSAL: u8 = 4;
    pub const REGIME: u8 = 8;
    pub const PHASE: u8 = 16;
    pub const DEATH: u8 = 32;
    /// Nothing special: so that ordinary times are remembered too.
    pub const ROUTINE: u8 = 64;
}

/// What the world looked like; half the precision is plenty for likeness.
pub type State = ArrayVec<f32, { limits::FEATURES }>;

/// Remembered, and its end not yet known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    pub due: Time,
    pub unit: Usdc,
    pub exposed: bool,
    /// What the world looked like, and stood at.
    pub state: State,
    pub values: Values,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Episodes {
    pub made: u64,
    pub last_tick: u64,
    /// Oldest first; the newest of them is episode number `made`.
    pub pending: VecDeque<Pending>,
    pub surprise: Surprise,
}

/// How wrong the claims of a tick were, as a multiple of how wrong they usually are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Surprise {
    sum: f64,
    claims: f64,
    /// Of the last tick that resolved any.
    pub last: f64,
    pub mean: f64,
    pub square: f64,
    ticks: f64,
}

impl Surprise {
    pub(crate) fn add(&mut self, error: f64, usual: f64, most: f64) {
        let times = error / usual;
        if usual > 0.0 && times >= 0.0 {
            self.sum += times.min(most);
            self.claims += 1.0;
        }
    }

    /// The tick is over.
    pub(crate) fn close(&mut self, memory: f64) {
        if self.claims == 0.0 {
            self.last = 0.0;
            return;
        }
        self.last = self.sum / self.claims;
        self.ticks += 1.0;
        let share = 1.0 / self.ticks.min(memory);
        self.mean += (self.last - self.mean) * share;
        self.square += (self.last * self.last - self.square) * share;
        (self.sum, self.claims) = (0.0, 0.0);
    }

    /// More than a deviation beyond the usual.
    fn is_striking(&self) -> bool {
        let deviation = (self.square - self.mean * self.mean).max(0.0).sqrt();
        self.last > self.mean + deviation
    }
}

/// Remembers this tick if it matters.
pub(crate) fn remember(draft: &mut Draft<'_>, bar: &Bar) {
    let mut why = draft.events().iter().fold(0, |why, event| {
        why | match event {
            Event::Intended(_) => why::INTENT,
            Event::Refused { .. } | Event::Denied { .. } => why::REFUSAL,
            Event::RegimeChanged { .. } => why::REGIME,
            Event::PhaseChanged { .. } => why::PHASE,
            Event::Died(_) => why::DEATH,
            _ => 0,
        }
    });
    // A preview is denied between two looks.
    if draft.refused.is_some_and(|(_, tick)| tick > draft.episodes.last_tick && tick + 1 >= draft.tick) {
        why |= why::REFUSAL;
    }
    if draft.episodes.surprise.is_striking() {
        why |= why::SURPRISE;
    }
    if why == 0 && draft.tick - draft.episodes.last_tick >= ROUTINE {
        why = why::ROUTINE;
    }
    if why != 0 && draft.episodes.pending.len() < limits::EPISODES {
        let state: State = bar.features.iter().map(|feature| *feature as f32).collect();
        draft.emit(Event::Remembered { why, state: Box::new(state) });
    }
}

/// What became of the episodes that end with this bar.
pub(crate) fn look_back(draft: &mut Draft<'_>, bar: &Bar) {
    while let Some(pending) = draft.episodes.pending.front().filter(|pending| pending.due <= bar.closed) {
        let (change, exposed) = (relative(pending.unit, bar.unit), pending.exposed);
        if !draft.knowing.watched.is_empty() {
            draft.emit(Event::Checked { actual: bar.values.clone() });
        }
        let one_way = draft.execution.one_way();
        let better = if exposed { -change - one_way } else { change - 2.0 * one_way };
        draft.emit(Event::LookedBack { change: change as f32, regret: better.max(0.0) as f32 });
    }
}

/// How far ahead an episode looks: as far as any claim.
pub(crate) fn horizon(life: &Life) -> Span {
    let domains = 0..life.birth.world.domains.len();
    domains.map(|domain| life.horizon(domain)).max().unwrap_or(life.constitution().interval)
}

/// The change of a worth, as a share; of nothing there is no share.
pub(crate) fn relative(then: Usdc, now: Usdc) -> f64 {
    if then.is_positive() { now.as_f64() / then.as_f64() - 1.0 } else { 0.0 }
}
