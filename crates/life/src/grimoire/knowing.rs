//! The part of knowledge that is Life: heuristics shelved, entries watched, how features move together, and how much
//! was forgotten lately. All of it is bounded; everything else is rows.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use super::Watched;
use super::fiber::Fiber;
use crate::episode::Impression;
use crate::id::GolemId;
use crate::limits;
use crate::rule::Heuristic;
use crate::time::{Span, Time};

/// Ticks between two rounds of the Curator.
pub const ROUND: u64 = 50;

/// Entries checked against what becomes of episodes.
pub const WATCHED: usize = 10;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Knowing {
    /// Rounds of the Curator so far.
    pub rounds: u64,
    pub last_tick: u64,
    pub alive: u32,
    /// How many entries each of the last rounds archived, newest last.
    pub archived: VecDeque<u32>,
    pub shelf: Vec<Heuristic>,
    pub scars: Vec<Impression>,
    pub watched: Vec<Watched>,
    pub moves: Moves,
    pub fiber: Fiber,
    pub intake: Intake,
}

/// How much has come in from outside within the present hour of world time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intake {
    hour: u64,
    each: ArrayVec<(GolemId, u32), { limits::SOURCES }>,
}

impl Intake {
    /// Counts one more from this source, unless that is more than everyone together or one source may bring.
    pub fn admit(&mut self, source: GolemId, now: Time, (all, one): (u32, u32)) -> bool {
        self.turn_to(now);
        let taken: u32 = self.each.iter().map(|(_, count)| count).sum();
        let known = self.each.iter().find(|(from, _)| *from == source).map(|(_, count)| *count);
        let room = taken < all && known.map_or(!self.each.is_full(), |count| count < one);
        if room {
            self.count(source, 1, now);
        }
        room
    }

    pub(crate) fn count(&mut self, source: GolemId, more: u32, now: Time) {
        self.turn_to(now);
        match self.each.iter_mut().find(|(from, _)| *from == source) {
            Some((_, count)) => *count += more,
            // More sources than are admitted cannot come in.
            None => drop(self.each.try_push((source, more))),
        }
    }

    /// By how much each source has grown up to a later intake.
    pub fn grown_to(&self, later: &Intake) -> Vec<(GolemId, u32)> {
        let before = |source: &GolemId| {
            let same = self.each.iter().find(|(from, _)| from == source && self.hour == later.hour);
            same.map_or(0, |(_, count)| *count)
        };
        let grown = later.each.iter().map(|(source, count)| (*source, count - before(source)));
        grown.filter(|(_, more)| *more > 0).collect()
    }

    fn turn_to(&mut self, now: Time) {
        let hour = now.as_millis() / Span::seconds(3_600).as_millis();
        if hour != self.hour {
            *self = Intake { hour, each: ArrayVec::new() };
        }
    }
}

/// How features have moved from one remembered state to the next: whether one being high was followed by another
/// rising.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moves {
    pub last: Impression,
    pub at: u64,
    pub mean: Vec<f32>,
    pub square: Vec<f32>,
    pub seen: f32,
    /// For every pair, cause first: how often it was seen and how often both went the same way, fading.
    pub pairs: Vec<(f32, f32)>,
}

impl Knowing {
    /// The share of what was known that the last rounds archived.
    pub fn pruned(&self) -> f64 {
        let gone: u32 = self.archived.iter().sum();
        let all = gone + self.alive;
        if all > 0 { f64::from(gone) / f64::from(all) } else { 0.0 }
    }

    pub(crate) fn curated(&mut self, tick: u64, alive: u32, archived: u32, kept: usize) {
        self.rounds += 1;
        self.last_tick = tick;
        self.alive = alive.saturating_sub(archived);
        self.archived.push_back(archived);
        while self.archived.len() > kept {
            self.archived.pop_front();
        }
        self.shelf.clear();
        self.scars.clear();
    }

    pub(crate) fn shelve(&mut self, heuristic: &Heuristic, room: usize) {
        if self.shelf.len() < room {
            self.shelf.push(heuristic.clone());
        }
    }

    pub(crate) fn scar(&mut self, room: usize) {
        if self.scars.len() < room && !self.moves.last.is_empty() {
            self.scars.push(self.moves.last.clone());
        }
    }
}

impl Moves {
    /// Counts one more remembered state. States close together would count the same thing twice, so only those some way
    /// apart are taken.
    pub(crate) fn see(&mut self, state: &Impression, tick: u64, apart: u64, memory: f32) {
        let n = state.len();
        if self.last.len() == n && tick < self.at + apart {
            return;
        }
        self.at = tick;
        if self.last.len() != n {
            *self = Moves {
                mean: state.to_vec(),
                square: vec![0.0; n],
                pairs: vec![(0.0, 0.0); n * n],
                ..Moves::default()
            };
            (self.last, self.at) = (state.clone(), tick);
            return;
        }
        self.seen = (self.seen + 1.0).min(memory);
        let (share, keep) = (1.0 / (self.seen + 1.0), 1.0 - 1.0 / memory);
        for cause in 0..n {
            let high = self.last[cause] > self.mean[cause];
            for effect in 0..n {
                let change = state[effect] - self.last[effect];
                if change != 0.0 {
                    let (seen, same) = &mut self.pairs[cause * n + effect];
                    *seen = *seen * keep + 1.0;
                    *same = *same * keep + f32::from(u8::from(high == (change > 0.0)));
                }
            }
        }
        for at in 0..n {
            let away = state[at] - self.mean[at];
            self.mean[at] += away * share;
            self.square[at] += (away * away - self.square[at]) * share;
        }
        self.last.clone_from(state);
    }

    /// How far a feature of this state is from its mean, in deviations.
    pub fn away(&self, state: &Impression, feature: usize) -> f32 {
        let deviation = self.square.get(feature).copied().unwrap_or(0.0).sqrt();
        if deviation > 0.0 { (state[feature] - self.mean[feature]) / deviation } else { 0.0 }
    }
}
