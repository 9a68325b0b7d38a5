//! Sending an ask, stage by stage: intended, previewed, permitted, committed, settled; each stage is an event, and what
//! is owed next can always be read from Life. An answer always settles money; only a fresh one settles behaviour.
//!
//! A permit is minted by a preview that the cage lets through. It is bound to the hashes of that preview and of the policy
//! it was held against, counts once, and runs out. Before anything is sent it is looked at again.

use life::goal::{self, Ended, Goal};
use life::money::Usdc;
use life::mortality::{Partition, economic};
use life::policy::{
    Event, Flight, Permit, Refusal, Stage, gate, grown_careful, patience, policy_hash, preview_hash, still_permitted,
};
use life::rule::vote;
use life::time::Time;
use life::world::{Effect, Fate, Outcome, Quote};
use life::{Draft, Life, limits, stress};

use super::approval;
use super::ask::{is_needed, still_fits};
use crate::heartbeat::rest;

/// Drops asks that have not been sent yet, unless they are protective. An ask already sent must land first.
pub(crate) fn give_way(draft: &mut Draft<'_>) {
    let unsent = draft.flights().iter().filter(|flight| flight.is_unsent() && !flight.closing);
    for key in unsent.map(|flight| flight.key).collect::<Vec<_>>() {
        draft.emit(Event::Abandoned { key });
    }
    let sent = |flight: &Flight| flight.closing || !flight.is_unsent();
    assert!(draft.flights().iter().all(sent), "an action that was never sent keeps another from its place");
}

pub(super) fn intend(draft: &mut Draft<'_>, action: u8, units: i64, reserved: Usdc, closing: bool) {
    assert!(draft.flights().len() < limits::FLIGHTS, "there is no room for another action");
    let flight = Flight {
        key: draft.flights_made() + 1,
        action,
        units,
        reserved,
        gas: Usdc::ZERO,
        least: Usdc::ZERO,
        stage: Stage::Asked,
        epoch: draft.heartbeat().epoch,
        deadline: draft.at() + patience(draft),
        quote: None,
        closing,
    };
    draft.emit(Event::Intended(Box::new(flight)));
}

/// Gives up everything held, whatever else is going on: stops and dying.
pub(crate) fn close_all(draft: &mut Draft<'_>) {
    if let Some(action) = draft.birth().world.action(Effect::Reduces) {
        let units = draft.capital().holding;
        intend(draft, action, units, Usdc::ZERO, true);
    }
}

/// Takes in a preview: a permit if the cage lets it through, or else the name of the rule that does not. A preview of
/// an earlier look is dropped.
pub(crate) fn previewed(draft: &mut Draft<'_>, key: u64, look: u8, quote: Option<Quote>) {
    let asked = |f: &Flight| matches!(f.stage, Stage::Asked | Stage::Approved) && f.look() == look;
    let previewed = |f: &&Flight| f.key == key && asked(f);
    let Some(flight) = draft.flights().iter().find(previewed).cloned() else { return };
    let cost = quote.and_then(|quote| one_way(draft, &flight, &quote));
    match verdict(draft, draft.at(), &flight, quote, cost) {
        Ok(quote) if is_needed(draft, &flight) => approval::seek(draft, key, quote),
        Ok(quote) => {
            let permit = Permit {
                key,
                preview: preview_hash(&flight, &quote),
                policy: policy_hash(draft.policy()),
                expires: draft.at() + patience(draft),
                gas: gas_most(draft, &quote),
                least: least(draft, &flight, &quote),
            };
            draft.emit(Event::Granted { permit: Box::new(permit), quote, cost: cost.unwrap_or(0.0) });
            let permits = draft.permits().iter().filter(|permit| permit.key == key).count();
            assert!(permits == 1, "an action has one permit, which counts once");
        }
        Err(rule) => {
            draft.emit(Event::Denied { key, rule, cost });
            // An action that the owner, the phase or the load forbade meanwhile has not failed.
            if matches!(rule, Refusal::World | Refusal::NoEdge | Refusal::Funds | Refusal::Bounds) {
                fail(draft, &flight);
            }
            rest(draft);
        }
    }
}

