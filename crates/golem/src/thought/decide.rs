//! When to ask, and what to make of what comes back.

use super::ask::{plenty, question};
use super::probe::{probe, why};
use super::{Answer, Event, Held, Purpose, Question, Silence};
use crate::constitution::{MindKind, StressMode};
use crate::draft::Draft;
use crate::money::Usdc;
use crate::mortality::phase::{Phase, Tier};
use crate::policy;
use crate::rule::{self, Heuristic, Provenance, free_slot, room_for_blends};
use crate::stress;
use crate::time::Time;
use crate::world::Features;

/// Ticks before the same reason for not asking is told again.
const TELL_AGAIN: u64 = 500;
/// What it asks at least, so that a model that has become better is found out.
pub(super) const FLOOR: f32 = 0.001;
/// As unusual as this, a stronger model is asked at once.
const GRAVE: f32 = 6.0;

/// A tick is over: is it worth a thought?
pub(crate) fn consider(draft: &mut Draft<'_>, features: &Features) {
    // A reflex says nothing that a model could add to.
    let rules = draft.constitution().mind.kind == MindKind::Rules;
    if !draft.constitution().thought.any() || !rules || draft.is_dead() {
        return;
    }
    let (score, reasons) = probe(draft);
    let share = wanted_share(draft);
    let asks = score > draft.thoughts.threshold && score > 0.0;
    draft.emit(Event::Probed { score, share });
    if !asks {
        return;
    }
    let pressed = reasons & why::PRESSURE != 0 && draft.constitution().stress.mode != StressMode::Off;
    let purpose = if pressed { Purpose::Assess } else { Purpose::Orient };
    let tier = if score >= GRAVE { Tier::Middle } else { Tier::Cheap };
    ask(draft, purpose, tier, reasons, features);
}

/// The share of ticks that there is reason and money to ask in.
fn wanted_share(draft: &Draft<'_>) -> f32 {
    let share = match draft.phase() {
        Phase::Declining | Phase::Terminal => FLOOR,
        _ => draft.thoughts.share.max(FLOOR),
    };
    (share * plenty(draft, draft.at()) as f32).max(FLOOR / 2.0)
}

fn ask(draft: &mut Draft<'_>, purpose: Purpose, tier: Tier, reasons: u8, features: &[f64]) {
    match question(draft, draft.at(), purpose, tier, reasons, features) {
        Ok(question) => draft.emit(Event::Asked(Box::new(question))),
        Err(by) => keep(draft, by),
    }
}

/// The same reason is told once in a while and not at every tick.
fn keep(draft: &mut Draft<'_>, by: Held) {
    let (tick, kept) = (draft.tick, draft.thoughts.kept);
    if kept.is_none_or(|(last, since)| last != by || tick >= since + TELL_AGAIN) {
        draft.emit(Event::Kept { by });
    }
}

/// Whatever has not come back in time counts as spent.
pub(crate) fn lapse(draft: &mut Draft<'_>) {
    let now = draft.at();
    while let Some(question) = draft.thoughts.open.iter().find(|question| question.deadline < now) {
        let (key, cost) = (question.key, question.most);
        draft.emit(Event::Silent { key, cost, over: Usdc::ZERO, why: Silence::Lost });
    }
}

/// It was under way when the process ended: it may have been paid for.
pub(crate) fn forfeited(draft: &mut Draft<'_>, key: u64) {
    if let Some(question) = draft.thoughts.find(key) {
        let cost = question.most;
        draft.emit(Event::Silent { key, cost, over: Usdc::ZERO, why: Silence::Lost });
    }
}

/// A death waits for nobody's answer.
pub(crate) fn forfeit_all(draft: &mut Draft<'_>) {
    while let Some(question) = draft.thoughts.open.first() {
        forfeited(draft, question.key);
    }
}

/// An answer, or none, and what it cost. What was set aside is settled whatever it says; only what still fits the moment
/// changes anything else.
pub(crate) fn answered(draft: &mut Draft<'_>, key: u64, cost: Usdc, said: &Result<Box<Answer>, Silence>) {
    let Some(asked) = draft.thoughts.find(key).cloned() else { return };
    let paid = cost.min(asked.most).max(Usdc::ZERO);
    let over = (cost - asked.most).max(Usdc::ZERO);
    let answer = match said {
        Ok(answer) => answer,
        Err(why) => {
            draft.emit(Event::Silent { key, cost: paid, over, why: *why });
            return;
        }
    };
    let fresh = is_fresh(draft, &asked, draft.at());
    draft.emit(Event::Answered { key, cost: paid, over, fresh, answer: answer.clone() });
    if fresh {
        take_up(draft, &asked, answer);
    }
}

fn is_fresh(draft: &Draft<'_>, asked: &Question, at: Time) -> bool {
    asked.epoch == draft.heartbeat.epoch && at <= asked.deadline && !draft.is_dead()
}

fn take_up(draft: &mut Draft<'_>, asked: &Question, answer: &Answer) {
    answer.rules.iter().for_each(|rule| try_rule(draft, rule));
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
            ask(draft, asked.purpose, stronger, asked.why | why::DEEPER, &seen);
        }
    }
}

/// What a model would have it go by begins in the shadow, like anything from outside, if there is a place for it.
fn try_rule(draft: &mut Draft<'_>, text: &str) {
    let world = &draft.birth.world;
    let Ok(parsed) = rule::text::parse(text, world) else { return };
    let known = draft.playbook.iter().any(|own| rule::text::Parsed::from(own).is_about_the_same(&parsed));
    let Some(slot) = free_slot(draft).filter(|_| !known && draft.learns()) else { return };
    if parsed.blend.is_some() && room_for_blends(draft) == 0 {
        return;
    }
    let kind = world.domains[usize::from(parsed.domain)].kind;
    let (id, since) = (draft.heuristics_made + 1, draft.tick);
    let new = Heuristic::new(id, parsed.condition, parsed.domain, kind, parsed.stance, Provenance::Thought, since);
    let heuristic = Heuristic { effect: parsed.effect, voice: false, ..new }.of(parsed.blend.as_ref());
    draft.emit(rule::Event::Adopted { slot: slot as u8, heuristic: Box::new(heuristic), night: None });
}
