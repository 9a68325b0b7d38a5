//! The rule mind at work: which heuristics have a say now, what they expect together, and what to try next.

use life::goal::{self, Ended, Goal};
use life::mortality::economic;
use life::prediction::{Departures, Voice};
use life::rule::{
    Comparison, Condition, Event, Heuristic, Is, Provenance, Stance, Term, Terms, free_slot, ideas_every, is_tried,
    learning, room_for_blends, room_for_fragments, rounded, slots, text,
};
use life::stress::{self, Kind};
use life::world::{Bar, DomainKind, Features};
use life::{Draft, Life, dream, limits, outside, phage, rule, thought};

use super::{Dice, fragments};

/// Makes one claim in every domain, by all heuristics whose condition holds.
pub(crate) fn think(draft: &mut Draft<'_>, bar: &Bar) {
    let (samples, held) = rule::exits(draft, &bar.features);
    if samples != 0 || held {
        draft.emit(Event::Left { samples, held });
    }
    let awake = awake(draft, &bar.features);
    let holds = holding(draft, &bar.features);
    if holds != 0 {
        draft.emit(dream::Event::Wondered { holds });
    }
    let holds = phage::holding(draft, &bar.features);
    if holds != 0 {
        draft.emit(phage::Event::Watched { holds });
    }
    for (domain, &fired) in awake.iter().enumerate().take(draft.birth().world.domains.len()) {
        if !claims_now(draft, domain) {
            continue;
        }
        let kind = draft.birth().world.domains[domain].kind;
        let naive = naive(draft, domain, &bar.features);
        let blends = slots(fired).filter_map(|slot| draft.playbook()[slot].blend.as_deref());
        let terms = Terms::of(blends.chain(phage::blends(draft, domain)), naive, &bar.features);
        let awake = || slots(fired).map(|slot| &draft.playbook()[slot]);
        let blended = terms.as_ref().and_then(|terms| learning::blended(naive, awake(), terms, draft.laws()));
        let rules = learning::together(kind, naive, awake(), draft.laws()) - naive;
        let mut said = Departures::default();
        let together = if draft.laws().trust_pace > 0.0 {
            let trust = &draft.trust()[domain];
            said.0[Voice::Rules as usize] = (rules != 0.0).then(|| trust.heard(kind, naive, rules));
            said.0[Voice::Blends as usize] = blended.map(|blended| trust.heard(kind, naive, blended - naive));
            let thought = thought::departure(draft, domain, kind, naive);
            said.0[Voice::Model as usize] = thought.map(|far| trust.heard(kind, naive, far));
            said.0[Voice::Outside as usize] = outside::departure(draft, domain, kind, naive);
            naive + trust.together(&said)
        } else {
            naive + rules
        };
        let value = if kind == DomainKind::Direction { together.clamp(0.01, 0.99) } else { together };
        let far = (value - naive) as f32;
        draft.emit(Event::Predicted { domain: domain as u8, naive, far, fired, said, terms });
    }
    explore(draft, &bar.features);
}

/// The slots whose condition holds, one mask per domain.
fn awake(life: &Life, features: &Features) -> [u64; limits::DOMAINS] {
    let mut masks = [0; limits::DOMAINS];
    for (slot, heuristic) in life.playbook().iter().enumerate() {
        let holds = heuristic.condition.holds(features);
        masks[usize::from(heuristic.domain)] |= u64::from(holds) << slot;
    }
    masks
}

/// Whether there is room for another claim and its turn has come: where claims look far ahead, not every look makes
/// one.
pub(crate) fn claims_now(life: &Life, domain: usize) -> bool {
    let apart = u64::from(life.looks_ahead(domain)).div_ceil(limits::OPEN as u64);
    life.open()[domain].len() < limits::OPEN && life.tick().is_multiple_of(apart)
}

