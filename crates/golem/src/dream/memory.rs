//! What can be replayed: episodes whole, from what the world looked like to what became of it. Whoever keeps the journal
//! collects them from its records; Life knows only those that have not ended.
//!
//! Each domain looks as far ahead as its own claims do, so what became of an episode is what its own claims met. What
//! dreams do to memories, replayed often, made less stirring, let go, lies over the episodes and is read from the journal
//! too; the episodes themselves never change.

use std::collections::VecDeque;

use crate::episode::State;
use crate::event::{Event, Record};
use crate::life::Life;
use crate::limits;
use crate::world::Values;

/// As many as are kept at hand, newest last.
const KEPT: usize = 200_000;
/// What a memory has left to give each time it has been gone through closely.
const WORN: f32 = 0.85;
/// What a memory that the fiber marked counts for.
const MARKED: f32 = 2.0;
/// By how much a night makes a stirring memory less so, and what is stirring.
pub const CALMED: f32 = 0.3;
pub const STIRRING: f32 = 0.5;

#[derive(Clone, Debug, PartialEq)]
pub struct Experience {
    pub number: u64,
    pub tick: u64,
    pub regime: u8,
    pub surprise: f32,
    pub arousal: f32,
    pub state: State,
    pub base: Values,
    /// What it claimed of each domain, what a naive forecaster would have, and what came of it; no number where nothing
    /// was claimed.
    pub claimed: Values,
    pub naive: Values,
    pub actual: Values,
    pub change: f32,
    pub regret: f32,
    /// Nights that went through it closely.
    pub replays: u8,
    /// A night has let it go.
    pub forgotten: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Memory {
    begun: VecDeque<Experience>,
    whole: VecDeque<Experience>,
    /// The ticks at which the claims still open in each domain were made.
    open: [VecDeque<u64>; limits::DOMAINS],
}

impl Memory {
    /// Takes in one record, given the life it led to.
    pub fn hear(&mut self, record: &Record, life: &Life) {
        let nothing = || life.seen.values.iter().map(|_| f64::NAN).collect::<Values>();
        let mut said = None;
        for event in &record.events {
            match event {
                Event::Predicted { domain, value, naive, .. } => {
                    let at = usize::from(*domain);
                    self.open[at].push_back(life.tick);
                    let (claimed, naively) = said.get_or_insert_with(|| (nothing(), nothing()));
                    (claimed[at], naively[at]) = (*value, *naive);
                }
                Event::Scored { domain, actual } => {
                    let made = self.open[usize::from(*domain)].pop_front();
                    if let Some(at) = made.and_then(|tick| self.begun.binary_search_by_key(&tick, |e| e.tick).ok()) {
                        self.begun[at].actual[usize::from(*domain)] = *actual;
                    }
                }
                Event::Voided { domain } => {
                    self.open[usize::from(*domain)].pop_front();
                }
                Event::LookedBack { change, regret } => {
                    if let Some(mut over) = self.begun.pop_front() {
                        (over.change, over.regret) = (*change, *regret);
                        self.keep(over);
                    }
                }
                Event::Remembered { state, .. } => {
                    let (claimed, naive) = said.take().unwrap_or_else(|| (nothing(), nothing()));
                    self.begun.push_back(Experience {
                        number: life.episodes.made,
                        tick: life.tick,
                        regime: life.regimes.now as u8,
                        surprise: life.episodes.surprise.last as f32,
                        arousal: life.daimon.last.arousal.max(life.daimon.mood.arousal) as f32,
                        state: (**state).clone(),
                        base: life.seen.values.clone(),
                        claimed,
                        naive,
                        actual: nothing(),
                        change: 0.0,
                        regret: 0.0,
                        replays: 0,
                        forgotten: false,
                    })
                }
                Event::Dreamt(found) => {
                    found
                        .batch
                        .iter()
                        .for_each(|number| self.touch(*number, |e| e.replays = e.replays.saturating_add(1)));
                    let calm = |e: &mut Experience| e.arousal = (e.arousal - CALMED).max(0.0);
                    found.imagined.calmed.iter().for_each(|number| self.touch(*number, calm));
                    found.replay.forgotten.iter().for_each(|number| self.touch(*number, |e| e.forgotten = true));
                }
                _ => {}
            }
        }
    }

