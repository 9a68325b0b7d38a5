//! Acting inside a policy: what a golem may take on, with which money, and who says no by which rule.
//!
//! Whoever proposes, the mind of rules, a reflex or one day a model, says only which action and how large a
//! share. Everything else is worked out here, from what Life knows. What no rule allows is refused; giving up
//! exposure is open to everyone alive.

mod approval;
mod capital;
mod flight;
mod guard;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::constitution::{MindKind, OnDeath};
use crate::draft::Draft;
use crate::dream::Blocked;
use crate::event::Event;
use crate::heartbeat::State;
use crate::laws::Laws;
use crate::life::Life;
use crate::money::Usdc;
use crate::mortality::economic::Partition;
use crate::mortality::epistemic::Domain;
use crate::mortality::phase::Phase;
use crate::rule::vote::{self, Evidence};
use crate::stress::{self, Band};
use crate::time::{Span, Time};
use crate::world::Effect;

pub use approval::{Ask, asks};
pub(crate) use approval::{approve, lapse};
pub use capital::Capital;
pub use flight::{Flight, Hash, Held, Intent, Permit, Stage, policy_hash, preview_hash, still_permitted};
pub(crate) use flight::{close_all, landed, previewed};
pub(crate) use guard::{answer, listen};

/// Ticks before a refusal by the same rule is told again.
const TELL_AGAIN: u64 = 50;

/// What is proposed: an action the world declares, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    pub action: u8,
    /// A share of capital to commit, or of what is held to give up.
    pub size: f64,
}

/// Why something was refused, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    Dead,
    Frozen,
    Phase(Phase),
    Busy,
    Funds,
    Reserve,
    Bounds,
    Paused,
    Dreaming,
    Allow,
    PerAction,
    PerDay,
    ActionsPerDay,
    Gas,
    Unproven,
    HitRate,
    NoEdge,
    Stale,
    World,
    /// The load of stressors closes it.
    Load(Band),
    /// No night can begin.
    Dream(Blocked),
    /// Its owner said no.
    Unapproved,
    /// Its owner was asked and said nothing.
    Unanswered,
    /// The world has no such action.
    Unknown,
    /// More was to be taken than there is.
    Short,
}

/// What has been learned of how the world carries things out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// Claims of what an action will come to, against taking its preview at its word.
    pub domain: Domain,
    /// How much worse than previewed it came out, as a share, on average.
    pub shortfall: f64,
    /// What one way costs by the newest preview, as a share.
    pub cost: f64,
    /// Everything lost on the way beyond fees so far, in micro-USDC: spread and falling short.
    pub slipped: f64,
}

impl Execution {
    /// What going in and out again costs, as a share; nothing before anything is known of it.
    pub fn round_trip(&self) -> f64 {
        2.0 * self.one_way()
    }

    pub fn one_way(&self) -> f64 {
        self.cost + self.shortfall.max(0.0)
    }

    /// What one way costs by a preview. One that asks for a fortune says nothing about what things cost.
    pub(crate) fn learn_cost(&mut self, cost: f64, laws: &Laws) {
        if cost <= laws.cost_most {
            let first = self.cost == 0.0;
            self.cost = if first { cost } else { self.cost + (cost - self.cost) * laws.cost_share };
        }
    }

    /// What it cost long ago is no reason not to ask again.
    pub(crate) fn fade(&mut self, laws: &Laws) {
        self.cost *= laws.cost_keep;
        self.shortfall *= laws.cost_keep;
    }

    /// An action came out so much worse than its preview.
    pub(crate) fn learn(&mut self, shortfall: f64, memory: f64) {
        self.domain.score((self.shortfall - shortfall).abs(), shortfall.abs(), self.shortfall.abs());
        self.shortfall += (shortfall - self.shortfall) / (self.domain.resolved as f64).min(memory);
    }
}

/// What was done on the present day of the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Day {
    pub number: u64,
    pub actions: u32,
    pub value: Usdc,
}

impl Day {
    pub(crate) fn of(life: &Life, at: Time) -> Day {
        let number = at.as_millis() / Span::DAY.as_millis();
        if life.day.number == number { life.day } else { Day { number, ..Day::default() } }
    }
}

