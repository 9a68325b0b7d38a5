//! An ask on its way: intended, previewed, permitted, committed, settled; each stage is an event, and what is
//! owed next can always be read from Life. An answer always settles money; only a fresh one settles behaviour.
//!
//! A permit is minted by a preview that the cage lets through. It is bound to the hashes of that preview and of
//! the policy it was held against, counts once, and runs out. Before anything is sent it is looked at again.

use serde::{Deserialize, Serialize};

use super::{Rule, approval, caution, gate};
use crate::constitution::PolicyFigures;
use crate::draft::Draft;
use crate::event::Event;
use crate::goal::{Ended, Goal};
use crate::life::Life;
use crate::money::Usdc;
use crate::rule::vote;
use crate::time::{Span, Time};
use crate::world::{Effect, Outcome, Quote};

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
    Asked,
    Permitted,
    /// For its owner's word.
    Waiting,
    /// By its owner; previewed once more before it may be sent.
    Approved,
}

pub type Hash = [u8; 16];

/// What a flight may be sent by, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permit {
    pub key: u64,
    pub preview: Hash,
    pub policy: Hash,
    pub expires: Time,
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
        self.stage != Stage::Permitted
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

/// A preview has come back: a permit if the cage lets it through, or the name of the rule that does not.
pub(crate) fn previewed(draft: &mut Draft<'_>, key: u64, quote: Option<Quote>) {
    let previewed = |f: &&Flight| f.key == key && matches!(f.stage, Stage::Asked | Stage::Approved);
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
            };
            draft.emit(Event::Granted { permit: Box::new(permit), quote, cost: cost.unwrap_or(0.0) });
        }
        Err(rule) => {
            draft.emit(Event::Denied { key, rule, cost });
            // What its owner, its phase or its load forbade meanwhile is no failure of what was tried.
            if matches!(rule, Rule::World | Rule::NoEdge | Rule::Funds | Rule::Bounds) {
                fail(draft, &flight);
            }
            crate::heartbeat::rest(draft);
        }
    }
}

fn verdict(life: &Life, at: Time, flight: &Flight, quote: Option<Quote>, cost: Option<f64>) -> Result<Quote, Rule> {
    let quote = quote.ok_or(Rule::World)?;
    if flight.closing {
        return Ok(quote);
    }
    gate(life, flight.effect(life))?;
    if flight.epoch != life.heartbeat.epoch || flight.deadline < at {
        return Err(Rule::Stale);
    }
    if flight.effect(life) == Effect::Reduces {
        return Ok(quote);
    }
    if grown_careful(life, flight) {
        return Err(Rule::Stale);
    }
    if quote.fee - quote.cash > flight.reserved {
        return Err(Rule::Funds);
    }
    if flight.stage == Stage::Approved {
        approval::still_fits(life, at, flight)?;
    }
    match life.intent.filter(|intent| intent.key == flight.key) {
        Some(intent) => {
            let cost = cost.ok_or(Rule::Bounds)?;
            let round_trip = 2.0 * (cost + life.execution.shortfall.max(0.0));
            // An owner takes their time, and the vote may have turned.
            let turned = flight.stage == Stage::Approved && vote::evidence(life).is_none_or(|e| e.lower <= round_trip);
            if intent.lower > round_trip && !turned { Ok(quote) } else { Err(Rule::NoEdge) }
        }
        None => Ok(quote),
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
    (worth > 0.0).then(|| (lost / worth).clamp(0.0, 1.0))
}

/// Whether a permit may still be used, looked at just before anything is sent.
pub fn still_permitted(life: &Life, flight: &Flight) -> Result<(), Rule> {
    let Some(permit) = life.permits.iter().find(|permit| permit.key == flight.key) else { return Err(Rule::Stale) };
    let same = flight.quote.is_some_and(|quote| preview_hash(flight, &quote) == permit.preview);
    if !same || life.now > permit.expires {
        return Err(Rule::Stale);
    }
    if flight.closing {
        return Ok(());
    }
    if flight.epoch != life.heartbeat.epoch || permit.policy != policy_hash(&life.policy) {
        return Err(Rule::Stale);
    }
    if grown_careful(life, flight) {
        return Err(Rule::Stale);
    }
    gate(life, flight.effect(life))
}

/// What the world says came of a commit: done with this outcome, or never done.
pub(crate) fn landed(draft: &mut Draft<'_>, key: u64, outcome: Option<Outcome>) {
    let Some(flight) = draft.flights.iter().find(|f| f.key == key).cloned() else { return };
    match outcome {
        Some(outcome) => settled(draft, &flight, outcome),
        None => {
            let meant = flight.closing || still_permitted(draft, &flight).is_ok();
            draft.emit(Event::Abandoned { key });
            if meant {
                fail(draft, &flight);
            }
        }
    }
    crate::heartbeat::rest(draft);
}

fn settled(draft: &mut Draft<'_>, flight: &Flight, outcome: Outcome) {
    let held = draft.held;
    draft.emit(Event::Settled { key: flight.key, outcome });
    let gas = draft.purse.gas_for_one(draft);
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
