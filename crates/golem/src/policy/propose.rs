//! Taking up exposure and giving it up: what is worth it, how large, and which rule says no.

use life::constitution::{MindKind, OnDeath};
use life::money::Usdc;
use life::mortality::phase::Phase;
use life::mortality::{Partition, economic};
use life::policy::{Day, Event, Flight, Proposal, Refusal, Stage, TELL_AGAIN, caution, gate, preference};
use life::rule::vote::{self, Evidence};
use life::rule::{self, WHOLE};
use life::time::Time;
use life::world::{Effect, Observation};
use life::{Draft, Life, outside, stress};

use super::sending::intend;
use super::{ask, close_all, give_way};

/// A proposal the cage has let through, in units and money.
struct CagedOrder {
    action: u8,
    units: i64,
    reserved: Usdc,
    evidence: Option<Evidence>,
    /// How much of the usual size it may have, in per cent.
    caution: i64,
}

/// Takes up or refuses a proposal that does not come from the golem's own rules.
pub(crate) fn proposed(draft: &mut Draft<'_>, proposal: &Proposal) {
    if let Err(rule) = propose(draft, proposal) {
        draft.emit(Event::Refused { rule });
    }
}

/// Takes up a proposal, or refuses it by name.
pub(crate) fn propose(draft: &mut Draft<'_>, proposal: &Proposal) -> Result<(), Refusal> {
    let order = consider(draft, draft.at(), proposal)?;
    if let Some(evidence) = order.evidence {
        let Evidence { gain, lower, domain, voters, .. } = evidence;
        let key = draft.flights_made() + 1;
        draft.emit(Event::Voted { key, domain, gain, lower, voters });
        if stress::signals(draft, domain).next().is_some() {
            draft.emit(stress::Event::Warned { key, domain });
        }
    }
    if order.caution < 100 {
        draft.emit(stress::Event::Cautioned { key: draft.flights_made() + 1, percent: order.caution as u8 });
    }
    give_way(draft);
    intend(draft, order.action, order.units, order.reserved, false);
    Ok(())
}

fn consider(life: &Life, at: Time, proposal: &Proposal) -> Result<CagedOrder, Refusal> {
    let Proposal { action, size } = *proposal;
    let spec = life.birth().world.actions.get(usize::from(action)).ok_or(Refusal::Unknown)?;
    gate(life, spec.effect)?;
    if !(size > 0.0 && size <= 1.0) {
        return Err(Refusal::Bounds);
    }
    // An action that waits for its owner's word does not keep the golem from giving something up.
    let waits = |flight: &Flight| spec.effect == Effect::Reduces && flight.stage == Stage::Waiting;
    if !life.flights().iter().all(waits) {
        return Err(Refusal::Busy);
    }
    match spec.effect {
        Effect::Reduces => {
            // A world that sold twice left less than nothing in lives of the first version.
            let whole = life.capital().holding.max(0);
            let part = ((whole as f64 * size) as i64).clamp(0, whole);
            let units = if size == 1.0 { whole } else { whole_lots(part, life) };
            if units == 0 {
                Err(Refusal::Funds)
            } else {
                Ok(CagedOrder { action, units, reserved: Usdc::ZERO, evidence: None, caution: 100 })
            }
        }
        Effect::Adds => {
            let allowed = life.policy().allow.as_ref().is_none_or(|names| names.contains(&spec.name));
            if !allowed {
                return Err(Refusal::Allow);
            }
            add(life, at, action, size, |bps| shown(life, bps))
        }
    }
}

/// Asks for as much new exposure as one action may be, whatever there is to show for it; in a drill, on a copy of a life.
pub(crate) fn take_up(draft: &mut Draft<'_>) {
    let Some(action) = draft.birth().world.action(Effect::Adds) else { return };
    if gate(draft, Effect::Adds).is_err() || !draft.flights().is_empty() {
        return;
    }
    let size = size(draft, draft.at(), u32::MAX);
    if let Ok(order) = add(draft, draft.at(), action, size, |_| Ok(None)) {
        intend(draft, action, order.units, order.reserved, false);
    }
}