/// The first rule that forbids this kind of action now, if any. Reducing exposure is open to everyone alive.
pub fn gate(life: &Life, effect: Effect) -> Result<(), Refusal> {
    if life.is_dead() {
        return Err(Refusal::Dead);
    }
    if effect == Effect::Reduces {
        return Ok(());
    }
    if life.heartbeat.frozen {
        return Err(Refusal::Frozen);
    }
    if life.heartbeat.paused {
        return Err(Refusal::Paused);
    }
    if life.heartbeat.state == State::Dreaming {
        return Err(Refusal::Dreaming);
    }
    if !life.phase().permits(effect) {
        return Err(Refusal::Phase(life.phase()));
    }
    if !stress::allowed(life).add {
        return Err(Refusal::Load(stress::band(life)));
    }
    Ok(())
}

/// A proposal the cage has let through, in units and money.
struct Order {
    action: u8,
    units: i64,
    reserved: Usdc,
    evidence: Option<Evidence>,
    /// How much of the usual size is left, in per cent.
    caution: i64,
}

/// Takes up a proposal, or refuses it by name.
pub(crate) fn propose(draft: &mut Draft<'_>, proposal: &Proposal) -> Result<(), Refusal> {
    let order = consider(draft, draft.at(), proposal)?;
    if let Some(evidence) = order.evidence {
        let Evidence { gain, lower, domain, voters, .. } = evidence;
        let key = draft.flights_made + 1;
        draft.emit(Event::Voted { key, domain, gain, lower, voters });
        if stress::signals(draft, domain).next().is_some() {
            draft.emit(Event::Warned { key, domain });
        }
    }
    if order.caution < 100 {
        draft.emit(Event::Cautioned { key: draft.flights_made + 1, percent: order.caution as u8 });
    }
    give_way(draft);
    flight::intend(draft, order.action, order.units, order.reserved, false);
    Ok(())
}

/// Whatever has not been sent yet makes room, unless it is there to protect. What has been must land first.
pub(crate) fn give_way(draft: &mut Draft<'_>) {
    let unsent = draft.flights.iter().filter(|flight| flight.is_unsent() && !flight.closing);
    for key in unsent.map(|flight| flight.key).collect::<Vec<_>>() {
        draft.emit(Event::Abandoned { key });
    }
}

fn consider(life: &Life, at: Time, proposal: &Proposal) -> Result<Order, Refusal> {
    let Proposal { action, size } = *proposal;
    let spec = life.birth.world.actions.get(usize::from(action)).ok_or(Refusal::Unknown)?;
    gate(life, spec.effect)?;
    if !(size > 0.0 && size <= 1.0) {
        return Err(Refusal::Bounds);
    }
    // What waits for its owner's word keeps nobody from giving something up.
    let waits = |flight: &Flight| spec.effect == Effect::Reduces && flight.stage == Stage::Waiting;
    if !life.flights.iter().all(waits) {
        return Err(Refusal::Busy);
    }
    match spec.effect {
        Effect::Reduces => {
            let part = ((life.capital.holding as f64 * size) as i64).clamp(0, life.capital.holding);
            let units = if size == 1.0 { life.capital.holding } else { whole_lots(part, life) };
            if units == 0 {
                Err(Refusal::Funds)
            } else {
                Ok(Order { action, units, reserved: Usdc::ZERO, evidence: None, caution: 100 })
            }
        }
        Effect::Adds => {
            let allowed = life.policy.allow.as_ref().is_none_or(|names| names.contains(&spec.name));
            if !allowed {
                return Err(Refusal::Allow);
            }
            add(life, at, action, size)
        }
    }
}

/// Everything the cage has to say about new exposure.
fn add(life: &Life, at: Time, action: u8, size: f64) -> Result<Order, Refusal> {
    let (policy, day) = (&life.policy, Day::of(life, at));
    let bps = size * 10_000.0;
    if bps > f64::from(policy.per_action_bps) {
        return Err(Refusal::PerAction);
    }
    if day.actions >= policy.actions_per_day {
        return Err(Refusal::ActionsPerDay);
    }
    let gas = life.constitution().economic.per_action;
    if life.purse.budget(life, Partition::Gas).min(life.purse.allowance(life)) < gas {
        return Err(Refusal::Gas);
    }
    let evidence = shown(life, bps)?;
    let worth = life.capital.worth(life.seen.unit);
    let caution = caution(life, evidence.as_ref().map(|evidence| evidence.domain));
    let budget = worth.share(bps as i64, 10_000).share(caution, 100);
    if budget > policy.per_action_most {
        return Err(Refusal::PerAction);
    }
    if day.value + budget > policy.per_day_most {
        return Err(Refusal::PerDay);
    }
    if budget > life.capital.cash {
        return Err(Refusal::Funds);
    }
    let units = whole_lots(units_for(budget, life.seen.unit.as_micros()), life);
    if units <= 0 { Err(Refusal::Funds) } else { Ok(Order { action, units, reserved: budget, evidence, caution }) }
}

