//! Applying questions and answers. It calculates and never decides.

use super::kind::TOLD;
use super::state::FLOOR;
use super::worth::alone;
use super::{Answer, Event, Purpose, Question, Silence, Thought, Told, bits_per_dollar};
use crate::life::Life;
use crate::money::Usdc;
use crate::prediction::{Departures, Prediction, Standing, Voice};
use crate::spell::day;
use crate::time::{Span, Time};

/// How fast the bar follows what is usual.
const STEP: f32 = 0.25;
/// The share of ticks that ask grows or shrinks by so much for every answer's worth of claims.
const PACE: f32 = 0.1;
/// How long no model is asked after one failure; twice as long after the next.
const REST: Span = Span::seconds(60);
/// The most times that this rest is doubled.
const DOUBLINGS: u32 = 6;

pub(crate) fn apply(life: &mut Life, at: Time, event: &Event) {
    match event {
        Event::Probed { score, share } => {
            let thoughts = &mut life.thoughts;
            thoughts.looked += 1;
            let over = f32::from(u8::from(*score > thoughts.threshold));
            thoughts.threshold = (thoughts.threshold + STEP * (over - share)).clamp(0.0, 100.0);
        }
        Event::Asked(question) => {
            let (month, age) = (life.month(), life.age);
            assert!(question.key > life.thoughts.made, "two questions have one key");
            assert!(question.most >= Usdc::ZERO, "less than nothing is set aside for a question");
            life.purse.promised += question.most;
            let thoughts = &mut life.thoughts;
            thoughts.made = question.key;
            if question.purpose == Purpose::Assess {
                thoughts.assessed = Some(age);
            }
            thoughts.day.take(day(at), question.most);
            thoughts.month.take(month, question.most);
            thoughts.open.push((**question).clone());
            let own = |waiting: &(_, _)| question.owner.as_ref().is_some_and(|(command, _)| *command == waiting.0);
            thoughts.waiting.take_if(|waiting| own(waiting));
            if question.night > 0 {
                life.dreams.ask(question.most, month);
            }
            if let (Purpose::Reflect, Some(death)) = (question.purpose, &mut life.death) {
                death.reflected_on = true;
            }
        }
        Event::Kept { by } => life.thoughts.kept = Some((*by, life.tick)),
        Event::Answered { key, cost, fresh, answer, .. } => {
            let question = settle(life, *key, *cost);
            if let (Some(question), Some((shown, said))) = (&question, answer.used) {
                life.dreams.count_tokens(question.night, shown.saturating_add(said));
            }
            life.thoughts.answered += 1;
            life.thoughts.failed = 0;
            if let Some(question) = question.filter(|_| *fresh) {
                hold(life, &question, answer);
                wonder(life, answer);
                tell(life, &question, *cost, Ok(answer));
            }
        }
        Event::Silent { key, cost, why, .. } => {
            if let Some(question) = settle(life, *key, *cost) {
                tell(life, &question, *cost, Err(*why));
            }
            life.thoughts.silent += 1;
            if why.is_absence() {
                let doublings = life.thoughts.failed.min(DOUBLINGS);
                life.thoughts.failed = life.thoughts.failed.saturating_add(1);
                life.thoughts.rests_until = at + REST.times(1 << doublings);
            }
        }
        Event::Deferred { command, text } => life.thoughts.waiting = Some((*command, text.clone())),
    }
}

/// Settles a question: the money set aside for it is free again, except for its cost.
fn settle(life: &mut Life, key: u64, cost: Usdc) -> Option<Question> {
    let place = life.thoughts.open.iter().position(|question| question.key == key)?;
    let question = life.thoughts.open.remove(place);
    let laws = life.laws();
    assert!((Usdc::ZERO..=question.most).contains(&cost), "a question costs more than was set aside");
    assert!(life.purse.promised >= question.most, "more comes free than was promised to questions");
    life.purse.promised -= question.most;
    life.purse.spend(cost, life.age, laws);
    life.thoughts.spent += cost;
    life.thoughts.day.give_back(day(question.asked), question.most - cost);
    life.thoughts.month.give_back(question.month, question.most - cost);
    if question.night > 0 {
        life.dreams.settle(question.night, question.month, question.most - cost);
    }
    Some(question)
}