/// The naive forecast, from nothing but the last value and what is usual.
pub(crate) fn naive(life: &Life, domain: usize, features: &Features) -> f64 {
    let (spec, last) = (&life.birth().world.domains[domain], life.seen().values[domain]);
    match spec.kind {
        DomainKind::Value => last,
        DomainKind::Direction => match spec.level {
            Some(level) => life.seen().chance(domain, level, u64::from(life.looks_ahead(domain))),
            None => life.seen().rises[domain],
        },
        DomainKind::Range => {
            let share = spec.scale.and_then(|at| features.get(usize::from(at))).copied().unwrap_or(0.0);
            (last * share).abs()
        }
    }
}

/// Puts a new idea, now and then, into a free slot or that of an idea whose trial came to nothing.
fn explore(draft: &mut Draft<'_>, features: &Features) {
    let mind = &draft.constitution().mind;
    let every = u64::from(mind.explore_every);
    if every == 0 || !draft.learns() || features.is_empty() || draft.tick() % every != every - 1 {
        return;
    }
    judge(draft);
    let due = ideas_every(draft).is_some_and(|apart| draft.tick() % apart == every - 1);
    if !due || !stress::allowed(draft).explore {
        return;
    }
    let Some(slot) = free_slot(draft) else { return };
    let mixture = if economic::seeks_revenue(draft) { None } else { mixture(draft, features) };
    let heuristic = mixture.unwrap_or_else(|| idea(draft, features));
    draft.emit(Event::Adopted { slot: slot as u8, heuristic: Box::new(heuristic), night: None });
}

/// Takes in a rule from a model or an outside mind, which begins in the shadow if there is a slot for it.
pub(crate) fn suggested(draft: &mut Draft<'_>, rule: &str, provenance: Provenance) {
    let world = &draft.birth().world;
    let Ok(parsed) = text::parse(rule, world) else { return };
    let known = draft.playbook().iter().any(|own| text::Parsed::from(own).is_about_the_same(&parsed));
    let Some(slot) = free_slot(draft).filter(|_| !known && draft.learns()) else { return };
    if parsed.blend.is_some() && room_for_blends(draft) == 0 {
        return;
    }
    let kind = world.domains[usize::from(parsed.domain)].kind;
    let (id, since) = (draft.heuristics_made() + 1, draft.tick());
    let stance = parsed.stance.under(draft.laws());
    let new = Heuristic::new(id, parsed.condition, parsed.domain, kind, stance, provenance, since);
    if new.fragment().is_some() && room_for_fragments(draft) == 0 {
        return;
    }
    let heuristic = Heuristic { effect: parsed.effect, voice: false, ..new }.of(parsed.blend.as_ref());
    draft.emit(Event::Adopted { slot: slot as u8, heuristic: Box::new(heuristic), night: None });
}

/// Judges ideas whose trial is over.
fn judge(draft: &mut Draft<'_>) {
    for slot in 0..draft.playbook().len() {
        let heuristic = &draft.playbook()[slot];
        if heuristic.provenance != Provenance::Instinct && !heuristic.judged && is_tried(draft, heuristic) {
            if heuristic.fragment().is_some() {
                fragments::judge(draft, slot);
                continue;
            }
            let (skill, echo) = (heuristic.skill(), draft.laws().echo);
            let ended = match skill {
                better if better > echo => Ended::Effective,
                worse if worse < -echo => Ended::Failed,
                _ => Ended::Done,
            };
            let domain = heuristic.domain;
            let kind = draft.birth().world.domains[usize::from(domain)].kind;
            let promoted = !heuristic.voice && heuristic.sure(kind, draft.laws()) > 0.0;
            draft.emit(Event::Judged { slot: slot as u8 });
            if promoted {
                draft.emit(Event::Promoted { slot: slot as u8 });
            }
            draft.emit(goal::Event::Finished { goal: Goal::Explore, domain, ended });
        }
    }
}

/// How often an idea is a known blend with a feature more or less, as one in so many.
const MIXTURES: usize = 6;

