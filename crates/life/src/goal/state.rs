//! Goals that are over, counted by domain.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::limits;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Take up exposure and come out of it with a gain.
    Act,
    /// Try an idea.
    Explore,
    /// Know more of a domain than the naive forecast.
    Learn,
    /// Give up what is no longer wanted.
    Maintain,
    /// Look into one's own failing, without acting.
    SelfExamine,
    /// Be heard by a peer.
    Contact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    Failed,
    /// Done, and nothing outside is different for it.
    Done,
    /// Done, with an effect that could be observed.
    Effective,
}

/// The last finished goals of a domain, newest in the lowest bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub finished: u64,
    failed: u32,
    effective: u32,
    /// Finished goals that were only about the golem itself.
    examined: u32,
}

pub type Tallies = ArrayVec<Tally, { limits::DOMAINS }>;

impl Tally {
    pub(crate) fn count(&mut self, goal: Goal, ended: Ended, kept: u32) {
        let mask = ((1_u64 << kept.min(32)) - 1) as u32;
        self.finished += 1;
        self.failed = ((self.failed << 1) | u32::from(ended == Ended::Failed)) & mask;
        self.effective = ((self.effective << 1) | u32::from(ended == Ended::Effective)) & mask;
        self.examined = ((self.examined << 1) | u32::from(goal == Goal::SelfExamine)) & mask;
    }

    /// Counts among the last goals: how many there were, failed, and had an effect.
    pub fn last(&self, goals: u32) -> (u32, u32, u32) {
        let mask = ((1_u64 << goals.min(32)) - 1) as u32;
        let known = self.finished.min(u64::from(goals)) as u32;
        (known, (self.failed & mask).count_ones(), (self.effective & mask).count_ones())
    }

    /// Counts, among the last goals, those that did not fail and were about something other than the golem itself.
    pub fn completed(&self, goals: u32) -> u32 {
        let mask = ((1_u64 << goals.min(32)) - 1) as u32;
        self.finished.min(u64::from(goals)) as u32 - ((self.failed | self.examined) & mask).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_knows_the_last_goals_and_forgets_the_rest() {
        let mut tally = Tally::default();
        assert_eq!(tally.last(20), (0, 0, 0));
        for ended in [Ended::Failed, Ended::Failed, Ended::Done, Ended::Effective] {
            tally.count(Goal::Act, ended, 20);
        }
        assert_eq!(tally.last(20), (4, 2, 1));
        assert_eq!(tally.last(2), (2, 0, 1));
        for _ in 0..18 {
            tally.count(Goal::Act, Ended::Done, 20);
        }
        assert_eq!(tally.last(20), (20, 0, 1), "the two failures were more than twenty ago");
        assert_eq!(tally.finished, 22);
        assert_eq!(tally.completed(20), 20);
        tally.count(Goal::SelfExamine, Ended::Effective, 20);
        assert_eq!((tally.completed(20), tally.last(20)), (19, (20, 0, 2)));
    }
}
