//! Omens: what the world looked like before the worst that is remembered, held against every other memory. One crash has
//! something unusual before it whatever caused it, so an omen is worth a warning only if it came before other falls too.

use life::rule::Condition;
use life::world::Features;
use life::{Life, episode};

use super::gate::{KEPT_EPISODES, SURE};
use super::memory::Experience;

/// The share of the worst fall from which on another is like it.
const LIKE_IT: f32 = 0.5;

/// Memories under an omen, none sharing time with another or with the one that the omen was made from.
#[derive(Debug, Default)]
pub(super) struct Cases {
    /// How many of them a fall came after, and how many not.
    pub omen: (u32, u32),
    /// Numbers of some that a fall came after.
    pub held: Vec<u64>,
    /// How many of the memories without the omen a fall came after, and how many not.
    elsewhere: (u32, u32),
}

impl Cases {
    /// Counts the cases of an omen among all that is remembered, oldest first.
    pub(super) fn of<'a>(
        omen: &Condition,
        worst: &Experience,
        all: impl Iterator<Item = &'a Experience>,
        life: &Life,
    ) -> Cases {
        let interval = life.constitution().interval.as_millis().max(1);
        let ahead = (episode::horizon(life).as_millis() / interval).max(1);
        // A fall that costs less than giving up what is held is nothing to be warned of.
        let deep = (worst.change * LIKE_IT).min(-life.execution().one_way() as f32);
        let (mut cases, mut until) = (Cases::default(), [0; 2]);
        for e in all.filter(|e| e.tick.abs_diff(worst.tick) >= ahead) {
            let holds = omen.holds(&e.state.iter().map(|f| f64::from(*f)).collect::<Features>());
            let until = &mut until[usize::from(holds)];
            if e.tick < *until {
                continue;
            }
            *until = e.tick + ahead;
            let fell = e.change <= deep;
            let counted = if holds { &mut cases.omen } else { &mut cases.elsewhere };
            *counted = (counted.0 + u32::from(fell), counted.1 + u32::from(!fell));
            if holds && fell && cases.held.len() < KEPT_EPISODES {
                cases.held.push(e.number);
            }
        }
        cases
    }

    /// Whether a fall came after the omen so many times, surely oftener than without it, and rather than not.
    pub(super) fn hold(&self, least: u32) -> bool {
        let counts = |(yes, no): (u32, u32)| (f64::from(yes), f64::from(yes) + f64::from(no));
        let ((held, all), (fell, others)) = (counts(self.omen), counts(self.elsewhere));
        // As if one more of each had been seen, so that never is not taken for impossible.
        let usual = (fell + 1.0) / (others + 2.0);
        let spread = libm::sqrt(all * usual * (1.0 - usual));
        self.omen.0 >= least.max(self.omen.1) && held > all * usual + SURE * spread
    }
}
