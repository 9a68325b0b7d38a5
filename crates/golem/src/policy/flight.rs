//! An ask on its way: intended, previewed, permitted, committed, settled; each stage is an event, and what is
//! owed next can always be read from Life. An answer always settles money; only a fresh one settles behaviour.
//!
//! A permit is minted by a preview that the cage lets through. It is bound to the hashes of that preview and of
//! the policy it was held against, counts once, and runs out. Before anything is sent it is looked at again.

use serde::{Deserialize, Serialize};

use super::{Refusal, approval, caution, gate};
use crate::constitution::PolicyFigures;
use crate::draft::Draft;
use crate::event::Event;
use crate::goal::{Ended, Goal};
use crate::life::Life;
use crate::money::Usdc;
use crate::mortality::economic::Partition;
use crate::rule::vote;
use crate::time::{Span, Time};
use crate::world::{Effect, Fate, Order, Outcome, Quote};

/// Intervals an ask may take.
const PATIENCE: u64 = 4;

/// An ask under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flight {
    pub key: u64,
    pub action: u8,
    /// Millionths of a unit, always positive: the action says which way.
    pub units: i64,
    pub reserved: Usdc,
    /// Set aside from what it lives on, to send it.
    pub gas: Usdc,
    /// The least that must come in, where it gives something up.
    pub least: Usdc,
    pub stage: Stage,
    pub epoch: u32,
    pub deadline: Time,
    pub quote: Option<Quote>,
    /// Protective, part of a stop or of dying: passes every gate but the world's.
    pub closing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The world is asked what it would do.
    Asked,
    /// It may be sent, and may have been.
    Permitted,
    /// Its owner is asked first.
    Waiting,
    /// Its owner has said yes; it is previewed once more before it may be sent.
    Approved,
    /// The world has it and does not know yet what becomes of it.
    Sent,
}

pub type Hash = [u8; 16];

/// What a flight may be sent by, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permit {
    pub key: u64,
    pub preview: Hash,
    pub policy: Hash,
    pub expires: Time,
    /// The most that sending it may cost, set aside.
    pub gas: Usdc,
    /// The least that must come in, where something is given up.
    pub least: Usdc,
}

/// Why exposure is being taken up: what the vote knew when it was intended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    pub key: u64,
    pub domain: u8,
    pub gain: f64,
    pub lower: f64,
}

/// Exposure taken up, until when it is held before it is reconsidered, and from which result it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    pub until: Time,
    pub domain: u8,
    pub result: Usdc,
}

impl Flight {
    /// Nothing of it can have reached the world.
    pub fn is_unsent(&self) -> bool {
        !matches!(self.stage, Stage::Permitted | Stage::Sent)
    }

    /// Somebody outside has it and may take their time; the heartbeat goes on meanwhile.
    pub fn is_beside(&self) -> bool {
        matches!(self.stage, Stage::Waiting | Stage::Sent)
    }

    /// Which look at it is asked for: the second comes after its owner's word, and is another than the first.
    pub fn look(&self) -> u8 {
        u8::from(self.stage == Stage::Approved)
    }

    /// What the world is told to do, and within which bounds.
    pub fn order(&self, life: &Life) -> Order {
        let gas = (self.gas - life.constitution().economic.per_action).max(Usdc::ZERO);
        let Flight { action, units, reserved: most, least, deadline: until, .. } = *self;
        Order { action, units, most, least, gas, until }
    }

    pub(crate) fn effect(&self, life: &Life) -> Effect {
        life.birth.world.actions[usize::from(self.action)].effect
    }
}

pub fn policy_hash(policy: &PolicyFigures) -> Hash {
    short(&serde_json::to_vec(policy).expect("plain data"))
}

/// Of a preview and of what it was asked for: another ask with the same answer is another preview.
pub fn preview_hash(flight: &Flight, quote: &Quote) -> Hash {
    let ask = (flight.key, flight.action, flight.units, flight.reserved, quote);
    short(&serde_json::to_vec(&ask).expect("plain data"))
}

fn short(bytes: &[u8]) -> Hash {
    blake3::hash(bytes).as_bytes()[..16].try_into().expect("sixteen of thirty-two")
}

pub(super) fn intend(draft: &mut Draft<'_>, action: u8, units: i64, reserved: Usdc, closing: bool) {
    let flight = Flight {
        key: draft.flights_made + 1,
        action,
        units,
        reserved,
        gas: Usdc::ZERO,
        least: Usdc::ZERO,
        stage: Stage::Asked,
        epoch: draft.heartbeat.epoch,
        deadline: draft.at() + patience(draft),
        quote: None,
        closing,
    };
    draft.emit(Event::Intended(Box::new(flight)));
}

