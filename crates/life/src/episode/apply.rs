//! Applying the events of episodes, each kept until its end is known.

use super::{Event, Pending, horizon};
use crate::daimon::{self, Felt};
use crate::life::Life;
use crate::limits;

pub(crate) fn apply(life: &mut Life, event: &Event) {
    match event {
        Event::Remembered { state, .. } => {
            assert!(life.episodes.pending.len() < limits::EPISODES, "there is no room for another episode");
            let laws = life.laws();
            life.knowing.moves.see(state, life.tick, laws.moves_apart, laws.moves_memory);
            life.episodes.made += 1;
            life.episodes.last_tick = life.tick;
            let due = life.seen.until + horizon(life);
            let exposed = life.capital.holding > 0;
            let (unit, values) = (life.seen.unit, life.seen.values.clone());
            life.episodes.pending.push_back(Pending { due, unit, exposed, state: (**state).clone(), values });
        }
        Event::LookedBack { regret, .. } => {
            life.episodes.pending.pop_front();
            if *regret > life.laws().missed {
                daimon::feel(life, Felt::Missed);
            }
        }
    }
}
