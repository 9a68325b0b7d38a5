//! Applying the events of nights and trials. It calculates and never decides.

use super::{Event, Fate, Trigger, schedule};
use crate::grimoire::Fiber;
use crate::heartbeat::State;
use crate::life::Life;
use crate::money::Usdc;
use crate::mortality::Purse;
use crate::prediction::Prediction;
use crate::rule::{Heuristic, learning};

pub(crate) fn apply(life: &mut Life, event: &Event) {
    match event {
        Event::Switched { on } => life.dreams.switched = Some(*on),
        Event::Began { trigger, ticks, budget } => begin(life, *trigger, *ticks, *budget),
        Event::Passed { phase, cost } => {
            let (age, laws) = (life.age, life.laws());
            assert!(*cost >= Usdc::ZERO, "a night brings money");
            life.dreams.pass(*phase, *cost, Purse::month_at(age, laws));
            life.purse.spend(*cost, age, laws);
        }
        Event::Slept => life.dreams.night.iter_mut().for_each(|night| night.slept += 1),
        Event::Left { woken } => {
            life.dreams.leave(*woken, life.tick, life.episodes.made, life.capital.result());
            if life.heartbeat.state == State::Dreaming {
                life.heartbeat.state = State::Sleeping;
            }
            life.heartbeat.epoch += 1;
            life.knowing.fiber = Fiber::default();
        }
        // A night that was put off is less urgent a tick later.
        Event::Blocked { .. } => {
            let eased = life.laws().dream_blocked;
            life.knowing.fiber.urgency = (life.knowing.fiber.urgency - eased).max(0.0);
        }
        Event::Conceived { ideas } => {
            life.dreams.night.iter_mut().for_each(|night| night.ideas.extend(ideas.iter().cloned()));
        }
        Event::Dreamt(found) => life.dreams.work(found),
        Event::Wondered { holds } => life.dreams.holds = (*holds, life.seen.until),
        Event::Unstaged { at, fate } => {
            leave(life, usize::from(*at));
            life.dreams.count(*fate);
        }
        Event::RolledBack { at } => {
            let change = life.dreams.changes.remove(usize::from(*at));
            life.dreams.rolled_back += 1;
            life.playbook[usize::from(change.slot)].voice = false;
        }
        Event::Proven { at } => drop(life.dreams.changes.remove(usize::from(*at))),
        Event::Revised { at } => {
            change_places(life, usize::from(*at));
            life.dreams.revised += 1;
        }
        Event::Reverted { at } => {
            change_places(life, usize::from(*at));
            life.dreams.revisions.remove(usize::from(*at));
            life.dreams.rolled_back += 1;
        }
        Event::RevisionLeft { at, fate } => {
            if *fate != Fate::Promoted {
                judged(life, usize::from(*at));
            }
            life.dreams.revisions.remove(usize::from(*at));
            life.dreams.count(*fate);
        }
        Event::Quiet => life.dreams.quiet(),
    }
}

fn begin(life: &mut Life, trigger: Trigger, ticks: u32, budget: Usdc) {
    if let Some(hours) = schedule::bedtime(life).filter(|_| trigger == Trigger::Window) {
        let (known, begun) = life.dreams.window;
        life.dreams.window = (hours, if known == hours { begun + 1 } else { 1 });
        life.dreams.session = if known == hours { life.dreams.session } else { Usdc::ZERO };
    }
    life.dreams.begin(trigger, ticks, budget, life.seen.unit);
    life.heartbeat.state = State::Dreaming;
    life.heartbeat.epoch += 1;
    life.stress.dream_wanted = false;
}

/// Credits or blames each hypothesis that held when a claim was made, now that the claim came true or not.
pub(crate) fn tried(life: &mut Life, domain: usize, claim: &Prediction, actual: f64) {
    let (laws, kind, regime) = (life.laws(), life.birth.world.domains[domain].kind, life.regimes.now);
    let made = claim.due - life.horizon(domain);
    for (at, hypothesis) in life.dreams.staged.iter_mut().enumerate() {
        if claim.staged >> at & 1 == 0 {
            continue;
        }
        let naive = learning::error(kind, claim.base, claim.naive, actual, laws);
        let Some(error) = hypothesis.heuristic.learn(kind, claim, actual, regime, laws) else { continue };
        hypothesis.error += error;
        hypothesis.naive_error += naive;
        if made < hypothesis.until {
            continue;
        }
        hypothesis.until = claim.due;
        hypothesis.bet(error < naive, laws);
        if error < naive {
            hypothesis.confirmed += 1;
            hypothesis.confidence = (hypothesis.confidence + laws.dream_confirms).min(1.0);
        } else {
            hypothesis.contradicted += 1;
            hypothesis.confidence -= laws.dream_contradicts;
        }
    }
}