/// How much of the usual size is left, in per cent: phase, load, mood and warnings each have a say, and the strictest
/// wins.
pub fn caution(life: &Life, domain: Option<u8>) -> i64 {
    let phase = (life.phase().behaviour().risk * 100.0) as i64;
    let warned = domain.map_or(100, |domain| stress::heeded_percent(life, domain));
    phase.min(stress::allowed(life).size_percent).min(life.daimon.mood.size_percent()).min(warned)
}

/// No edge, no action: what holding has paid must be worth its cost even at its lower bound.
fn shown(life: &Life, bps: f64) -> Result<Option<Evidence>, Refusal> {
    if life.constitution().mind.kind == MindKind::Reflex {
        return Ok(None);
    }
    let evidence = vote::evidence(life).ok_or(Refusal::Unproven)?;
    let domain = &life.epistemic.domains[usize::from(evidence.domain)];
    if domain.resolved < u64::from(life.constitution().mind.samples) {
        return Err(Refusal::Unproven);
    }
    if evidence.lower <= life.execution.round_trip() {
        return Err(Refusal::NoEdge);
    }
    if bps > f64::from(cap_bps(evidence.hits)) { Err(Refusal::HitRate) } else { Ok(Some(evidence)) }
}

/// The most to commit by how often it was worth it.
fn cap_bps(hits: f64) -> u32 {
    match hits {
        hits if hits < 0.45 => 200,
        hits if hits < 0.60 => 1_000,
        _ => 2_500,
    }
}

/// As large as everything allows: the record so far, the share and the sum of one action, what is left of the day's.
fn size(life: &Life, at: Time, cap: u32) -> f64 {
    let policy = &life.policy;
    let left = (policy.per_day_most - Day::of(life, at).value).max(Usdc::ZERO).min(policy.per_action_most);
    let worth = life.capital.worth(life.seen.unit).as_f64();
    let share = f64::from(cap.min(policy.per_action_bps)) / 10_000.0;
    // Whole basis points, rounded down, so that what is worked out from them stays within the sum.
    if worth > 0.0 { share.min((left.as_f64() / worth * 10_000.0).floor() / 10_000.0) } else { share }
}

/// As many units as the budget buys with a tenth to spare for costs nobody can foresee.
fn units_for(budget: Usdc, unit: i64) -> i64 {
    if unit <= 0 {
        return 0;
    }
    let units = i128::from(budget.share(9, 10).as_micros()) * 1_000_000 / i128::from(unit);
    i64::try_from(units).unwrap_or(0)
}

/// As many as can be had: the world may not deal in parts.
fn whole_lots(units: i64, life: &Life) -> i64 {
    units - units % life.birth.world.lot.max(1)
}

/// Makes up its mind whether to take up or give up exposure now.
pub(crate) fn decide(draft: &mut Draft<'_>) {
    // What the world would not have, or had no money for, is not asked again at every look.
    let turned_away = |(rule, tick)| matches!(rule, Refusal::World | Refusal::Funds) && draft.tick < tick + TELL_AGAIN;
    let beside = draft.flights.iter().all(Flight::is_beside);
    if !beside || draft.refused.is_some_and(turned_away) {
        return;
    }
    // On the way down what is held is unwound while there is time, if closing it is what death would do.
    if draft.phase() <= Phase::Declining && draft.policy.on_death == OnDeath::Close && draft.capital.holding > 0 {
        give_way(draft);
        return close_all(draft);
    }
    let proposal = match draft.constitution().mind.kind {
        MindKind::Rules => by_vote(draft),
        MindKind::Reflex => by_calendar(draft),
    };
    let Some(proposal) = proposal else { return };
    if let Err(rule) = propose(draft, &proposal) {
        let told = draft.refused.is_some_and(|(last, tick)| last == rule && draft.tick < tick + TELL_AGAIN);
        if !told {
            draft.emit(Event::Refused { rule });
        }
    }
}

