//! When to ask, and what to make of what comes back.

use life::Draft;
use life::constitution::MindKind;
use life::heartbeat::State;
use life::id::CommandId;
use life::money::Usdc;
use life::mortality::death::Cause;
use life::mortality::phase::{Phase, Tier};
use life::policy::Refusal;
use life::rule::Provenance;
use life::thought::{Answer, Event, FLOOR, Held, Purpose, Question, Silence};
use life::time::Time;
use life::world::Features;

use super::ask::{Wish, keep, plenty, question};
use super::night::conceive;
use super::probe::{probe, why};
use crate::{policy, rule, stress};

/// How unusual a tick must be for a stronger model to be asked at once.
const GRAVE: f32 = 6.0;

/// Decides, at the end of a tick, whether it is worth a question.
pub(crate) fn consider(draft: &mut Draft<'_>, features: &Features) {
    wake_with(draft);
    // A reflex says nothing that a model could add to.
    let rules = draft.constitution().mind.kind == MindKind::Rules;
    if !draft.constitution().thought.any() || !rules || draft.is_dead() {
        return;
    }
    let (score, reasons) = probe(draft);
    let share = wanted_share(draft);
    let asks = score > draft.thoughts().threshold && score > 0.0;
    draft.emit(Event::Probed { score, share });
    if !asks {
        return;
    }
    let purpose = if reasons & why::PRESSURE != 0 { Purpose::Assess } else { Purpose::Orient };
    let tier = if score >= GRAVE { Tier::Middle } else { Tier::Cheap };
    ask(draft, Wish { why: reasons, seen: features, ..Wish::of(purpose, tier) });
}

/// Asks the question first that its owner put while it slept.
fn wake_with(draft: &mut Draft<'_>) {
    if draft.heartbeat().state == State::Dreaming || draft.is_dead() {
        return;
    }
    if let Some(owner) = draft.thoughts().waiting.clone() {
        ask(draft, Wish { owner: Some(owner), ..Wish::of(Purpose::Answer, Tier::Middle) });
    }
}

/// Takes a question from the owner. While the golem sleeps, it is put off until the morning.
pub(crate) fn owner_asks(draft: &mut Draft<'_>, command: CommandId, text: String) -> Result<(), Refusal> {
    let wish = Wish { owner: Some((command, text.clone())), ..Wish::of(Purpose::Answer, Tier::Middle) };
    match question(draft, draft.at(), wish) {
        Ok(question) => draft.emit(Event::Asked(Box::new(question))),
        Err(Held::Asleep) if draft.thoughts().waiting.is_none() => draft.emit(Event::Deferred { command, text }),
        Err(by) => return Err(Refusal::Thought(by)),
    }
    Ok(())
}

/// Asks for its last words, beside the facts, once; not after a kill switch.
pub(crate) fn reflect(draft: &mut Draft<'_>) {
    let figures = draft.constitution();
    let anybody = figures.thought.any() || figures.dream.model.is_some();
    let death = draft.death().filter(|death| !matches!(death.cause, Cause::KillSwitch { .. }));
    if !anybody || death.is_none_or(|death| death.reflected_on) || draft.thoughts().asks(Purpose::Reflect) {
        return;
    }
    ask(draft, Wish::of(Purpose::Reflect, Tier::Middle));
}

/// The share of ticks that there is reason and money to ask in.
fn wanted_share(draft: &Draft<'_>) -> f32 {
    let share = match draft.phase() {
        Phase::Declining | Phase::Terminal => FLOOR,
        _ => draft.thoughts().share.max(FLOOR),
    };
    (share * plenty(draft, draft.at()) as f32).max(FLOOR / 2.0)
}

fn ask(draft: &mut Draft<'_>, wish: Wish<'_>) {
    match question(draft, draft.at(), wish) {
        Ok(question) => draft.emit(Event::Asked(Box::new(question))),
        Err(by) => keep(draft, by),
    }
}

/// Gives up questions that were not answered in time: they count as spent.
pub(crate) fn lapse(draft: &mut Draft<'_>) {
    let now = draft.at();
    while let Some(question) = draft.thoughts().open.iter().find(|question| question.deadline < now) {
        forfeited(draft, question.key);
    }
}

/// Gives up one question, which counts as spent since it may have been paid for.
pub(crate) fn forfeited(draft: &mut Draft<'_>, key: u64) {
    if let Some(question) = draft.thoughts().find(key) {
        let (purpose, cost) = (question.purpose, question.most);
        draft.emit(Event::Silent { key, purpose, cost, over: Usdc::ZERO, why: Silence::Lost });
    }
}

/// Gives up all questions but that for the last words: a death waits for no other answer.
pub(crate) fn forfeit_all(draft: &mut Draft<'_>) {
    let of_the_living = |question: &&Question| question.purpose != Purpose::Reflect;
    while let Some(question) = draft.thoughts().open.iter().find(of_the_living) {
        forfeited(draft, question.key);
    }
}

/// Takes in an answer or a silence, and its cost. The sum set aside is settled whatever the answer says; only an answer
/// that still fits the moment changes anything else.
pub(crate) fn answered(draft: &mut Draft<'_>, key: u64, cost: Usdc, said: &Result<Box<Answer>, Silence>) {
    let Some(asked) = draft.thoughts().find(key).cloned() else { return };
    let (purpose, paid) = (asked.purpose, cost.min(asked.most).max(Usdc::ZERO));
    let over = (cost - asked.most).max(Usdc::ZERO);
    let answer = match said {
        Ok(answer) => answer,
        Err(why) => {
            draft.emit(Event::Silent { key, purpose, cost: paid, over, why: *why });
            return;
        }
    };
    let fresh = is_fresh(draft, &asked, draft.at());
    draft.emit(Event::Answered { key, purpose, cost: paid, over, fresh, answer: answer.clone() });
    if fresh {
        take_up(draft, &asked, answer);
    }
}

fn is_fresh(draft: &Draft<'_>, asked: &Question, at: Time) -> bool {
    // Answers to the owner, and last words, fit any moment.
    if matches!(asked.purpose, Purpose::Answer | Purpose::Reflect) {
        return true;
    }
    asked.epoch == draft.heartbeat().epoch && at <= asked.deadline && !draft.is_dead()
}

fn take_up(draft: &mut Draft<'_>, asked: &Question, answer: &Answer) {
    if asked.purpose.is_nightly() {
        return conceive(draft, asked, answer);
    }
    answer.rules.iter().for_each(|rule| rule::suggested(draft, rule, Provenance::Thought));
    if let Some(proposal) = &answer.proposal {
        policy::proposed(draft, proposal);
    }
    if let Some(assessment) = &answer.assessment {
        stress::assessed(draft, assessment);
    }
    let prefers_cheap = draft.phase() < Phase::Stable;
    if answer.deeper && asked.tier < Tier::Strong && !prefers_cheap {
        let stronger = if asked.tier == Tier::Cheap { Tier::Middle } else { Tier::Strong };
        let known = draft.constitution().thought.model(stronger).is_some();
        let seen: Vec<f64> = asked.seen.iter().map(|feature| f64::from(*feature)).collect();
        if known {
            ask(draft, Wish { why: asked.why | why::DEEPER, seen: &seen, ..Wish::of(asked.purpose, stronger) });
        }
    }
}
