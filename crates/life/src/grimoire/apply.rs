//! Applying the events of knowledge, as far as it is Life. It calculates and never decides.

use super::{Decision, Event, Whole};
use crate::daimon::{self, Felt};
use crate::life::Life;
use crate::time::Time;

pub(crate) fn apply(life: &mut Life, at: Time, event: &Event) {
    match event {
        Event::Checked { actual } => {
            let laws = life.laws();
            let number = life.episodes.made + 1 - life.episodes.pending.len() as u64;
            if let Some(pending) = life.episodes.pending.front() {
                let episode = Whole { number, state: &pending.state, base: &pending.values, actual };
                let marked = life.knowing.fiber.scan(&mut life.knowing.watched, &life.birth.world, &episode, laws);
                if marked {
                    daimon::feel(life, Felt::Contradicted);
                }
            }
        }
        Event::Kept(decision) => {
            if let Decision::Put(entry) = &**decision {
                life.heuristics_made = life.heuristics_made.max(entry.id);
            }
        }
        Event::Curated { alive, archived } => {
            let kept = life.laws().rounds_kept;
            life.knowing.curated(life.tick, *alive, *archived, kept);
            (life.dreams.rehearsed, life.dreams.judged) = (None, Vec::new());
            life.dreams.omen = (0, 0);
            life.phages.stood.clear();
            life.thoughts.questions.clear();
        }
        Event::TookIn { from, entries } => life.knowing.intake.count(*from, *entries, at),
        Event::Watching(watched) => life.knowing.watched.clone_from(watched),
    }
}