/// In when the vote is worth its cost, out when the time is up or the vote has turned.
fn by_vote(draft: &mut Draft<'_>) -> Option<Proposal> {
    let evidence = vote::evidence(draft);
    let one_way = draft.execution.one_way();
    if draft.capital.holding == 0 {
        let evidence = evidence.filter(|evidence| evidence.lower > draft.execution.round_trip())?;
        return adding(draft, draft.at(), cap_bps(evidence.hits));
    }
    let turned = evidence.is_some_and(|evidence| evidence.upper < -one_way);
    let due = draft.held.is_none_or(|held| held.until <= draft.at());
    let keeps = stress::allowed(draft).keep;
    if due && !turned && keeps && evidence.is_some_and(|evidence| evidence.lower > 0.0) {
        draft.emit(Event::Renewed { until: draft.at() + vote::holding(draft) });
        return None;
    }
    let action = draft.birth.world.action(Effect::Reduces)?;
    (turned || due).then_some(Proposal { action, size: 1.0 })
}

/// The reflex's idea of acting: take up exposure, give it up again, in turn.
fn by_calendar(life: &Life) -> Option<Proposal> {
    let every = u64::from(life.constitution().reflex.act_every);
    if every == 0 || life.tick % every != every - 1 {
        return None;
    }
    if life.capital.holding > 0 {
        return Some(Proposal { action: life.birth.world.action(Effect::Reduces)?, size: 1.0 });
    }
    adding(life, life.now, life.policy.per_action_bps)
}

/// New exposure as large as everything allows; none where its owner's rules leave no room for any. Whoever can see
/// that does not ask.
fn adding(life: &Life, at: Time, cap: u32) -> Option<Proposal> {
    let action = life.birth.world.action(Effect::Adds)?;
    let name = &life.birth.world.actions[usize::from(action)].name;
    let allowed = life.policy.allow.as_ref().is_none_or(|names| names.contains(name));
    let size = size(life, at, cap);
    let free = life.flights.is_empty() && !approval::is_tiresome(life);
    (free && allowed && size > 0.0 && Day::of(life, at).actions < life.policy.actions_per_day)
        .then_some(Proposal { action, size })
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Dead => write!(f, "it is dead"),
            Refusal::Frozen => write!(f, "no new exposure while frozen"),
            Refusal::Phase(phase) => write!(f, "no new exposure while {phase}"),
            Refusal::Busy => write!(f, "too much is under way already; try again in a moment"),
            Refusal::Funds => write!(f, "there is not enough to pay for it"),
            Refusal::Reserve => write!(f, "the rest is the reserve for dying and cannot be taken"),
            Refusal::Bounds => write!(f, "the amount is out of bounds"),
            Refusal::Unknown => write!(f, "the world has no such action"),
            Refusal::Short => write!(f, "there is not that much to take"),
            Refusal::Paused => write!(f, "no new exposure while paused"),
            Refusal::Dreaming => write!(f, "no new exposure while dreaming"),
            Refusal::Allow => write!(f, "the action is not on its owner's list (policy.allow)"),
            Refusal::PerAction => {
                write!(f, "larger than one action may be (policy.per_action, policy.per_transaction)")
            }
            Refusal::PerDay => write!(f, "over the limit of a day (policy.per_day)"),
            Refusal::ActionsPerDay => {
                write!(f, "as many actions as a day may have are done (policy.rebalances_per_day)")
            }
            Refusal::Gas => write!(f, "the part of its credit kept for sending actions is used up"),
            Refusal::Unproven => write!(f, "too little has been seen of what it would come to"),
            Refusal::HitRate => write!(f, "larger than its record so far allows"),
            Refusal::NoEdge => write!(f, "no edge left after costs"),
            Refusal::Stale => write!(f, "the permission has run out or what it was given for has changed"),
            Refusal::World => write!(f, "the world would not have it"),
            Refusal::Dream(why) => write!(f, "no dream can begin now: {why}"),
            Refusal::Unapproved => write!(f, "its owner said no"),
            Refusal::Unanswered => write!(f, "its owner was asked and did not answer in time"),
            Refusal::Load(band) => write!(f, "no new exposure while the load of stressors is {band}"),
        }
    }
}
