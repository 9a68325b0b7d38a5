//! Applying the events of heuristics, their claims and their stakes. It calculates and never decides.

use super::{Event, Heuristic, Stake, holding, learning, sample, slots};
use crate::constitution::{Measure, MindKind};
use crate::daimon::{self, Felt};
use crate::dream::{self, Change};
use crate::life::Life;
use crate::limits;
use crate::money::Usdc;
use crate::outside;
use crate::phage;
use crate::prediction::Prediction;
use crate::thought;
use crate::time::{Span, Time};

pub(crate) fn apply(life: &mut Life, event: &Event) {
    match event {
        Event::Adopted { slot, heuristic, night } => adopt(life, usize::from(*slot), heuristic, *night),
        Event::Predicted { domain, naive, far, fired, said, terms } => {
            begin_look(life);
            life.awake |= *fired;
            if let Some(stake) = life.stakes.back_mut().filter(|stake| stake.made == life.seen.until) {
                stake.awake |= *fired;
            }
            let at = usize::from(*domain);
            assert!(life.open[at].len() < limits::OPEN, "there is no room for another claim");
            let due = life.seen.until + life.horizon(at);
            let base = life.birth.world.domains[at].base(life.seen.values[at]);
            let (holds, then) = life.dreams.holds;
            let staged = if then == life.seen.until { holds & dream::about(life, *domain) } else { 0 };
            let (made, naive, fired) = (life.tick, *naive, *fired);
            let value = naive + f64::from(*far);
            for slot in slots(fired) {
                let heuristic = &mut life.playbook[slot];
                match &mut heuristic.blend {
                    Some(blend) => {
                        if let Some(far) = terms.as_ref().and_then(|terms| blend.far(terms)) {
                            blend.ask(made, far);
                        }
                    }
                    None => heuristic.said.say(made, heuristic.effect),
                }
                if heuristic.fragment().is_some() {
                    sample::begin(life, slot);
                }
            }
            dream::said(life, at, made, staged, naive, fired);
            phage::said(life, at, made, naive, fired, terms.as_deref());
            thought::said(life, at, made, naive, said);
            outside::said(life, at, made, naive, said);
            let (ahead, said) = (life.looks_ahead(at), *said);
            let mixed = life.trust[at].mixed(&said) as f32;
            life.open[at].push_back(Prediction { due, made, base, value, naive, fired, staged, ahead, said, mixed });
        }
        Event::Scored { domain, actual } => score(life, usize::from(*domain), *actual),
        Event::Voided { domain } => drop(life.open[usize::from(*domain)].pop_front()),
        Event::Weighed { at, unit } => pay_out(life, *at, *unit),
        Event::Judged { slot } => life.playbook[usize::from(*slot)].judged = true,
        Event::Promoted { slot } => {
            life.playbook[usize::from(*slot)].voice = true;
            daimon::feel(life, Felt::Validated);
        }
        Event::Left { samples, held } => {
            slots(*samples).for_each(|slot| sample::end(life, slot));
            if let Some(exit) = life.held.as_mut().and_then(|now| now.exit.as_mut()) {
                exit.due |= *held;
            }
        }
    }
}

/// Begins a new look, at which no heuristic is awake yet.
pub(crate) fn begin_look(life: &mut Life) {
    if life.awake_at != life.seen.until {
        (life.awake, life.awake_at) = (0, life.seen.until);
        stake(life);
    }
}

/// Begins to follow what holding from this look pays, unless a look was taken up just before.
fn stake(life: &mut Life) {
    let (made, holding) = (life.seen.until, holding(life));
    let stride = Span::millis(holding.as_millis() / life.laws().stakes);
    if life.stakes.back().is_none_or(|last| last.made + stride <= made) {
        life.stakes.push_back(Stake { made, due: made + holding, unit: life.seen.unit, awake: 0, outside: false });
    }
}

