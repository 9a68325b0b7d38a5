//! Applying a finished goal to the tallies.

use super::{Event, Goal};
use crate::life::Life;
use crate::stress;

pub(crate) fn apply(life: &mut Life, Event::Finished { goal, domain, ended }: &Event) {
    let kept = life.laws().goals_kept;
    if let Some(tally) = life.goals.get_mut(usize::from(*domain)) {
        // A word to peers is no work in a domain: it neither fails there nor succeeds.
        if *goal != Goal::Contact {
            tally.count(*goal, *ended, kept);
        }
    }
    let serves = stress::serves(life, *domain);
    life.stress.ledger.finish(*goal, *domain, *ended, serves, kept);
    if *goal == Goal::SelfExamine {
        life.stress.ledger.examined(*domain);
    }
}