    fn touch(&mut self, number: u64, change: impl FnOnce(&mut Experience)) {
        if let Ok(at) = self.whole.binary_search_by_key(&number, |e| e.number) {
            change(&mut self.whole[at]);
        }
    }

    /// One more that is over; the oldest gives way.
    pub fn keep(&mut self, experience: Experience) {
        self.whole.push_back(experience);
        if self.whole.len() > KEPT {
            self.whole.pop_front();
        }
    }

    pub fn whole(&self) -> impl DoubleEndedIterator<Item = &Experience> + ExactSizeIterator {
        self.whole.iter()
    }

    /// The newest that have ended, oldest first.
    pub fn newest(&self, most: usize) -> impl Iterator<Item = &Experience> {
        self.whole.iter().skip(self.whole.len().saturating_sub(most))
    }

    /// What replaying it would be worth: what could be gained, and how likely the like of it is to return.
    pub fn utility(e: &Experience, life: &Life) -> f32 {
        let gain =
            0.4 * e.surprise.min(1.0) + 0.3 * (e.change.abs() * 20.0).min(1.0) + 0.3 * (e.regret * 20.0).min(1.0);
        let same = if e.regime == life.regimes.now as u8 { 1.0 } else { 0.3 };
        let recency = 1.0 / (1.0 + (life.tick as f32 - e.tick as f32) / 2_000.0);
        let need = 0.4 * likeness(&e.state, &life.knowing.moves.last) + 0.3 * same + 0.3 * recency;
        let marked = if life.knowing.fiber.strange.contains(&e.number) { MARKED } else { 1.0 };
        gain * need * marked * WORN.powi(i32::from(e.replays))
    }

    /// The best to replay now, and a fifth of the places for what would never be chosen otherwise.
    pub fn select(&self, life: &Life, most: usize, lately: usize) -> Vec<&Experience> {
        let pool = self.newest(lately).filter(|e| !e.forgotten);
        let diverse = most / 5;
        let mut scored: Vec<(f32, &Experience)> = pool.map(|e| (Memory::utility(e, life), e)).collect();
        let best = (most - diverse).min(scored.len());
        if best > 0 && best < scored.len() {
            scored.select_nth_unstable_by(best - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.number.cmp(&b.1.number)));
        }
        let mut chosen: Vec<&Experience> = scored[..best].iter().map(|(_, e)| *e).collect();
        let mut others: Vec<&Experience> = Vec::new();
        for regime in 0..3 {
            others
                .extend(scored[best..].iter().map(|(_, e)| *e).filter(|e| e.regime == regime).max_by_key(|e| e.number));
        }
        others.extend(scored[best..].iter().map(|(_, e)| *e).max_by(|a, b| a.arousal.total_cmp(&b.arousal)));
        let old = self.whole.len() / 3;
        others.extend(self.whole.iter().take(old).step_by((old / diverse.max(1)).max(1)));
        for other in others {
            if chosen.len() < most && !chosen.iter().any(|known| known.number == other.number) {
                chosen.push(other);
            }
        }
        chosen.sort_by_key(|e| e.number);
        chosen
    }
}

/// From 0 to 1.
fn likeness(a: &State, b: &State) -> f32 {
    if a.len() != b.len() || a.is_empty() {
        return 0.0;
    }
    let apart: f32 = a.iter().zip(b).map(|(x, y)| ((x - y) / (x.abs() + y.abs() + 1e-6)).abs()).sum();
    1.0 - apart / a.len() as f32
}