/// Passes an answer on to where it was asked for: to the owner, into a night, or into the testament.
fn tell(life: &mut Life, question: &Question, cost: Usdc, said: Result<&Answer, Silence>) {
    let text = said.ok().map(|answer| answer.note.clone()).filter(|text| !text.is_empty());
    if let Some((command, _)) = &question.owner {
        let cites = said.map(|answer| answer.cites.clone()).unwrap_or_default();
        if life.thoughts.told.len() >= TOLD {
            life.thoughts.told.remove(0);
        }
        life.thoughts.told.push(Told { command: *command, text, cites, silence: said.err(), cost });
        return;
    }
    match (question.purpose, text, &mut life.death) {
        (Purpose::Fragment, Some(text), _) => life.dreams.catch(question.night, text),
        (Purpose::Reflect, text, Some(death)) => death.words = text,
        _ => {}
    }
    if let (Purpose::Imagine, Some(fear)) = (question.purpose, said.ok().and_then(|answer| answer.fear.as_ref())) {
        life.dreams.fear(question.night, fear.fall_bps, &fear.omen);
    }
}

/// Holds the opinions of an answer, each until the time that it speaks of.
fn hold(life: &mut Life, question: &Question, answer: &Answer) {
    while life.thoughts.standing.len() < life.birth.world.domains.len() {
        life.thoughts.standing.push(Standing::default());
        life.thoughts.opinions.push(None);
    }
    for claim in &answer.claims {
        let domain = usize::from(claim.domain);
        let base = question.values.get(domain).copied().unwrap_or(0.0);
        let (asked, until) = (question.asked, question.asked + life.horizon(domain));
        life.thoughts.opinions[domain] = Some(Thought { effect: claim.effect, base, asked, until });
    }
}

/// Remembers the questions of an answer for the next round, as far as there is room.
fn wonder(life: &mut Life, answer: &Answer) {
    let waiting = &mut life.thoughts.questions;
    for question in &answer.questions {
        if !waiting.contains(question) {
            let _ = waiting.try_push(question.clone());
        }
    }
}

/// Notes what the model thinks of a claim being made, beside what the other voices say.
pub(crate) fn said(life: &mut Life, domain: usize, tick: u64, naive: f64, said: &Departures) {
    let kind = life.birth.world.domains[domain].kind;
    let Some(far) = alone(life, domain, kind, naive) else { return };
    let others = life.trust[domain].together(&said.without(Voice::Model)) as f32;
    life.thoughts.standing[domain].say(tick, far as f32, others);
}

/// Scores what the model thought of a claim that has met its bar, and updates how often asking is worth it.
pub(crate) fn scored(life: &mut Life, domain: usize, claim: &Prediction, actual: f64) {
    let (laws, kind) = (life.laws(), life.birth.world.domains[domain].kind);
    let Some(standing) = life.thoughts.standing.get_mut(domain) else { return };
    if !standing.score(kind, claim, actual, laws) {
        return;
    }
    let pace = PACE / claim.ahead.max(1) as f32;
    let share = life.thoughts.share * if earns(life) { 1.0 + pace } else { 1.0 - pace };
    life.thoughts.share = share.clamp(FLOOR, life.constitution().thought.most_asking.max(f64::from(FLOOR)) as f32);
}

/// Whether its thoughts reduce errors somewhere, by more than luck could, and cost no more than they are worth.
fn earns(life: &Life) -> bool {
    let laws = life.laws();
    let beyond_luck = |(domain, standing): (usize, &Standing)| {
        let claims = standing.shown.as_ref().map_or(0.0, |shown| shown.claims);
        let apart = claims / f64::from(life.looks_ahead(domain).max(1));
        standing.gain() > laws.luck / (2.0 * (apart + 1.0).sqrt())
    };
    let worth = bits_per_dollar(life).is_none_or(|bits| bits >= life.constitution().thought.bits_per_dollar);
    worth && life.thoughts.standing.iter().enumerate().any(beyond_luck)
}
