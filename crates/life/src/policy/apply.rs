//! Applying actions to money and to what is held. It calculates and never decides.

use super::{Day, Event, Flight, Held, Intent, Permit, Stage};
use crate::daimon::{self, Felt};
use crate::life::Life;
use crate::money::Usdc;
use crate::rule::{self, Heuristic, WayOut};
use crate::time::Time;
use crate::world::{Effect, Outcome, Quote};

pub(crate) fn apply(life: &mut Life, at: Time, event: &Event) {
    match event {
        Event::Refused { rule } => {
            life.refused = Some((*rule, life.tick));
            life.stress.ledger.refuse(*rule);
        }
        Event::Voted { key, domain, gain, lower, voters } => {
            // A fragment speaks alone, and no vote counts one.
            let speaker = life.playbook.get(voters.trailing_zeros() as usize);
            let fragment = speaker.and_then(Heuristic::fragment);
            life.intent = Some(Intent { key: *key, domain: *domain, gain: *gain, lower: *lower, fragment });
        }
        Event::Intended(flight) => intend(life, flight),
        Event::ApprovalSought { key, quote, until } => change(life, *key, |flight| {
            (flight.stage, flight.quote, flight.deadline) = (Stage::Waiting, Some(*quote), *until);
        }),
        Event::Approved { key, deadline } => change(life, *key, |flight| {
            (flight.stage, flight.deadline) = (Stage::Approved, *deadline);
        }),
        Event::Granted { permit, quote, cost } => grant(life, at, permit, quote, *cost),
        Event::Denied { key, rule, cost } => {
            abandon(life, *key);
            life.refused = Some((*rule, life.tick));
            let laws = life.laws();
            cost.iter().for_each(|cost| life.execution.learn_cost(*cost, laws));
        }
        Event::Sent { key } => change(life, *key, |flight| flight.stage = Stage::Sent),
        Event::Settled { key, outcome } => settle(life, at, *key, outcome),
        Event::Abandoned { key } => abandon(life, *key),
        Event::Verified { quoted, actual, gas, .. } => {
            let laws = life.laws();
            if *quoted != Usdc::ZERO {
                let shortfall = (*quoted - *actual).as_f64() / quoted.as_f64().abs();
                life.execution.learn(shortfall, laws.execution_memory);
            }
            life.purse.burn_gas(*gas, life.age, laws);
        }
        Event::Renewed { until } => life.held.iter_mut().for_each(|held| held.until = *until),
        Event::Stopped => {
            life.stopped = true;
            let room = life.laws().scars_kept;
            life.knowing.scar(room);
        }
        Event::Avoided { holds } => life.avoiding = *holds,
        Event::Topped { worth } => life.capital.peak = life.capital.peak.max(*worth),
        Event::Harvested { amount } => {
            assert!(amount.is_positive() && *amount <= life.capital.cash, "more is harvested than there is");
            life.capital.rescale_peak(-*amount, life.seen.unit);
            life.capital.shared_up_to = life.capital.result();
            life.capital.cash -= *amount;
            life.capital.harvested += *amount;
            let laws = life.laws();
            life.purse.earn(*amount, life.age, laws);
        }
    }
}

fn change(life: &mut Life, key: u64, change: impl FnOnce(&mut Flight)) {
    if let Some(flight) = life.flights.iter_mut().find(|flight| flight.key == key) {
        change(flight);
    }
}

/// Sets aside the most that an action may cost, before the world is asked.
fn intend(life: &mut Life, flight: &Flight) {
    assert!(flight.key > life.flights_made, "two actions have one key");
    assert!(flight.units > 0, "an action moves nothing");
    assert!((Usdc::ZERO..=life.capital.cash).contains(&flight.reserved), "more is set aside than there is");
    life.flights_made = flight.key;
    life.capital.cash -= flight.reserved;
    life.capital.reserved += flight.reserved;
    if let (true, Some(death)) = (flight.closing, &mut life.death) {
        death.closing_attempts += 1;
    }
    life.flights.push(flight.clone());
    life.stress.ledger.ask();
}