/// Holds new exposure to every rule of the cage.
fn add(
    life: &Life,
    at: Time,
    action: u8,
    size: f64,
    shown: impl FnOnce(f64) -> Result<Option<Evidence>, Refusal>,
) -> Result<CagedOrder, Refusal> {
    let (policy, day) = (&life.policy(), Day::of(life, at));
    let bps = size * 10_000.0;
    if bps > f64::from(policy.per_action_bps) {
        return Err(Refusal::PerAction);
    }
    if bps > f64::from(life.constitution().strategy.narrowed(policy.per_action_bps)) {
        return Err(Refusal::Strategy);
    }
    if day.actions >= policy.actions_per_day {
        return Err(Refusal::ActionsPerDay);
    }
    let gas = life.constitution().economic.per_action;
    if economic::budget(life, Partition::Gas).min(economic::allowance(life)) < gas {
        return Err(Refusal::Gas);
    }
    let evidence = shown(bps)?;
    let worth = life.capital().worth(life.seen().unit);
    let caution = caution(life, evidence.as_ref().map(|evidence| evidence.domain));
    let budget = worth.share(bps as i64, 10_000).share(caution, 100);
    if budget > policy.per_action_most {
        return Err(Refusal::PerAction);
    }
    if day.value + budget > policy.per_day_most {
        return Err(Refusal::PerDay);
    }
    if budget > life.capital().cash {
        return Err(Refusal::Funds);
    }
    let units = whole_lots(units_for(budget, life.seen().unit.as_micros()), life);
    if units <= 0 { Err(Refusal::Funds) } else { Ok(CagedOrder { action, units, reserved: budget, evidence, caution }) }
}

/// No edge, no action: what holding has paid must be worth its cost even at its lower bound.
fn shown(life: &Life, bps: f64) -> Result<Option<Evidence>, Refusal> {
    if life.constitution().mind.kind == MindKind::Reflex {
        return Ok(None);
    }
    let evidence = vote::backing(life).ok_or(Refusal::Unproven)?;
    let domain = &life.epistemic().domains[usize::from(evidence.domain)];
    if domain.resolved < u64::from(life.constitution().mind.samples) {
        return Err(Refusal::Unproven);
    }
    if evidence.lower <= life.execution().round_trip() {
        return Err(Refusal::NoEdge);
    }
    if !vote::is_wanted(life, &evidence) {
        return Err(Refusal::Strategy);
    }
    let allowed = allowed_bps(life, &evidence);
    if bps > f64::from(allowed) {
        return Err(Refusal::HitRate);
    }
    if bps > f64::from(life.constitution().strategy.narrowed(allowed)) {
        Err(Refusal::Strategy)
    } else {
        Ok(Some(evidence))
    }
}

/// The most to commit by how often it was worth it.
fn cap_bps(hits: f64) -> u32 {
    match hits {
        hits if hits < 0.45 => 200,
        hits if hits < 0.60 => 1_000,
        _ => 2_500,
    }
}

/// The most to commit on this evidence: a fragment asks for a share of what the cage allows.
fn allowed_bps(life: &Life, evidence: &Evidence) -> u32 {
    let cap = cap_bps(evidence.hits).min(life.policy().per_action_bps);
    let share = evidence.fragment.map_or(WHOLE, |fragment| fragment.share);
    cap * u32::from(share) / u32::from(WHOLE)
}

/// The largest size that everything allows: the record so far, the share and the sum of one action, the rest of the
/// day's.
fn size(life: &Life, at: Time, cap: u32) -> f64 {
    let policy = &life.policy();
    let left = (policy.per_day_most - Day::of(life, at).value).max(Usdc::ZERO).min(policy.per_action_most);
    let worth = life.capital().worth(life.seen().unit).as_f64();
    let narrowed = life.constitution().strategy.narrowed(cap.min(policy.per_action_bps));
    let share = f64::from(narrowed) / 10_000.0;
    // Whole basis points, rounded down, so that what is worked out from them stays within the sum.
    if worth > 0.0 { share.min((left.as_f64() / worth * 10_000.0).floor() / 10_000.0) } else { share }
}

/// As many units as the budget buys with a tenth to spare for unforeseen costs.
fn units_for(budget: Usdc, unit: i64) -> i64 {
    if unit <= 0 {
        return 0;
    }
    let units = i128::from(budget.share(9, 10).as_micros()) * 1_000_000 / i128::from(unit);
    i64::try_from(units).unwrap_or(0)
}

/// Units rounded down to whole lots: the world may not deal in parts.
fn whole_lots(units: i64, life: &Life) -> i64 {
    units - units % life.birth().world.lot.max(1)
}

