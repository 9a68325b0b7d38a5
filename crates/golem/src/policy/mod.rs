//! Acting inside a policy: what a golem may take on, with which money, and how an ask stays honest.
//!
//! An intent reserves its money, is previewed, permitted, committed and settled; each stage is an event,
//! and what is owed next can always be read from Life. An answer always settles money; only a fresh one
//! (same epoch) settles behaviour.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::constitution::MindKind;
use crate::draft::Draft;
use crate::event::Event;
use crate::life::Life;
use crate::money::Usdc;
use crate::mortality::phase::Phase;
use crate::time::{Span, Time};
use crate::world::{Effect, Observation, Outcome, Quote};

/// How long an ask may take.
const PATIENCE: u64 = 4;

/// What a golem acts with; what it lives on is [`crate::mortality::economic::Purse`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capital {
    pub cash: Usdc,
    /// Set aside for asks under way.
    pub reserved: Usdc,
    /// Millionths of a unit held.
    pub holding: i64,
    /// What the holding was acquired for.
    pub cost: Usdc,
    pub given: Usdc,
    pub withdrawn: Usdc,
    pub realised: Usdc,
    pub fees: Usdc,
    /// The highest worth so far, for the breaker.
    pub peak: Usdc,
}

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
    /// Part of dying: passes every gate but the world's.
    pub closing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Asked,
    Permitted,
}

/// Why something was refused, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    Dead,
    Frozen,
    Phase(Phase),
    Busy,
    Funds,
    Reserve,
    Bounds,
}

impl Capital {
    /// Worth of everything, at this worth of a million units; an absurd one is as good as the most there is.
    pub fn worth(&self, unit: Usdc) -> Usdc {
        let held = i128::from(unit.as_micros()) * i128::from(self.holding) / 1_000_000;
        let whole = i128::from((self.cash + self.reserved).as_micros()) + held;
        Usdc::micros(whole.clamp(0, i128::from(Usdc::MOST.as_micros())) as i64)
    }

    /// Money given or taken is neither gain nor loss: the fall from the peak stays the same share.
    pub(crate) fn rescale_peak(&mut self, change: Usdc, unit: Usdc) {
        let before = self.worth(unit).as_micros();
        let after = before + change.as_micros();
        let scaled = if before > 0 {
            i128::from(self.peak.as_micros()) * i128::from(after) / i128::from(before)
        } else {
            i128::from(after)
        };
        self.peak = Usdc::micros(scaled.clamp(0, i128::from(Usdc::MOST.as_micros())) as i64);
    }

    pub(crate) fn settle(&mut self, outcome: &Outcome) {
        self.cash += outcome.cash - outcome.fee;
        self.fees += outcome.fee;
        if outcome.units >= 0 {
            self.cost -= outcome.cash;
        } else {
            let released = self.cost.share(-outcome.units, self.holding.max(1));
            self.cost -= released;
            self.realised += outcome.cash - released;
        }
        self.holding += outcome.units;
    }
}

/// The first rule that forbids this, if any. Reducing exposure is open to everyone alive.
pub fn gate(life: &Life, effect: Effect) -> Result<(), Rule> {
    if life.is_dead() {
        return Err(Rule::Dead);
    }
    if effect == Effect::Adds && life.heartbeat.frozen {
        return Err(Rule::Frozen);
    }
    if !life.phase().permits(effect) {
        return Err(Rule::Phase(life.phase()));
    }
    Ok(())
}

/// The reflex's idea of acting: take up exposure, give it up again, in turn.
pub(crate) fn reflex(draft: &mut Draft<'_>) {
    let every = u64::from(draft.constitution().reflex.act_every);
    if draft.constitution().mind.kind != MindKind::Reflex {
        return;
    }
    if every == 0 || draft.tick % every != every - 1 || !draft.flights.is_empty() {
        return;
    }
    let effect = if draft.capital.holding > 0 { Effect::Reduces } else { Effect::Adds };
    let Some(action) = draft.birth.world.action(effect) else { return };
    let unit = draft.seen.unit.as_micros();
    let budget = match effect {
        Effect::Adds => size(draft),
        Effect::Reduces => Usdc::ZERO,
    };
    let units = match effect {
        Effect::Adds if unit > 0 => units_for(budget, unit),
        Effect::Adds => 0,
        Effect::Reduces => draft.capital.holding,
    };
    if units <= 0 {
        return;
    }
    match gate(draft, effect) {
        Ok(()) => intend(draft, action, units, budget, false),
        Err(rule) => draft.emit(Event::Refused { rule }),
    }
}