/// Notes, for a claim being made, what hypotheses on trial and heuristics that learn again expect themselves.
pub(crate) fn said(life: &mut Life, domain: usize, made: u64, staged: u16, naive: f64, fired: u64) {
    for (at, hypothesis) in life.dreams.staged.iter_mut().enumerate() {
        if staged >> at & 1 == 1 {
            hypothesis.heuristic.said.say(made, hypothesis.heuristic.effect);
        }
    }
    let (laws, kind, playbook) = (life.laws(), life.birth.world.domains[domain].kind, &life.playbook);
    for revision in life.dreams.revisions.iter_mut().filter(|r| usize::from(r.domain) == domain) {
        let awake = |slot: &u8, h: &Heuristic| {
            fired >> slot & 1 == 1 && playbook.get(usize::from(*slot)).is_some_and(|now| now.id == h.id)
        };
        revision.said.say(made, revision.together(kind, naive, awake, laws));
        for (_, heuristic) in revision.heuristics.iter_mut().filter(|(slot, h)| awake(slot, h)) {
            heuristic.said.say(made, heuristic.effect);
        }
    }
}

/// Takes a hypothesis off the list: those after it move up, in every claim.
fn leave(life: &mut Life, at: usize) {
    life.dreams.staged.remove(at);
    let below = (1_u16 << at) - 1;
    let close = |bits: u16| bits & below | (bits >> 1) & !below;
    life.dreams.holds.0 = close(life.dreams.holds.0);
    for claim in life.open.iter_mut().flatten() {
        claim.staged = close(claim.staged);
    }
}

/// Hypotheses on trial that speak of a domain, one bit each.
pub(crate) fn about(life: &Life, domain: u8) -> u16 {
    let bits = life.dreams.staged.iter().enumerate();
    bits.fold(0, |bits, (at, staged)| bits | u16::from(staged.heuristic.domain == domain) << at)
}

/// Teaches the heuristics in the shadow from a claim that came true or not, by what they would have claimed.
pub(crate) fn tried_again(life: &mut Life, domain: usize, claim: &Prediction, actual: f64) {
    let (laws, kind, regime) = (life.laws(), life.birth.world.domains[domain].kind, life.regimes.now);
    let made = claim.due - life.horizon(domain);
    let playbook = &life.playbook;
    for revision in life.dreams.revisions.iter_mut().filter(|r| usize::from(r.domain) == domain) {
        // A heuristic whose slot has been taken meanwhile says nothing any more.
        let fired = |slot: &u8, h: &Heuristic| {
            claim.fired >> slot & 1 == 1 && playbook.get(usize::from(*slot)).is_some_and(|now| now.id == h.id)
        };
        let said = revision.said.take(claim.made);
        let value = if laws.honest { said } else { Some(revision.together(kind, claim.naive, fired, laws)) };
        let rival = learning::error(kind, claim.base, claim.value, actual, laws);
        for (slot, heuristic) in &mut revision.heuristics {
            if fired(slot, heuristic) {
                heuristic.learn(kind, claim, actual, regime, laws);
            }
        }
        let Some(error) = value.map(|value| learning::error(kind, claim.base, value, actual, laws)) else { continue };
        revision.excess += error - rival;
        if made < revision.until {
            continue;
        }
        let gain = if rival + error > 0.0 { (rival - error) / (rival + error) } else { 0.0 };
        revision.gain += gain;
        revision.squares += gain * gain;
        revision.until = claim.due;
        if error < rival {
            revision.confirmed += 1;
            revision.confidence = (revision.confidence + laws.dream_confirms).min(1.0);
        } else {
            revision.contradicted += 1;
            revision.confidence -= laws.dream_contradicts;
        }
    }
}

/// Swaps the heuristics in the shadow with those in use.
fn change_places(life: &mut Life, at: usize) {
    let revision = &mut life.dreams.revisions[at];
    for (slot, heuristic) in &mut revision.heuristics {
        let Some(now) = life.playbook.get_mut(usize::from(*slot)).filter(|now| now.id == heuristic.id) else {
            continue;
        };
        // What holding paid is a fact of its own, and stays with the heuristic in use.
        (heuristic.paid, heuristic.stance, heuristic.voice) = (now.paid, now.stance, now.voice);
        *heuristic = std::mem::replace(now, heuristic.clone());
    }
    revision.adopted = !revision.adopted;
    (revision.confirmed, revision.contradicted) = (0, 0);
    (revision.gain, revision.squares, revision.excess) = (0.0, 0.0, 0.0);
    revision.said.clear();
    judged(life, at);
}

/// Marks what was lived up to here as judged, so that it is no reason to judge again.
fn judged(life: &mut Life, at: usize) {
    let domain = usize::from(life.dreams.revisions[at].domain);
    life.dreams.settled[domain] = life.tick;
}
