//! A night as a model is told of it: episodes, fragments and ideas in a line each, from what is remembered and nothing
//! else.

use std::fmt::Write;

use life::Life;
use life::dream::{Idea, SleepStage};
use life::rule::rounded;
use life::rule::text::print_condition;
use life::world::{DomainKind, Manifest};

use super::intensity;
use super::memory::{Experience, Memory};
use super::replay::{self, Usual};
use super::work::REPLAYED;
use crate::rule::Dice;

/// Episodes told of.
const EPISODES: usize = 12;
/// Features named that stood out in one.
const NAMED: usize = 3;
/// Memories that drift together.
const DRIFT: usize = 3;

/// Lines that tell a model what the present phase of a night works on; none by day.
pub fn told(memory: &Memory, life: &Life) -> Vec<String> {
    let Some(night) = &life.dreams().night else { return Vec::new() };
    let chosen = memory.select(life, REPLAYED);
    let world = &life.birth().world;
    let mut dice = Dice::of_night(life, u64::from(night.asked) << 8 | night.phase as u64);
    let mut drawn = |most: usize| -> Vec<&Experience> {
        let all = chosen.len();
        (0..most.min(all)).map(|_| chosen[dice.below(all)]).collect()
    };
    let episodes = match night.phase {
        SleepStage::Onset if usize::from(night.asked) > life::thought::FRAGMENTS => {
            return night.fragments.clone();
        }
        SleepStage::Onset => drawn(DRIFT),
        SleepStage::Nrem => replay::batch(&chosen, life, EPISODES.min(intensity(life).batch as usize)),
        // Where it would rather have chosen otherwise, and two from anywhere.
        SleepStage::Rem => {
            let mut batch: Vec<&Experience> = night.batch.iter().filter_map(|number| memory.get(*number)).collect();
            batch.sort_by(|a, b| b.regret.total_cmp(&a.regret).then(a.number.cmp(&b.number)));
            batch.truncate(EPISODES / 2);
            batch.extend(drawn(2));
            batch
        }
        SleepStage::Integration => return night.ideas.iter().take(EPISODES).map(|idea| line(idea, world)).collect(),
        SleepStage::Return => return Vec::new(),
    };
    let usual = Usual::of(&chosen);
    episodes.into_iter().map(|episode| lived(episode, &usual, life)).collect()
}

/// An episode: what stood out, what was claimed, what came.
fn lived(e: &Experience, usual: &Usual, life: &Life) -> String {
    let world = &life.birth().world;
    let mut text = format!("episode {} at tick {}:", e.number, e.tick);
    let mut features: Vec<(usize, f32)> = (0..e.state.len()).map(|at| (at, usual.stands_out(e, at))).collect();
    features.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    for (at, away) in features.into_iter().take(NAMED) {
        let name = world.features.get(at).map_or("?", String::as_str);
        let _ = write!(text, " {name} {} ({away:+.1}),", rounded(f64::from(e.state[at]), 4));
    }
    for (at, domain) in world.domains.iter().enumerate() {
        let known = e.claimed.get(at).zip(e.actual.get(at)).filter(|(said, came)| said.is_finite() && came.is_finite());
        let Some((said, came)) = known else { continue };
        let (said, came, from) = (rounded(*said, 4), rounded(*came, 4), rounded(e.base[at], 4));
        let _ = match domain.kind {
            DomainKind::Direction => write!(text, " {}: rise at {said}, went {from} to {came};", domain.name),
            _ => write!(text, " {}: claimed {said}, came {came};", domain.name),
        };
    }
    let percent = |share: f32| f64::from(share) * 100.0;
    let _ = write!(text, " a unit changed by {:+.2} %, regret {:.2} %", percent(e.change), percent(e.regret));
    text
}

fn line(idea: &Idea, world: &Manifest) -> String {
    let condition = print_condition(&idea.condition, world);
    let domain = idea.domain.and_then(|at| world.domains.get(usize::from(at))).map_or("anything", |d| &d.name);
    format!("{condition}: {domain} is not as usual ({:?})", idea.origin).to_lowercase()
}
