//! The rule mind at work: who has a say now, what they expect together, and what to try next.

use super::text;
use super::{Comparison, Condition, Heuristic, Is, Provenance, Stance, learning, rounded};
use crate::draft::Draft;
use crate::dream::staging;
use crate::event::Event;
use crate::goal::{Ended, Goal};
use crate::life::{Birth, Life};
use crate::limits;
use crate::stress::{self, Kind};
use crate::world::{Bar, DomainKind, Features};

/// A heuristic on trial is not judged before this many claims.
const TRIAL: f64 = 30.0;

/// One claim in every domain, by everyone whose condition holds.
pub(crate) fn think(draft: &mut Draft<'_>, bar: &Bar) {
    let awake = awake(draft, &bar.features);
    let holds = staging::holding(draft, &bar.features);
    if holds != 0 {
        draft.emit(Event::Wondered { holds });
    }
    for (domain, &fired) in awake.iter().enumerate().take(draft.birth.world.domains.len()) {
        if draft.open[domain].len() >= limits::OPEN {
            continue;
        }
        let spec = &draft.birth.world.domains[domain];
        let (kind, scale) = (spec.kind, spec.scale);
        let naive = naive(draft, domain, kind, scale, &bar.features);
        let voices = slots(fired).map(|slot| &draft.playbook[slot]);
        let together = learning::together(kind, naive, voices, draft.laws());
        let value = if kind == DomainKind::Direction { together.clamp(0.01, 0.99) } else { together };
        draft.emit(Event::Predicted { domain: domain as u8, value, naive, fired });
    }
    explore(draft, &bar.features);
}

/// The slots whose condition holds, one mask per domain.
fn awake(life: &Life, features: &Features) -> [u64; limits::DOMAINS] {
    let mut masks = [0; limits::DOMAINS];
    for (slot, heuristic) in life.playbook.iter().enumerate() {
        let holds = heuristic.condition.holds(features);
        masks[usize::from(heuristic.domain)] |= u64::from(holds) << slot;
    }
    masks
}

pub(super) fn slots(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let slot = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(slot)
    })
}

/// What someone would say who knows nothing but the last value and what is usual.
fn naive(life: &Life, domain: usize, kind: DomainKind, scale: Option<u8>, features: &Features) -> f64 {
    let last = life.seen.values[domain];
    match kind {
        DomainKind::Value => last,
        DomainKind::Direction => life.seen.rises[domain],
        DomainKind::Range => {
            let share = scale.and_then(|at| features.get(usize::from(at))).copied().unwrap_or(0.0);
            (last * share).abs()
        }
    }
}

/// Now and then a new idea takes a free slot, or that of an idea on trial that came to nothing.
fn explore(draft: &mut Draft<'_>, features: &Features) {
    let mind = &draft.constitution().mind;
    let every = u64::from(mind.explore_every);
    if every == 0 || !draft.learns() || features.is_empty() || draft.tick % every != every - 1 {
        return;
    }
    judge(draft);
    if !stress::allowed(draft).explore {
        return;
    }
    let Some(slot) = free_slot(draft) else { return };
    let heuristic = idea(draft, features);
    draft.emit(Event::Adopted { slot: slot as u8, heuristic: Box::new(heuristic) });
}

/// Ideas whose trial is over: what came of them.
fn judge(draft: &mut Draft<'_>) {
    for slot in 0..draft.playbook.len() {
        let heuristic = &draft.playbook[slot];
        if heuristic.provenance != Provenance::Instinct && !heuristic.judged && heuristic.weight >= TRIAL {
            let (skill, echo) = (heuristic.skill(), draft.laws().echo);
            let ended = match skill {
                better if better > echo => Ended::Effective,
                worse if worse < -echo => Ended::Failed,
                _ => Ended::Done,
            };
            let domain = heuristic.domain;
            let sure = heuristic.skill() - draft.laws().luck / (heuristic.weight + 1.0).sqrt();
            let promoted = !heuristic.voice && sure > 0.0;
            draft.emit(Event::Judged { slot: slot as u8 });
            if promoted {
                draft.emit(Event::Promoted { slot: slot as u8 });
            }
            draft.emit(Event::Finished { goal: Goal::Explore, domain, ended });
        }
    }
}

pub(crate) fn free_slot(life: &Life) -> Option<usize> {
    if life.playbook.len() < limits::HEURISTICS {
        return Some(life.playbook.len());
    }
    let failed =
        |h: &Heuristic| h.provenance != Provenance::Instinct && h.weight >= TRIAL && (h.skill() <= 0.0 || !h.voice);
    let candidates = life.playbook.iter().enumerate().filter(|(_, heuristic)| failed(heuristic));
    candidates.min_by(|(_, a), (_, b)| a.skill().total_cmp(&b.skill())).map(|(slot, _)| slot)
}

/// One or two features on the side of where they stand now: it will hold again when things are like this.
fn idea(life: &Life, features: &Features) -> Heuristic {
    let mut dice = Dice::of(life);
    let mut domain = dice.below(life.birth.world.domains.len());
    // Rather where it serves its owner, if that was said.
    if !life.constitution().stress.objectives.is_empty() && !stress::serves(life, domain as u8) {
        domain = dice.below(life.birth.world.domains.len());
    }
    // Not where looking has been futile, if there is anywhere else.
    if stress::enforced(life) && life.stress.find(Kind::Futility, Some(domain as u8)).is_some() {
        domain = dice.below(life.birth.world.domains.len());
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
    let kind = life.birth.world.domains[domain].kind;
    let id = life.heuristics_made + 1;
    Heuristic::new(id, condition, domain as u8, kind, Stance::Watch, Provenance::Explored, life.tick)
}

/// The heuristics a golem is born with. A world that offers one that cannot be read has a bug; it is left
/// out, and the conformance suite says so.
pub(crate) fn instincts(birth: &Birth) -> Vec<Event> {
    let world = &birth.world;
    let read = world.instincts.iter().filter_map(|text| text::parse(text, world).ok()).take(limits::HEURISTICS);
    read.enumerate()
        .map(|(slot, parsed)| {
            let kind = world.domains[usize::from(parsed.domain)].kind;
            let id = slot as u64 + 1;
            let mut heuristic =
                Heuristic::new(id, parsed.condition, parsed.domain, kind, parsed.stance, Provenance::Instinct, 0);
            heuristic.effect = parsed.effect;
            Event::Adopted { slot: slot as u8, heuristic: Box::new(heuristic) }
        })
        .collect()
}

/// Chance for ideas: a pure function of who and when; nothing secret hangs on it.
pub(crate) struct Dice(u64);

impl Dice {
    fn of(life: &Life) -> Dice {
        let id = u64::from_le_bytes(life.birth.id.0[8..].try_into().expect("eight of sixteen bytes"));
        Dice(id ^ life.tick.rotate_left(17))
    }

    /// For the same night the same, and another for every purpose.
    pub(crate) fn of_night(life: &Life, purpose: u64) -> Dice {
        let night = life.dreams.night.as_ref().map_or(0, |night| night.number);
        Dice(Dice::of(life).0 ^ night.rotate_left(33) ^ purpose.rotate_left(7))
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }
}