/// Pays out the stakes that are due at this moment by the worth of a unit; those missed are dropped.
pub(crate) fn pay_out(life: &mut Life, at: Time, unit: Usdc) {
    let laws = life.laws();
    let cost = life.execution.round_trip();
    while let Some(stake) = life.stakes.front().filter(|stake| stake.due <= at).copied() {
        life.stakes.pop_front();
        if stake.due == at && life.learns() {
            let gain = unit.change_from(stake.unit);
            let stretch = (stake.made, stake.due);
            for slot in slots(stake.awake) {
                let heuristic = &mut life.playbook[slot];
                // A fragment leaves by its own way out.
                if heuristic.fragment().is_none() {
                    heuristic.paid.learn(stretch, gain, cost, laws);
                }
            }
            if stake.outside {
                life.outside.paid.learn(stretch, gain, cost, laws);
            }
        }
    }
}

/// Puts a heuristic into a slot. Claims that the slot's former heuristic had a say in teach the newcomer nothing.
fn adopt(life: &mut Life, slot: usize, heuristic: &Heuristic, night: Option<u64>) {
    assert!(slot <= life.playbook.len() && slot < limits::HEURISTICS, "a heuristic has no slot");
    life.heuristics_made = life.heuristics_made.max(heuristic.id);
    if let Some(night) = night {
        life.dreams.changes.push(Change::new(slot as u8, heuristic, night));
    }
    if slot == life.playbook.len() {
        life.playbook.push(heuristic.clone());
        return;
    }
    for claim in life.open.iter_mut().flatten() {
        claim.fired &= !(1 << slot);
    }
    for stake in &mut life.stakes {
        stake.awake &= !(1 << slot);
    }
    life.sampling.retain(|sample| usize::from(sample.slot) != slot);
    life.awake &= !(1 << slot);
    let room = life.laws().shelf_kept;
    // The same heuristic with another expectation has not left its slot.
    if life.playbook[slot].id != heuristic.id {
        life.knowing.shelve(&life.playbook[slot], room);
    }
    life.playbook[slot] = heuristic.clone();
}

/// Scores the oldest claim of a domain, which has met its bar: fitness changes, and heuristics that had a say learn.
fn score(life: &mut Life, domain: usize, actual: f64) {
    let Some(claim) = life.open[domain].pop_front() else { return };
    let (laws, kind) = (life.laws(), life.birth.world.domains[domain].kind);
    let error = learning::error(kind, claim.base, claim.value, actual, laws);
    let naive_error = learning::error(kind, claim.base, claim.naive, actual, laws);
    let departure = learning::departure(kind, claim.value, claim.naive);
    let usual = &life.epistemic.domains[domain];
    if usual.weight >= laws.domain_minimum {
        life.episodes.surprise.add(error, usual.error / usual.weight, laws.surprise_most);
    }
    // The record of an outside mind fades with its claims and not with time.
    if life.birth.constitution.mind.kind == MindKind::Outside {
        let window = life.fitness_window();
        life.epistemic.domains[domain].fade(window);
    }
    life.epistemic.score(domain, error, naive_error, departure, life.tick);
    life.stress.ledger.score(domain, error, naive_error);
    if life.birth.constitution.epistemic.measure == Measure::R2 {
        life.epistemic.pair(domain, claim.value, learning::met(kind, claim.base, actual), laws.pairs_kept);
    }
    life.seen.count_rise(domain, learning::rise(claim.base, actual), laws);
    if life.learns() {
        life.trust[domain].learn(kind, &claim, actual, laws);
        for slot in slots(claim.fired) {
            life.playbook[slot].learn(kind, &claim, actual, life.regimes.now, laws);
        }
        phage::scored(life, domain, &claim, actual);
        thought::scored(life, domain, &claim, actual);
        outside::scored(life, domain, &claim, actual);
        if claim.staged != 0 {
            dream::tried(life, domain, &claim, actual);
        }
        if !life.dreams.revisions.is_empty() {
            dream::tried_again(life, domain, &claim, actual);
        }
    }
}
