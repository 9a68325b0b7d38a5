//! Sending phages out, and what becomes of their ways once they are dead.

use life::phage::{Event, Fate, Kind, LIFE, Phage, Venture, Way, a_day};
use life::rule::{Heuristic, Provenance, free_slot, room_for_blends, rounded};
use life::time::Span;
use life::world::Features;
use life::{Draft, Life, limits};

use crate::rule::{self, Dice};

/// Factors by one of which a threshold is moved.
const MOVED: [f64; 4] = [0.5, 0.8, 1.25, 2.0];
/// Factors by one of which a stop is moved.
const STOPPED: [f64; 2] = [0.5, 2.0];
/// A number that sets these dice apart from any other.
const PURPOSE: u64 = 50;

/// Ends the phages whose time is over, and sends out the next if one is due.
pub(crate) fn run(draft: &mut Draft<'_>, features: &Features) {
    let mut at = 0;
    while let Some(phage) = draft.phages().living.get(at) {
        if is_over(draft, phage) {
            end(draft, at);
        } else {
            at += 1;
        }
    }
    if is_due(draft)
        && let Some(venture) = venture(draft, features)
    {
        draft.emit(Event::Spawned(venture));
    }
}

/// Whether a phage's time is over and all its claims are answered.
fn is_over(life: &Life, phage: &Phage) -> bool {
    let ahead = phage.domain().map_or(0, |domain| u64::from(life.looks_ahead(usize::from(domain))));
    life.tick() > phage.born + LIFE + ahead
}

fn end(draft: &mut Draft<'_>, at: usize) {
    let phage = &draft.phages().living[at];
    let fate = phage.fate(draft.seen().unit);
    let proven = match &phage.way {
        Way::Rule { own, .. } if fate == Fate::Better => Some(own.clone()),
        _ => None,
    };
    draft.emit(Event::Ended { at: at as u8, fate });
    if let Some(heuristic) = proven {
        try_out(draft, &heuristic);
    }
}

/// Puts the rule of a phage that did better on trial like any other idea, without a say.
fn try_out(draft: &mut Draft<'_>, own: &Heuristic) {
    let known = |h: &Heuristic| h.domain == own.domain && h.condition == own.condition;
    let blends = own.blend.is_some();
    if !draft.learns() || blends && room_for_blends(draft) == 0 || !blends && draft.playbook().iter().any(known) {
        return;
    }
    let Some(slot) = free_slot(draft) else { return };
    let kind = draft.birth().world.domains[usize::from(own.domain)].kind;
    let (id, condition, tick) = (draft.heuristics_made() + 1, own.condition.clone(), draft.tick());
    let fresh = Heuristic::new(id, condition, own.domain, kind, own.stance, Provenance::Phage, tick);
    let heuristic = Heuristic { effect: own.effect, blend: own.blend.clone(), voice: false, ..fresh };
    draft.emit(rule::Event::Adopted { slot: slot as u8, heuristic: Box::new(heuristic), night: None });
}

/// Whether the next phage is due: so many a day, by phase, and no more at once than there is room for.
fn is_due(life: &Life) -> bool {
    let a_day = u64::from(a_day(life));
    if a_day == 0 || life.phages().living.is_full() {
        return false;
    }
    let ticks = Span::DAY.as_millis() / life.constitution().interval.as_millis().max(1);
    life.tick() > 0 && life.tick().is_multiple_of((ticks / a_day).max(1))
}

/// Chooses what to do otherwise: one of the kinds by chance, and a rule's threshold if that kind has nothing to offer.
fn venture(life: &Life, features: &Features) -> Option<Venture> {
    let mut dice = Dice::of_night(life, PURPOSE);
    match Kind::ALL[dice.below(Kind::ALL.len())] {
        Kind::Threshold => None,
        Kind::Term => term(life, features, &mut dice),
        Kind::Stop if life.policy().stop_bps > 0 && life.seen().unit.is_positive() => {
            Some(Venture::Stop { times: STOPPED[dice.below(STOPPED.len())] })
        }
        Kind::Regime if life.birth().world.regime.is_some() => Some(Venture::Regime),
        Kind::Stop | Kind::Regime => None,
    }
    .or_else(|| threshold(life, &mut dice))
}

fn threshold(life: &Life, dice: &mut Dice) -> Option<Venture> {
    let moves = |h: &Heuristic| h.voice && h.blend.is_none() && h.condition.0.iter().any(|c| c.than != 0.0);
    let mut slots: Vec<usize> = (0..life.playbook().len()).filter(|slot| moves(&life.playbook()[*slot])).collect();
    // Every other time, rather in a domain where nothing known does better than naive.
    let gap = |slot: &usize| {
        let domain = &life.epistemic().domains[usize::from(life.playbook()[*slot].domain)];
        domain.skill() < life.laws().echo
    };
    if dice.below(2) == 0 && slots.iter().any(gap) {
        slots.retain(gap);
    }
    let slot = *slots.get(dice.below(slots.len()))?;
    let comparisons = &life.playbook()[slot].condition.0;
    let comparison = dice.below(comparisons.len());
    let than = rounded(comparisons[comparison].than * MOVED[dice.below(MOVED.len())], 3);
    (than != comparisons[comparison].than).then_some(Venture::Threshold {
        slot: slot as u8,
        comparison: comparison as u8,
        than,
    })
}

fn term(life: &Life, features: &Features, dice: &mut Dice) -> Option<Venture> {
    let blends = |slot: &usize| life.playbook()[*slot].voice && life.playbook()[*slot].blend.is_some();
    let slots: Vec<usize> = (0..life.playbook().len()).filter(blends).collect();
    let slot = *slots.get(dice.below(slots.len()))?;
    let terms = &life.playbook()[slot].blend.as_ref()?.features;
    let feature = dice.below(features.len()) as u8;
    let possible = if terms.contains(&feature) {
        terms.len() > 1
    } else {
        terms.len() < limits::TERMS && *features.get(usize::from(feature))? > 0.0
    };
    possible.then_some(Venture::Term { slot: slot as u8, feature })
}
