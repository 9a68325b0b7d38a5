//! Where fragments come from: an idea gets a way out and a size of its own, and half of them begin where something known
//! has paid.

use life::goal::{self, Ended, Goal};
use life::mortality::economic;
use life::rule::{
    self, Comparison, Event, Fragment, Heuristic, Is, Stance, WHOLE, room_for_fragments, rounded, surely_costs,
    surely_pays,
};
use life::world::{DomainKind, Effect, Features};
use life::{Draft, Life};

use super::Dice;

/// Shares of the allowed size that are tried.
const SHARES: [u16; 3] = [WHOLE, WHOLE, WHOLE / 2];
/// Shares of the usual holding time, as one in so many.
const PARTS: [u64; 3] = [1, 2, 4];
/// Gains and losses that end one, as multiples of how far things have moved of late.
const MOVES: [f64; 3] = [1.0, 2.0, 4.0];
/// The smallest move that a way out is made of, in basis points.
const SMALLEST: f64 = 5.0;

/// The idea as a fragment, where taking up exposure could pay: every other time, and always where revenue is sought.
pub(super) fn venture(life: &Life, idea: Heuristic, features: &Features, dice: &mut Dice) -> Heuristic {
    if room_for_fragments(life) == 0 || !pays(life, idea.domain) {
        return idea;
    }
    if dice.below(2) == 0 && !economic::seeks_revenue(life) {
        return idea;
    }
    let known: Vec<&Heuristic> = life.playbook().iter().filter(|h| has_paid(life, h)).collect();
    let (condition, domain) = match known.get(dice.below(2 * known.len())) {
        Some(known) => (known.condition.clone(), known.domain),
        None => (idea.condition.clone(), idea.domain),
    };
    let stance = Stance::Fragment(way_out(life, features, dice));
    let same = |h: &Heuristic| h.stance == stance && h.condition.same(&condition);
    if life.playbook().iter().any(same) {
        return idea;
    }
    // It has a say by what it pays, and none in claims.
    Heuristic { condition, domain, stance, voice: false, ..idea }
}

/// One of the domains in which taking up exposure could pay, if there are any.
pub(super) fn paying(life: &Life, dice: &mut Dice) -> Option<usize> {
    let all = life.birth().world.domains.iter().enumerate();
    let wanted = all.filter(|(at, spec)| pays(life, *at as u8) && life.constitution().strategy.prefers(&spec.name));
    let domains: Vec<usize> = wanted.map(|(at, _)| at).collect();
    domains.get(dice.below(domains.len())).copied()
}

/// Whether taking up exposure could pay by what is expected of a domain: it says which way things go, or a rule has
/// a side in it.
fn pays(life: &Life, domain: u8) -> bool {
    let world = &life.birth().world;
    let sided = |h: &Heuristic| h.domain == domain && h.stance.adds();
    let directed = world.domains[usize::from(domain)].kind == DomainKind::Direction;
    world.action(Effect::Adds).is_some() && (directed || life.playbook().iter().any(sided))
}

/// Whether holding has paid more than it costs while a rule's condition held, as far as is known.
fn has_paid(life: &Life, heuristic: &Heuristic) -> bool {
    let enough = f64::from(life.constitution().mind.samples);
    heuristic.paid.samples >= enough
        && heuristic.paid.mean() > life.execution().round_trip()
        && heuristic.blend.is_none()
        && pays(life, heuristic.domain)
        && life.constitution().strategy.prefers(&life.birth().world.domains[usize::from(heuristic.domain)].name)
}

/// A way out: a time always, and a turn of a feature or a gain and a loss besides, or neither.
fn way_out(life: &Life, features: &Features, dice: &mut Dice) -> Fragment {
    let bar = life.birth().world.bar.as_millis().max(1);
    let usual = rule::holding(life).as_millis() / bar;
    let bars = u32::try_from(usual / PARTS[dice.below(PARTS.len())]).unwrap_or(u32::MAX).max(1);
    let mut fragment =
        Fragment { share: SHARES[dice.below(SHARES.len())], until: None, up: None, down: None, bars: Some(bars) };
    let usual = moves(life);
    match dice.below(3) {
        0 => {
            let feature = dice.below(features.len());
            let is = if features[feature] > 0.0 { Is::Below } else { Is::Above };
            // Half way to nothing, so that it does not hold now.
            let than = rounded(features[feature] / 2.0, 3);
            fragment.until = (than != 0.0).then_some(Comparison { feature: feature as u8, is, than });
        }
        1 if usual >= SMALLEST => {
            let times = |at: usize| Some(rounded(usual * MOVES[at], 2) as u32);
            (fragment.up, fragment.down) = (times(dice.below(MOVES.len())), times(dice.below(MOVES.len())));
        }
        _ => {}
    }
    fragment
}

/// How far the worth of a unit has usually moved from where the looks that are being followed began, in basis points.
fn moves(life: &Life) -> f64 {
    let unit = life.seen().unit;
    let moved = life.stakes().iter().map(|stake| unit.change_from(stake.unit).abs()).sum::<f64>();
    (moved / life.stakes().len().max(1) as f64 * 10_000.0).min(10_000.0)
}

/// Ends the trial of a fragment, which is about what it pays.
pub(super) fn judge(draft: &mut Draft<'_>, slot: usize) {
    let heuristic = &draft.playbook()[slot];
    let ended = match heuristic {
        paying if surely_pays(draft, paying) => Ended::Effective,
        // One that only has not shown anything is no failure: most ideas come to nothing.
        losing if surely_costs(draft, losing) => Ended::Failed,
        _ => Ended::Done,
    };
    let domain = heuristic.domain;
    draft.emit(Event::Judged { slot: slot as u8 });
    draft.emit(goal::Event::Finished { goal: Goal::Explore, domain, ended });
}
