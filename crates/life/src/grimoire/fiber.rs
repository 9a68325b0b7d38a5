//! The fiber: a thin thread of consolidation through waking time, between dreams.
//!
//! Every episode that ends is held against the claims being watched, what was claimed against what came, never by
//! likeness of text. Agreement strengthens; an end that a well believed claim did not expect marks its episode for
//! the next dream; and while marks wait, every second waking tick makes that dream more urgent. The fiber is
//! handed neither the playbook nor anything to write one with, so it cannot change how a golem decides.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::entry::Expectation;
use crate::episode::Impression;
use crate::laws::Laws;
use crate::prose::Prose;
use crate::rule::{Condition, learning};
use crate::world::{DomainKind, Features, Manifest, Values};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fiber {
    /// Numbers of the episodes that ended unexpectedly, for the next dream.
    pub strange: VecDeque<u64>,
    /// Urgency of dreaming that those episodes add.
    pub urgency: f64,
}

/// An episode from its beginning to its end.
pub(crate) struct Whole<'a> {
    pub number: u64,
    pub state: &'a Impression,
    pub base: &'a Values,
    pub actual: &'a Values,
}

impl Fiber {
    /// Checks the entries being watched against a whole episode. Returns whether the episode was marked.
    pub(crate) fn scan(&mut self, watched: &mut [Watched], world: &Manifest, episode: &Whole<'_>, laws: &Laws) -> bool {
        let features: Features = episode.state.iter().map(|feature| f64::from(*feature)).collect();
        let mut strange = false;
        for entry in watched {
            if let Some(held) = held(entry, world, &features, episode, laws) {
                *(if held { &mut entry.held } else { &mut entry.failed }) += 1.0;
                strange |= !held && entry.sure >= laws.fiber_sure;
            }
        }
        if strange {
            if self.strange.len() >= laws.fiber_marks {
                self.strange.pop_front();
            }
            self.strange.push_back(episode.number);
        }
        strange
    }

    /// Adds urgency for a waking tick that has passed.
    pub(crate) fn pass(&mut self, tick: u64, laws: &Laws) {
        if tick.is_multiple_of(laws.fiber_every) && !self.strange.is_empty() {
            self.urgency = (self.urgency + laws.fiber_urgency).min(1.0);
        }
    }
}

/// Whether a claim did better than saying nothing would have; no answer if it said nothing of this.
fn held(entry: &Watched, world: &Manifest, features: &Features, episode: &Whole<'_>, laws: &Laws) -> Option<bool> {
    let domain = usize::from(entry.claim.domain);
    let (base, actual) = (*episode.base.get(domain)?, *episode.actual.get(domain)?);
    if !entry.condition.holds(features) {
        return None;
    }
    let spec = world.domains.get(domain)?;
    let effect = entry.claim.effect;
    let (claimed, naive) = match spec.kind {
        DomainKind::Direction => (effect, 0.5),
        DomainKind::Value => (base * effect, base),
        DomainKind::Range => {
            let share = spec.scale.and_then(|at| features.get(usize::from(at))).copied().unwrap_or(0.0);
            ((base * share).abs() * effect, (base * share).abs())
        }
    };
    let error = |forecast| learning::error(spec.kind, base, forecast, actual, laws);
    Some(error(claimed) < error(naive))
}

/// An entry whose claim is held against what becomes of each episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    pub id: u64,
    pub condition: Condition,
    pub claim: Expectation,
    pub held: f64,
    pub failed: f64,
    /// How much it was believed when it was chosen.
    #[serde(default)]
    pub sure: f64,
}

impl Prose for Box<Vec<Watched>> {
    const NAME: &'static str = "WatchedJson";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grimoire::Expectation;
    use crate::laws::laws;
    use crate::rule::{Comparison, Condition, Is, Stance};
    use crate::world::DomainSpec;

    fn world() -> Manifest {
        let value = DomainSpec {
            name: "level".into(),
            weight: 1.0,
            kind: DomainKind::Value,
            horizon: 1,
            scale: None,
            level: None,
        };
        Manifest { domains: [value].into_iter().collect(), ..Manifest::default() }
    }

    fn doubling(sure: f64) -> Watched {
        let condition = Condition([Comparison { feature: 0, is: Is::Above, than: 1.0 }].into_iter().collect());
        let claim = Expectation { domain: 0, effect: 2.0, stance: Stance::Watch };
        Watched { id: 7, condition, claim, held: 0.0, failed: 0.0, sure }
    }

    fn scan(fiber: &mut Fiber, watched: &mut [Watched], number: u64, feature: f32, actual: f64) {
        let state = [feature].into_iter().collect();
        let (base, actual) = ([10.0].into_iter().collect(), [actual].into_iter().collect());
        let episode = Whole { number, state: &state, base: &base, actual: &actual };
        fiber.scan(watched, &world(), &episode, laws(1).unwrap());
    }

    #[test]
    fn agreement_counts_for_an_entry_and_a_strange_end_marks_its_episode() {
        let (mut fiber, mut watched) = (Fiber::default(), [doubling(0.8), doubling(0.3)]);
        scan(&mut fiber, &mut watched, 1, 2.0, 20.0);
        scan(&mut fiber, &mut watched, 2, 0.0, 10.0);
        assert_eq!((watched[0].held, watched[0].failed), (1.0, 0.0), "what it says nothing of is nothing to it");
        assert!(fiber.strange.is_empty());
        scan(&mut fiber, &mut watched[1..], 3, 2.0, 10.0);
        assert!(fiber.strange.is_empty(), "that a doubtful claim failed is no surprise");
        scan(&mut fiber, &mut watched, 4, 2.0, 10.0);
        assert_eq!(fiber.strange, [4]);
    }

    #[test]
    fn urgency_grows_every_second_tick_while_marks_wait_and_never_past_one() {
        let (mut fiber, laws) = (Fiber::default(), laws(1).unwrap());
        (0..10).for_each(|tick| fiber.pass(tick, laws));
        assert_eq!(fiber.urgency, 0.0);
        fiber.strange.push_back(1);
        (10..20).for_each(|tick| fiber.pass(tick, laws));
        assert!((fiber.urgency - 5.0 * 0.02).abs() < 1e-12);
        (20..1_000).for_each(|tick| fiber.pass(tick, laws));
        assert_eq!(fiber.urgency, 1.0);
        (0..100).for_each(|n| scan(&mut fiber, &mut [doubling(0.9)], n, 2.0, 10.0));
        assert_eq!((fiber.strange.len(), fiber.strange.back()), (laws.fiber_marks, Some(&99)));
    }
}