/// Decides whether to take up or give up exposure now.
pub(crate) fn decide(draft: &mut Draft<'_>) {
    // An action that the world refused, or that money did not reach for, is not asked again at every look.
    let turned_away =
        |(rule, tick)| matches!(rule, Refusal::World | Refusal::Funds) && draft.tick() < tick + TELL_AGAIN;
    let beside = draft.flights().iter().all(Flight::is_beside);
    if !beside || draft.refused().is_some_and(turned_away) {
        return;
    }
    // On the way down what is held is unwound while there is time, if closing it is what death would do.
    if draft.phase() <= Phase::Declining && draft.policy().on_death == OnDeath::Close && draft.capital().holding > 0 {
        give_way(draft);
        // An action that the world has must land first: the same holding cannot be given up twice.
        if draft.flights().is_empty() {
            close_all(draft);
        }
        return;
    }
    let proposal = match draft.constitution().mind.kind {
        MindKind::Rules => by_vote(draft).or_else(|| outside::proposal(draft)),
        MindKind::Reflex => by_calendar(draft).or_else(|| outstayed(draft)),
        MindKind::Outside => outside::proposal(draft).or_else(|| overdue(draft)),
    };
    let Some(proposal) = proposal else { return };
    if let Err(rule) = propose(draft, &proposal) {
        let told = draft.refused().is_some_and(|(last, tick)| last == rule && draft.tick() < tick + TELL_AGAIN);
        if !told {
            draft.emit(Event::Refused { rule });
        }
    }
}

/// Notes whether what its owner would rather avoid holds at the newest bar.
pub(crate) fn look_out(draft: &mut Draft<'_>, observation: &Observation) {
    let strategy = &draft.constitution().strategy;
    if let (Some(avoided), Some(bar)) = (preference::avoided(strategy, &draft.birth().world), observation.bars.last()) {
        let holds = avoided.holds(&bar.features);
        if holds != draft.avoiding() {
            draft.emit(Event::Avoided { holds });
        }
    }
}

/// Goes in when the vote or a fragment is worth its cost; out when the time is up or the vote has turned, and what a
/// fragment has taken up by that fragment's way out.
fn by_vote(draft: &mut Draft<'_>) -> Option<Proposal> {
    if draft.capital().holding <= 0 {
        let evidence = vote::backing(draft).filter(|evidence| evidence.lower > draft.execution().round_trip())?;
        return adding(draft, draft.at(), allowed_bps(draft, &evidence));
    }
    if let Some(exit) = draft.held().and_then(|held| held.exit) {
        return if exit.due { giving_up(draft) } else { overdue(draft) };
    }
    let (evidence, one_way) = (vote::evidence(draft), draft.execution().one_way());
    let turned = evidence.is_some_and(|evidence| evidence.upper < -one_way);
    let due = draft.held().is_none_or(|held| held.until <= draft.at());
    let keeps = stress::allowed(draft).keep && draft.constitution().strategy.hold.is_none();
    if due && !turned && keeps && evidence.is_some_and(|evidence| evidence.lower > 0.0) {
        draft.emit(Event::Renewed { until: draft.at() + rule::holding(draft) });
        return None;
    }
    if turned || due { giving_up(draft) } else { None }
}

/// A proposal to give up all that is held.
fn giving_up(life: &Life) -> Option<Proposal> {
    Some(Proposal { action: life.birth().world.action(Effect::Reduces)?, size: 1.0 })
}

/// A proposal to give up what is held once its time is over, where no voice renews it.
fn overdue(life: &Life) -> Option<Proposal> {
    let due = life.held().is_none_or(|held| held.until <= life.now());
    if life.capital().holding > 0 && due { giving_up(life) } else { None }
}

/// A proposal to give up what has been held for as long as its owner would have it held.
fn outstayed(life: &Life) -> Option<Proposal> {
    life.constitution().strategy.hold.and_then(|_| overdue(life))
}

/// The reflex's idea of acting: take up exposure, give it up again, in turn.
fn by_calendar(life: &Life) -> Option<Proposal> {
    let every = u64::from(life.constitution().reflex.act_every);
    if every == 0 || life.tick() % every != every - 1 {
        return None;
    }
    if life.capital().holding > 0 {
        return giving_up(life);
    }
    adding(life, life.now(), life.policy().per_action_bps)
}

/// A proposal for new exposure as large as everything allows; none where the owner's rules leave no room for any, so
/// that it is not even asked for.
fn adding(life: &Life, at: Time, cap: u32) -> Option<Proposal> {
    let action = life.birth().world.action(Effect::Adds)?;
    let name = &life.birth().world.actions[usize::from(action)].name;
    let allowed = life.policy().allow.as_ref().is_none_or(|names| names.contains(name));
    let size = size(life, at, cap);
    let free = life.flights().is_empty() && !ask::is_tiresome(life);
    (free && allowed && size > 0.0 && Day::of(life, at).actions < life.policy().actions_per_day)
        .then_some(Proposal { action, size })
}