/// The most one action may commit now.
fn size(life: &Life) -> Usdc {
    let whole = life.capital.cash.share(i64::from(life.constitution().policy.per_action_bps), 10_000);
    let risk = (life.phase().behaviour().risk * 100.0) as i64;
    whole.share(risk, 100)
}

/// As many units as the budget buys with a tenth to spare for costs nobody can foresee.
fn units_for(budget: Usdc, unit: i64) -> i64 {
    let units = i128::from(budget.share(9, 10).as_micros()) * 1_000_000 / i128::from(unit);
    i64::try_from(units).unwrap_or(0)
}

fn intend(draft: &mut Draft<'_>, action: u8, units: i64, reserved: Usdc, closing: bool) {
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

fn patience(life: &Life) -> Span {
    life.constitution().interval.times(PATIENCE)
}

/// Dying: give up everything held.
pub(crate) fn close_all(draft: &mut Draft<'_>) {
    if let Some(action) = draft.birth.world.action(Effect::Reduces) {
        let units = draft.capital.holding;
        intend(draft, action, units, Usdc::ZERO, true);
    }
}

/// A preview has come back: permit it if nothing has changed since it was asked for.
pub(crate) fn previewed(draft: &mut Draft<'_>, key: u64, quote: Option<Quote>) {
    let Some(flight) = draft.flights.iter().find(|f| f.key == key && f.stage == Stage::Asked).cloned() else {
        return;
    };
    let effect = draft.birth.world.actions[usize::from(flight.action)].effect;
    let fresh = flight.closing || (flight.epoch == draft.heartbeat.epoch && gate(draft, effect).is_ok());
    let affordable = quote.is_some_and(|q| effect == Effect::Reduces || q.fee - q.cash <= flight.reserved);
    match quote {
        Some(quote) if fresh && affordable && flight.deadline >= draft.at() => {
            let expires = draft.at() + patience(draft);
            draft.emit(Event::Permitted { key, quote, expires });
        }
        _ => {
            draft.emit(Event::Abandoned { key });
            crate::heartbeat::rest(draft);
        }
    }
}

/// What the world says came of a commit: done with this outcome, or never done.
pub(crate) fn landed(draft: &mut Draft<'_>, key: u64, outcome: Option<Outcome>) {
    if !draft.flights.iter().any(|f| f.key == key) {
        return;
    }
    draft.emit(match outcome {
        Some(outcome) => Event::Settled { key, outcome },
        None => Event::Abandoned { key },
    });
    crate::heartbeat::rest(draft);
}

/// The deepest fall from the highest worth so far, in basis points, as these bars went by one after another.
pub(crate) fn worst_fall_bps(life: &Life, observation: &Observation) -> i64 {
    let (mut peak, mut worst) = (life.capital.peak, 0);
    for bar in &observation.bars {
        let worth = life.capital.worth(bar.unit);
        peak = peak.max(worth);
        if peak.is_positive() {
            worst = worst.max(i128::from((peak - worth).as_micros()) * 10_000 / i128::from(peak.as_micros()));
        }
    }
    worst as i64
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Dead => write!(f, "it is dead"),
            Rule::Frozen => write!(f, "no new exposure while frozen"),
            Rule::Phase(phase) => write!(f, "no new exposure while {phase}"),
            Rule::Busy => write!(f, "too much is under way already; try again in a moment"),
            Rule::Funds => write!(f, "there is not that much to take"),
            Rule::Reserve => write!(f, "the rest is the reserve for dying and cannot be taken"),
            Rule::Bounds => write!(f, "the amount is out of bounds"),
        }
    }
}