pub(super) fn patience(life: &Life) -> Span {
    life.constitution().interval.times(PATIENCE)
}

/// Gives up everything held, whatever else is going on: stops and dying.
pub(crate) fn close_all(draft: &mut Draft<'_>) {
    if let Some(action) = draft.birth.world.action(Effect::Reduces) {
        let units = draft.capital.holding;
        intend(draft, action, units, Usdc::ZERO, true);
    }
}

/// A preview has come back: a permit if the cage lets it through, or the name of the rule that does not. One of an
/// earlier look is nobody's any more.
pub(crate) fn previewed(draft: &mut Draft<'_>, key: u64, look: u8, quote: Option<Quote>) {
    let asked = |f: &Flight| matches!(f.stage, Stage::Asked | Stage::Approved) && f.look() == look;
    let previewed = |f: &&Flight| f.key == key && asked(f);
    let Some(flight) = draft.flights.iter().find(previewed).cloned() else { return };
    let cost = quote.and_then(|quote| one_way(draft, &flight, &quote));
    match verdict(draft, draft.at(), &flight, quote, cost) {
        Ok(quote) if approval::is_needed(draft, &flight) => approval::seek(draft, key, quote),
        Ok(quote) => {
            let permit = Permit {
                key,
                preview: preview_hash(&flight, &quote),
                policy: policy_hash(&draft.policy),
                expires: draft.at() + patience(draft),
                gas: gas_most(draft, &quote),
                least: least(draft, &flight, &quote),
            };
            draft.emit(Event::Granted { permit: Box::new(permit), quote, cost: cost.unwrap_or(0.0) });
        }
        Err(rule) => {
            draft.emit(Event::Denied { key, rule, cost });
            // What its owner, its phase or its load forbade meanwhile is no failure of what was tried.
            if matches!(rule, Refusal::World | Refusal::NoEdge | Refusal::Funds | Refusal::Bounds) {
                fail(draft, &flight);
            }
            crate::heartbeat::rest(draft);
        }
    }
}

fn verdict(life: &Life, at: Time, flight: &Flight, quote: Option<Quote>, cost: Option<f64>) -> Result<Quote, Refusal> {
    let quote = quote.ok_or(Refusal::World)?;
    if flight.closing {
        return Ok(quote);
    }
    gate(life, flight.effect(life))?;
    if flight.epoch != life.heartbeat.epoch || flight.deadline < at {
        return Err(Refusal::Stale);
    }
    if flight.effect(life) == Effect::Reduces {
        return Ok(quote);
    }
    if grown_careful(life, flight) {
        return Err(Refusal::Stale);
    }
    if quote.fee - quote.cash > flight.reserved {
        return Err(Refusal::Funds);
    }
    if gas_of(life, &quote) > life.purse.budget(life, Partition::Gas).min(life.purse.allowance(life)) {
        return Err(Refusal::Gas);
    }
    if flight.stage == Stage::Approved {
        approval::still_fits(life, at, flight)?;
    }
    match life.intent.filter(|intent| intent.key == flight.key) {
        Some(intent) => {
            let cost = cost.ok_or(Refusal::Bounds)?;
            let round_trip = 2.0 * (cost + life.execution.shortfall.max(0.0));
            // An owner takes their time, and the vote may have turned.
            let turned = flight.stage == Stage::Approved && vote::evidence(life).is_none_or(|e| e.lower <= round_trip);
            if intent.lower > round_trip && !turned { Ok(quote) } else { Err(Refusal::NoEdge) }
        }
        None => Ok(quote),
    }
}

/// What sending it is expected to cost: what the world asks, and what acting costs anyway.
fn gas_of(life: &Life, quote: &Quote) -> Usdc {
    life.constitution().economic.per_action + quote.gas
}

/// What is set aside for sending it: no more than there is.
fn gas_most(life: &Life, quote: &Quote) -> Usdc {
    gas_of(life, quote).min(life.purse.gas_at_most(life))
}

/// Whoever gives something up is not to be had cheaply while the order is on its way.
fn least(life: &Life, flight: &Flight, quote: &Quote) -> Usdc {
    match flight.effect(life) {
        Effect::Adds => Usdc::ZERO,
        Effect::Reduces => {
            let left = i64::from(10_000_u32.saturating_sub(life.policy.slippage_bps));
            (quote.cash - quote.fee).max(Usdc::ZERO).share(left, 10_000)
        }
    }
}

