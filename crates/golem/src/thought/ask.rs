//! Whether a question may be asked now, at which tier, and what is set aside for it; or what keeps it.

use super::{Held, Purpose, Question, Spell};
use crate::heartbeat::State;
use crate::life::Life;
use crate::money::Usdc;
use crate::mortality::economic;
use crate::mortality::phase::{Phase, Tier};
use crate::mortality::{Partition, Purse};
use crate::time::{Span, Time};

pub(super) fn day(at: Time) -> u64 {
    at.as_millis() / Span::DAY.as_millis()
}

pub(super) fn month(life: &Life) -> u64 {
    Purse::month_at(life.age, life.laws())
}

/// The question, with its sum; or what keeps it. Nothing is ever asked for less than a call may cost: a sum that is too
/// small buys half an answer.
pub(super) fn question(
    life: &Life,
    at: Time,
    purpose: Purpose,
    wanted: Tier,
    why: u8,
    seen: &[f64],
) -> Result<Question, Held> {
    let figures = &life.constitution().thought;
    if life.is_dead() {
        return Err(Held::Dead);
    }
    if life.heartbeat.paused {
        return Err(Held::Paused);
    }
    if life.heartbeat.state == State::Dreaming {
        return Err(Held::Asleep);
    }
    let ceiling = life.phase().behaviour().tier;
    if ceiling == Tier::Rules {
        return Err(Held::Phase);
    }
    let tier = figures.nearest(wanted.min(ceiling)).ok_or(Held::NoModel)?;
    if life.thoughts.open.is_full() || life.thoughts.open.iter().any(|open| open.purpose == purpose) {
        return Err(Held::Busy);
    }
    if at < life.thoughts.rests_until {
        return Err(Held::Resting);
    }
    // Who is declining is short with everybody.
    let most = match life.phase() {
        Phase::Declining => figures.per_call(tier).share(1, 2),
        _ => figures.per_call(tier),
    };
    let left = |cap: Usdc, spell: Spell| (cap - spell.taken).max(Usdc::ZERO);
    let caps = [
        (left(figures.a_day, life.thoughts.day.at(day(at))), Held::Day),
        (left(figures.a_month, life.thoughts.month.at(month(life))), Held::Month),
        (economic::unpromised_allowance(life), Held::Allowance),
        (economic::budget(life, Partition::Inference), Held::Partition),
    ];
    if let Some((_, cap)) = caps.into_iter().find(|(left, _)| *left < most) {
        return Err(cap);
    }
    Ok(Question {
        key: life.thoughts.made + 1,
        purpose,
        tier,
        most,
        asked: at,
        deadline: at + figures.patience.max(life.interval().times(2)),
        epoch: life.heartbeat.epoch,
        month: month(life),
        why,
        seen: seen.iter().map(|feature| *feature as f32).collect(),
        values: life.seen.values.clone(),
    })
}

/// How much of a day's money is still there, from 0 to 1: as it runs out, less is worth asking about.
pub(super) fn plenty(life: &Life, at: Time) -> f64 {
    let figures = &life.constitution().thought;
    let taken = life.thoughts.day.at(day(at)).taken.as_f64();
    let day = if figures.a_day.is_positive() { 1.0 - taken / figures.a_day.as_f64() } else { 0.0 };
    day.clamp(0.0, 1.0).min(economic::score(life).max(0.1))
}
