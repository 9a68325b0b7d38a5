//! What can be replayed: episodes whole, from what the world looked like to what became of it. Whoever keeps the journal
//! collects them from its records; Life knows only those that have not ended.

use std::collections::VecDeque;

use crate::episode::State;
use crate::event::{Event, Record};
use crate::life::Life;
use crate::world::Values;

/// As many as are kept at hand, newest last.
const KEPT: usize = 20_000;

#[derive(Clone, Debug, PartialEq)]
pub struct Experience {
    pub number: u64,
    pub tick: u64,
    pub regime: u8,
    pub surprise: f32,
    pub arousal: f32,
    pub state: State,
    pub base: Values,
    pub actual: Values,
    pub change: f32,
    pub regret: f32,
}

#[derive(Clone, Debug, Default)]
pub struct Memory {
    begun: VecDeque<Experience>,
    whole: VecDeque<Experience>,
}

impl Memory {
    /// Takes in one record, given the life it led to.
    pub fn hear(&mut self, record: &Record, life: &Life) {
        for event in &record.events {
            match event {
                Event::Checked { actual } => {
                    if let Some(oldest) = self.begun.front_mut() {
                        oldest.actual.clone_from(actual);
                    }
                }
                Event::LookedBack { change, regret } => {
                    if let Some(mut over) = self.begun.pop_front() {
                        (over.change, over.regret) = (*change, *regret);
                        // One whose end was not looked at closely cannot be replayed.
                        if over.actual.len() == over.base.len() {
                            self.keep(over);
                        }
                    }
                }
                Event::Remembered { state, .. } => self.begun.push_back(Experience {
                    number: life.episodes.made,
                    tick: life.tick,
                    regime: life.regimes.now as u8,
                    surprise: life.episodes.surprise.last as f32,
                    arousal: life.daimon.last.arousal.max(life.daimon.mood.arousal) as f32,
                    state: (**state).clone(),
                    base: life.seen.values.clone(),
                    actual: Values::new(),
                    change: 0.0,
                    regret: 0.0,
                }),
                _ => {}
            }
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

    /// The best to replay now: by what could be gained and how likely the like of it is to return; and a fifth of the
    /// places for what would never be chosen otherwise.
    pub fn select(&self, life: &Life, most: usize, lately: usize) -> Vec<&Experience> {
        let pool = || self.whole.iter().skip(self.whole.len().saturating_sub(lately));
        let now = life.tick as f32;
        let utility = |e: &Experience| {
            let gain =
                0.4 * e.surprise.min(1.0) + 0.3 * (e.change.abs() * 20.0).min(1.0) + 0.3 * (e.regret * 20.0).min(1.0);
            let same = if e.regime == life.regimes.now as u8 { 1.0 } else { 0.3 };
            let recency = 1.0 / (1.0 + (now - e.tick as f32) / 2_000.0);
            let marked = if life.knowing.fiber.strange.contains(&e.number) { 2.0 } else { 1.0 };
            gain * (0.4 * likeness(&e.state, &life.knowing.moves.last) + 0.3 * same + 0.3 * recency) * marked
        };
        let diverse = most / 5;
        let mut scored: Vec<(f32, &Experience)> = pool().map(|e| (utility(e), e)).collect();
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
        others.extend(
            self.whole.iter().take(self.whole.len() / 3).step_by((self.whole.len() / 3 / diverse.max(1)).max(1)),
        );
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