/// The best blend of a domain with a feature more or less, to be tried without a say.
fn mixture(life: &Life, features: &Features) -> Option<Heuristic> {
    let mut dice = Dice::of_night(life, MIXTURES as u64);
    if dice.below(MIXTURES) != 0 || room_for_blends(life) == 0 {
        return None;
    }
    let known: Vec<&Heuristic> = life.playbook().iter().filter(|h| h.blend.is_some() && h.voice).collect();
    let domain = known.get(dice.below(known.len().max(1)))?.domain;
    let best = known.into_iter().filter(|h| h.domain == domain).max_by(|a, b| a.skill().total_cmp(&b.skill()))?;
    let mut mix = best.blend.as_ref()?.mix();
    let feature = dice.below(features.len()) as u8;
    match mix.terms.iter().position(|term| term.feature == feature) {
        Some(at) => drop((mix.terms.len() > 1).then(|| mix.terms.remove(at))?),
        // A feature at zero or below has no logarithm.
        None if features[usize::from(feature)] > 0.0 => mix.terms.try_push(Term { feature, share: 0.0 }).ok()?,
        None => return None,
    }
    let same = |h: &Heuristic| h.domain == domain && h.blend.as_ref().is_some_and(|blend| blend.is_of(&mix));
    if life.playbook().iter().any(same) {
        return None;
    }
    let kind = life.birth().world.domains[usize::from(domain)].kind;
    let id = life.heuristics_made() + 1;
    let condition = best.condition.clone();
    let new = Heuristic::new(id, condition, domain, kind, Stance::Watch, Provenance::Explored, life.tick());
    Some(Heuristic { effect: best.expects(), voice: false, ..new }.of(Some(&mix)))
}

/// An idea whose condition is one or two features on the side where they stand now: it will hold again when things are
/// like this.
fn idea(life: &Life, features: &Features) -> Heuristic {
    let mut dice = Dice::of(life);
    let mut domain = dice.below(life.birth().world.domains.len());
    // Rather where it serves its owner, if that was said.
    if !life.constitution().stress.objectives.is_empty() && !stress::serves(life, domain as u8) {
        domain = dice.below(life.birth().world.domains.len());
    }
    // Not where looking has been futile, if there is anywhere else.
    if stress::enforced(life) && life.stress().find(Kind::Futility, Some(domain as u8)).is_some() {
        domain = dice.below(life.birth().world.domains.len());
    }
    domain = preferred(life, &mut dice).unwrap_or(domain);
    // Where more goes out than comes in, about what could pay.
    if economic::seeks_revenue(life) {
        domain = fragments::paying(life, &mut dice).unwrap_or(domain);
    }
    let mut condition = Condition::default();
    for _ in 0..=dice.below(2) {
        let feature = dice.below(features.len());
        let known = condition.0.iter().any(|comparison| usize::from(comparison.feature) == feature);
        if !known {
            let is = if dice.below(2) == 0 { Is::Above } else { Is::Below };
            // A little to the near side, so that it holds now.
            let slack = features[feature].abs() * 0.1;
            let than = if is == Is::Above { features[feature] - slack } else { features[feature] + slack };
            condition.0.push(Comparison { feature: feature as u8, is, than: rounded(than, 3) });
        }
    }
    let kind = life.birth().world.domains[domain].kind;
    let id = life.heuristics_made() + 1;
    let idea = Heuristic::new(id, condition, domain as u8, kind, Stance::Watch, Provenance::Explored, life.tick());
    fragments::venture(life, idea, features, &mut dice)
}

/// One of the domains its owner prefers, if any were named.
fn preferred(life: &Life, dice: &mut Dice) -> Option<usize> {
    let strategy = &life.constitution().strategy;
    if strategy.domains.is_empty() {
        return None;
    }
    let domains = life.birth().world.domains.iter().enumerate();
    let named: Vec<usize> = domains.filter(|(_, spec)| strategy.prefers(&spec.name)).map(|(at, _)| at).collect();
    named.get(dice.below(named.len())).copied()
}

/// The hypotheses whose condition holds, one bit each.
pub(crate) fn holding(life: &Life, features: &Features) -> u16 {
    let bits = life.dreams().staged.iter().enumerate();
    bits.fold(0, |bits, (at, staged)| bits | u16::from(staged.heuristic.condition.holds(features)) << at)
}