fn verdict(life: &Life, at: Time, flight: &Flight, quote: Option<Quote>, cost: Option<f64>) -> Result<Quote, Refusal> {
    let quote = quote.ok_or(Refusal::World)?;
    if flight.closing {
        return Ok(quote);
    }
    gate(life, flight.effect(life))?;
    if flight.epoch != life.heartbeat().epoch || flight.deadline < at {
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
    if gas_of(life, &quote) > economic::budget(life, Partition::Gas).min(economic::allowance(life)) {
        return Err(Refusal::Gas);
    }
    if flight.stage == Stage::Approved {
        still_fits(life, at, flight)?;
    }
    match life.intent().filter(|intent| intent.key == flight.key) {
        Some(intent) => {
            let cost = cost.ok_or(Refusal::Bounds)?;
            let round_trip = 2.0 * (cost + life.execution().shortfall.max(0.0));
            // An owner takes their time, and the vote may have turned.
            let turned = flight.stage == Stage::Approved && vote::backing(life).is_none_or(|e| e.lower <= round_trip);
            if intent.lower > round_trip && !turned { Ok(quote) } else { Err(Refusal::NoEdge) }
        }
        None => Ok(quote),
    }
}

/// The expected cost of sending an action: what the world asks for it, and what acting costs anyway.
fn gas_of(life: &Life, quote: &Quote) -> Usdc {
    life.constitution().economic.per_action + quote.gas
}

/// The money to set aside for sending an action: no more than there is.
fn gas_most(life: &Life, quote: &Quote) -> Usdc {
    gas_of(life, quote).min(economic::gas_at_most(life))
}

/// The least that must come in for what is given up, so that it does not go cheaply while the order is on its way.
fn least(life: &Life, flight: &Flight, quote: &Quote) -> Usdc {
    match flight.effect(life) {
        Effect::Adds => Usdc::ZERO,
        Effect::Reduces => {
            let left = i64::from(10_000_u32.saturating_sub(life.policy().slippage_bps));
            (quote.cash - quote.fee).max(Usdc::ZERO).share(left, 10_000)
        }
    }
}

/// The cost of one way of a flight by its preview, as a share of what it moves.
fn one_way(life: &Life, flight: &Flight, quote: &Quote) -> Option<f64> {
    let worth = life.seen().unit.as_f64() * flight.units as f64 / 1e6;
    let lost = match flight.effect(life) {
        Effect::Adds => quote.fee.as_f64() - quote.cash.as_f64() - worth,
        Effect::Reduces => worth - quote.cash.as_f64() + quote.fee.as_f64(),
    };
    (worth > 0.0).then(|| ((lost + quote.gas.as_f64()) / worth).clamp(0.0, 1.0))
}

/// Takes in the world's word on what became of a commit.
pub(crate) fn landed(draft: &mut Draft<'_>, key: u64, fate: Fate) {
    let Some(flight) = draft.flights().iter().find(|f| f.key == key).cloned() else { return };
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
    rest(draft);
}

fn settled(draft: &mut Draft<'_>, flight: &Flight, outcome: Outcome) {
    assert!(draft.permits().iter().any(|permit| permit.key == flight.key), "an action was done without a permit");
    let held = draft.held();
    draft.emit(Event::Settled { key: flight.key, outcome });
    let gas = (draft.constitution().economic.per_action + outcome.gas).min(flight.gas);
    assert!(gas >= Usdc::ZERO, "sending an action brings money");
    // An action done in part is compared with the same part of its preview.
    let quoted = flight.quote.map_or(outcome.cash, |quote| quote.cash.share(outcome.units.abs(), flight.units));
    draft.emit(Event::Verified { key: flight.key, quoted, actual: outcome.cash, gas });
    let closed = held.filter(|_| draft.capital().holding == 0);
    if flight.effect(draft) == Effect::Reduces {
        let domain = held.map_or(0, |held| held.domain);
        draft.emit(goal::Event::Finished { goal: Goal::Maintain, domain, ended: Ended::Effective });
    }
    if let Some(held) = closed {
        let ended = if draft.capital().result() > held.result { Ended::Effective } else { Ended::Failed };
        draft.emit(goal::Event::Finished { goal: Goal::Act, domain: held.domain, ended });
        if let Some(domain) = draft.stress().heeding {
            draft.emit(stress::Event::Heeded { domain, helped: ended == Ended::Failed });
        }
        let amount = draft.capital().harvest(draft.constitution().economic.harvest_bps);
        if amount.is_positive() && !draft.is_dead() {
            draft.emit(Event::Harvested { amount });
        }
    }
}

/// Records an ask that came to nothing as a goal that failed.
fn fail(draft: &mut Draft<'_>, flight: &Flight) {
    let (goal, domain) = match flight.effect(draft) {
        Effect::Adds => (Goal::Act, draft.intent().map_or(0, |intent| intent.domain)),
        Effect::Reduces => (Goal::Maintain, draft.held().map_or(0, |held| held.domain)),
    };
    draft.emit(goal::Event::Finished { goal, domain, ended: Ended::Failed });
}
