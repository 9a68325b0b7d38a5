//! Questions of a night to a model, phase by phase, within that phase's share of what the night may cost. The answers
//! are ideas like any other, and are tested on cases they were not made from before they are tried.

use life::constitution::{DreamTier, MindKind};
use life::dream::{Idea, Night, Origin, SleepStage};
use life::money::Usdc;
use life::mortality::phase::Tier;
use life::thought::{Answer, Event, FRAGMENTS, Purpose, Question};
use life::{Draft, Life, rule};

use super::ask::{Wish, keep, question};
use crate::dream::{self, intensity};

/// Skill below which a golem has its strongest model imagine for it.
const CONFUSED: f64 = 0.5;

/// Whether its nights ask a model.
fn asks(life: &Life) -> bool {
    let constitution = life.constitution();
    constitution.dream.tier == DreamTier::Hardened
        && constitution.mind.kind == MindKind::Rules
        && (constitution.thought.any() || constitution.dream.model.is_some())
}

/// The next question of the present phase of a night, after those asked; none if that was all.
fn next(life: &Life, night: &Night) -> Option<Purpose> {
    let asked = usize::from(night.asked);
    match night.phase {
        SleepStage::Onset if asked < FRAGMENTS => Some(Purpose::Fragment),
        SleepStage::Onset => (asked == FRAGMENTS && !night.fragments.is_empty()).then_some(Purpose::Observe),
        SleepStage::Nrem => (asked == 0).then_some(Purpose::Replay),
        SleepStage::Rem => (asked < intensity(life).sessions as usize).then_some(Purpose::Imagine),
        SleepStage::Integration => (asked == 0 && !night.ideas.is_empty()).then_some(Purpose::Integrate),
        SleepStage::Return => None,
    }
}

/// Tokens that the answers in a phase of a night may have at most; none where no model is asked.
pub(crate) fn night_tokens(life: &Life, phase: SleepStage) -> u64 {
    let answers = |purpose: Purpose, times: usize| purpose.tokens() * times as u64;
    match phase {
        _ if !asks(life) => 0,
        SleepStage::Onset => answers(Purpose::Fragment, FRAGMENTS) + answers(Purpose::Observe, 1),
        SleepStage::Nrem => answers(Purpose::Replay, 1),
        SleepStage::Rem => answers(Purpose::Imagine, intensity(life).sessions as usize),
        SleepStage::Integration => answers(Purpose::Integrate, 1),
        SleepStage::Return => 0,
    }
}

/// Asks the next question in this phase of a night; true while one is under way.
pub(crate) fn tonight(draft: &mut Draft<'_>) -> bool {
    let Some(night) = draft.dreams().night.as_ref().filter(|_| asks(draft) && !draft.is_dead()) else { return false };
    if draft.thoughts().asks_for(night.number) {
        return true;
    }
    if night.worked {
        return false;
    }
    let Some(purpose) = next(draft, night) else { return false };
    let tier = match purpose {
        Purpose::Imagine if draft.vitality().epistemic < CONFUSED => Tier::Strong,
        Purpose::Fragment | Purpose::Observe => Tier::Cheap,
        _ => Tier::Middle,
    };
    let wish = Wish { tonight: Some(left(draft, night)), ..Wish::of(purpose, tier) };
    match question(draft, draft.at(), wish) {
        Ok(question) => {
            draft.emit(Event::Asked(Box::new(question)));
            true
        }
        Err(by) => {
            keep(draft, by);
            draft.emit(dream::Event::Quiet);
            false
        }
    }
}

/// Money that questions of this night may still cost up to the end of its present phase, with what earlier phases left.
fn left(life: &Life, night: &Night) -> Usdc {
    let shares = SleepStage::shares(life.phase(), life.constitution().dream.split);
    let through: u64 = shares[..=night.phase as usize].iter().sum();
    (dream::for_thoughts(night).share(through as i64, 1_000) - night.thoughts).max(Usdc::ZERO)
}

/// Takes up the ideas of a model for the night to look into.
pub(super) fn conceive(draft: &mut Draft<'_>, asked: &Question, answer: &Answer) {
    let Some(night) = &draft.dreams().night else { return };
    if night.number != asked.night || night.integrated {
        return;
    }
    let origin = if asked.purpose == Purpose::Observe { Origin::Fragment } else { Origin::Thought };
    let world = &draft.birth().world;
    let idea = |rule: &String| {
        let parsed = rule::text::parse(rule, world).ok().filter(|parsed| !parsed.condition.0.is_empty())?;
        Some(Idea { domain: Some(parsed.domain), origin, condition: parsed.condition })
    };
    let ideas: Vec<Idea> = answer.rules.iter().filter_map(idea).collect();
    if !ideas.is_empty() {
        draft.emit(dream::Event::Conceived { ideas });
    }
}