/// Books the outcome of an action: money and holding are what the world says.
fn settle(life: &mut Life, at: Time, key: u64, outcome: &Outcome) {
    assert!(life.flights.iter().any(|flight| flight.key == key && !flight.is_unsent()), "what was never sent was done");
    assert!(outcome.fee >= Usdc::ZERO, "a fee is paid out");
    let (was, result) = (life.capital.holding, life.capital.result());
    land(life, key);
    life.capital.settle(outcome);
    let moved = life.seen.unit.as_f64() * outcome.units as f64 / 1e6;
    life.execution.slipped -= moved + outcome.cash.as_f64();
    if outcome.units != 0 {
        life.stress.ledger.acknowledge(life.age);
    }
    if life.capital.holding == 0 {
        if let Some(held) = life.held {
            appraise(life, held.result);
        }
        (life.held, life.stopped) = (None, false);
    } else if was == 0 {
        let intent = life.intent.filter(|intent| intent.key == key);
        let fragment = intent.and_then(|intent| intent.fragment);
        let longest = fragment.map_or_else(|| rule::holding(life), |fragment| fragment.longest(life));
        let exit = fragment.map(|fragment| WayOut { fragment, unit: life.seen.unit, due: false });
        let domain = intent.map_or(0, |intent| intent.domain);
        life.held = Some(Held { until: at + longest, domain, result, exit });
    }
}

/// Drops an action that had no outcome and will have none.
fn abandon(life: &mut Life, key: u64) {
    land(life, key);
    life.stress.heeding = life.stress.heeding.filter(|_| life.capital.holding > 0);
}

/// Appraises exposure that is over, by the result beside where it started.
fn appraise(life: &mut Life, started: Usdc) {
    let gained = (life.capital.result() - started).as_f64();
    let lost = -gained / life.capital.worth(life.seen.unit).as_f64().max(1.0);
    let felt = match lost {
        great if great > life.laws().great_loss => Felt::GreatLoss,
        loss if loss > 0.0 => Felt::Loss,
        _ => Felt::Profit,
    };
    daimon::feel(life, felt);
}

/// Grants the permit of a preview that passed: the flight may be sent once, and counts for the day.
fn grant(life: &mut Life, at: Time, permit: &Permit, quote: &Quote, cost: f64) {
    let mut day = Day::of(life, at);
    let laws = life.laws();
    life.execution.learn_cost(cost, laws);
    if let Some(flight) = life.flights.iter_mut().find(|f| f.key == permit.key) {
        assert!(matches!(flight.stage, Stage::Asked | Stage::Approved), "an action is permitted twice");
        assert!(permit.gas.min(permit.least) >= Usdc::ZERO, "a permit is for less than nothing");
        flight.stage = Stage::Permitted;
        flight.quote = Some(*quote);
        flight.deadline = permit.expires;
        (flight.gas, flight.least) = (permit.gas, permit.least);
        life.purse.promised += permit.gas;
        if life.birth.world.actions[usize::from(flight.action)].effect == Effect::Adds {
            day.actions += 1;
            day.value += flight.reserved;
        }
        life.permits.push(*permit);
    }
    life.day = day;
}

/// Ends a flight: the money set aside for it is free again.
fn land(life: &mut Life, key: u64) {
    if let Some(at) = life.flights.iter().position(|f| f.key == key) {
        let flight = life.flights.remove(at);
        life.permits.retain(|permit| permit.key != key);
        assert!(life.capital.reserved >= flight.reserved, "more comes free than was set aside");
        assert!(life.purse.promised >= flight.gas, "more gas comes free than was promised");
        life.capital.reserved -= flight.reserved;
        life.capital.cash += flight.reserved;
        life.purse.promised -= flight.gas;
    }
}
