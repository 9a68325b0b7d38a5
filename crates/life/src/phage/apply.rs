//! Applying the events of phages. It calculates and never decides.

use std::collections::VecDeque;

use super::read::LIFE;
use super::state::Asked;
use super::{Event, Phage, Venture, Way};
use crate::life::Life;
use crate::limits;
use crate::prediction::Prediction;
use crate::rule::{Blend, Heuristic, Term, Terms, learning};
use crate::world::DomainKind;

/// The share of a feature in a blend that a phage takes it into.
const SHARE: f64 = 0.2;

pub(crate) fn apply(life: &mut Life, event: &Event) {
    match event {
        Event::Spawned(venture) => {
            life.phages.made += 1;
            if let Some(way) = way(life, venture) {
                let phage = Phage { born: life.tick, way, cases: 0, gained: 0.0, asked: VecDeque::new() };
                let _ = life.phages.living.try_push(phage);
            }
        }
        Event::Watched { holds } => life.phages.holds = (*holds, life.seen.until),
        Event::Ended { at, fate } => life.phages.end(usize::from(*at), *fate),
    }
}

fn way(life: &Life, venture: &Venture) -> Option<Way> {
    let rule = |slot: u8, change: &dyn Fn(&mut Heuristic)| {
        let rule = life.playbook.get(usize::from(slot))?;
        let mut own = Box::new(rule.unasked());
        change(&mut own);
        Some(Way::Rule { own, of: rule.id })
    };
    match *venture {
        Venture::Threshold { slot, comparison, than } => rule(slot, &|own| {
            if let Some(comparison) = own.condition.0.get_mut(usize::from(comparison)) {
                comparison.than = than;
            }
        }),
        Venture::Term { slot, feature } => rule(slot, &|own| {
            let Some(mut mix) = own.blend.as_ref().map(|blend| blend.mix()) else { return };
            match mix.terms.iter().position(|term| term.feature == feature) {
                Some(at) => drop(mix.terms.remove(at)),
                None => drop(mix.terms.try_push(Term { feature, share: SHARE })),
            }
            own.blend = Some(Box::new(Blend::new(&mix, own.expects())));
        }),
        Venture::Stop { times } => {
            let (golems, unit) = (f64::from(life.policy.stop_bps) / 10_000.0, life.seen.unit);
            Some(Way::Stop { own: golems * times, golems, entered: unit, lowest: unit })
        }
        Venture::Regime => Some(Way::Regime { called: life.regimes.now, changed: false }),
    }
}

/// Shows phages the newest bar.
pub(crate) fn looked(life: &mut Life) {
    let (unit, regime) = (life.seen.unit, life.regimes.now);
    for phage in &mut life.phages.living {
        match &mut phage.way {
            Way::Stop { lowest, .. } => *lowest = unit.min(*lowest),
            Way::Regime { called, changed } => *changed |= regime != *called,
            Way::Rule { .. } => {}
        }
    }
}

/// Notes what a phage, and the rule it was made from, say of a claim being made.
pub(crate) fn said(life: &mut Life, domain: usize, made: u64, naive: f64, fired: u64, terms: Option<&Terms>) {
    let kind = life.birth.world.domains[domain].kind;
    let (holds, then) = life.phages.holds;
    let holds = if then == life.seen.until { holds } else { 0 };
    for (at, phage) in life.phages.living.iter_mut().enumerate() {
        let Way::Rule { own, of } = &phage.way else { continue };
        if usize::from(own.domain) != domain || made >= phage.born + LIFE {
            continue;
        }
        let awake = holds >> at & 1 == 1;
        let own = if awake { expected(own, kind, naive, terms) } else { naive };
        let slot = life.playbook.iter().position(|rule| rule.id == *of);
        let theirs = slot
            .filter(|slot| fired >> slot & 1 == 1)
            .map_or(naive, |slot| expected(&life.playbook[slot], kind, naive, terms));
        let asked = Asked { tick: made as u16, own: own as f32, theirs: theirs as f32 };
        if asked.own != asked.theirs && phage.asked.len() < limits::OPEN {
            phage.asked.push_back(asked);
        }
    }
}

fn expected(rule: &Heuristic, kind: DomainKind, naive: f64, terms: Option<&Terms>) -> f64 {
    match &rule.blend {
        Some(blend) => terms.and_then(|terms| blend.far(terms)).map_or(naive, |far| naive * libm::exp(blend.way(&far))),
        None => rule.forecast(kind, naive),
    }
}

/// Scores phages on a claim that has met its bar.
pub(crate) fn scored(life: &mut Life, domain: usize, claim: &Prediction, actual: f64) {
    let (laws, kind) = (life.laws(), life.birth.world.domains[domain].kind);
    for phage in life.phages.living.iter_mut().filter(|phage| phage.domain() == Some(domain as u8)) {
        if let Some(asked) = phage.asked(claim.made) {
            let wrong = |said: f32| learning::error(kind, claim.base, f64::from(said), actual, laws);
            phage.cases += 1;
            phage.gained += wrong(asked.theirs) - wrong(asked.own);
        }
    }
}