/// There is reason by now to take on less than was asked for.
pub(super) fn grown_careful(life: &Life, flight: &Flight) -> bool {
    let asked = life.stress.cautioned.filter(|(key, _)| *key == flight.key).map_or(100, |(_, percent)| percent);
    let domain = life.intent.filter(|intent| intent.key == flight.key).map(|intent| intent.domain);
    flight.effect(life) == Effect::Adds && caution(life, domain) < i64::from(asked)
}

/// What one way of a flight costs by its preview, as a share of what it moves.
fn one_way(life: &Life, flight: &Flight, quote: &Quote) -> Option<f64> {
    let worth = life.seen.unit.as_f64() * flight.units as f64 / 1e6;
    let lost = match flight.effect(life) {
        Effect::Adds => quote.fee.as_f64() - quote.cash.as_f64() - worth,
        Effect::Reduces => worth - quote.cash.as_f64() + quote.fee.as_f64(),
    };
    (worth > 0.0).then(|| ((lost + quote.gas.as_f64()) / worth).clamp(0.0, 1.0))
}

/// Whether a permit may still be used, looked at just before anything is sent.
pub fn still_permitted(life: &Life, flight: &Flight) -> Result<(), Refusal> {
    let Some(permit) = life.permits.iter().find(|permit| permit.key == flight.key) else { return Err(Refusal::Stale) };
    let same = flight.quote.is_some_and(|quote| preview_hash(flight, &quote) == permit.preview);
    if !same || life.now > permit.expires {
        return Err(Refusal::Stale);
    }
    if flight.closing {
        return Ok(());
    }
    if flight.epoch != life.heartbeat.epoch || permit.policy != policy_hash(&life.policy) {
        return Err(Refusal::Stale);
    }
    if grown_careful(life, flight) {
        return Err(Refusal::Stale);
    }
    gate(life, flight.effect(life))
}

/// What the world says became of a commit.
pub(crate) fn landed(draft: &mut Draft<'_>, key: u64, fate: Fate) {
    let Some(flight) = draft.flights.iter().find(|f| f.key == key).cloned() else { return };
    match fate {
        Fate::Done(outcome) => settled(draft, &flight, outcome),
        Fate::Never => {
            let meant = flight.closing || flight.stage == Stage::Sent || still_permitted(draft, &flight).is_ok();
            draft.emit(Event::Abandoned { key });
            if meant {
                fail(draft, &flight);
            }
        }
        Fate::Pending if flight.stage == Stage::Permitted => draft.emit(Event::Sent { key }),
        Fate::Pending => {}
    }
    crate::heartbeat::rest(draft);
}

fn settled(draft: &mut Draft<'_>, flight: &Flight, outcome: Outcome) {
    let held = draft.held;
    draft.emit(Event::Settled { key: flight.key, outcome });
    let gas = (draft.constitution().economic.per_action + outcome.gas).min(flight.gas);
    // A part of what was asked for is held against the same part of its preview.
    let quoted = flight.quote.map_or(outcome.cash, |quote| quote.cash.share(outcome.units.abs(), flight.units));
    draft.emit(Event::Verified { key: flight.key, quoted, actual: outcome.cash, gas });
    let closed = held.filter(|_| draft.capital.holding == 0);
    if flight.effect(draft) == Effect::Reduces {
        let domain = held.map_or(0, |held| held.domain);
        draft.emit(Event::Finished { goal: Goal::Maintain, domain, ended: Ended::Effective });
    }
    if let Some(held) = closed {
        let ended = if draft.capital.result() > held.result { Ended::Effective } else { Ended::Failed };
        draft.emit(Event::Finished { goal: Goal::Act, domain: held.domain, ended });
        if let Some(domain) = draft.stress.heeding {
            draft.emit(Event::Heeded { domain, helped: ended == Ended::Failed });
        }
        let amount = draft.capital.harvest(draft.constitution().economic.harvest_bps);
        if amount.is_positive() && !draft.is_dead() {
            draft.emit(Event::Harvested { amount });
        }
    }
}

/// An ask that came to nothing is a goal that failed.
fn fail(draft: &mut Draft<'_>, flight: &Flight) {
    let (goal, domain) = match flight.effect(draft) {
        Effect::Adds => (Goal::Act, draft.intent.map_or(0, |intent| intent.domain)),
        Effect::Reduces => (Goal::Maintain, draft.held.map_or(0, |held| held.domain)),
    };
    draft.emit(Event::Finished { goal, domain, ended: Ended::Failed });
}
