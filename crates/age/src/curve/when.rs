//! When to start over: the number of calls for which what a hand-over costs, and what age costs up to there, come to the least
//! for each call. What age costs at a call is what it costs more than an early one, and the part of it that goes into failures
//! that an early one would not have had; each only where it is found to rise.

use serde::Serialize;

use super::measure::{Axis, Measure};
use super::within::spread;
use crate::record::Life;

/// Numbers that are tried.
const TRIED: [usize; 16] = [10, 15, 20, 30, 40, 50, 60, 80, 100, 130, 160, 200, 250, 320, 400, 500];
/// Lives that must have come as far as any number that is tried.
const REACH: usize = 8;
/// How often lives are drawn again for the interval.
const DRAWN: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct When {
    /// Calls after which starting over is cheapest.
    pub calls: usize,
    /// Between these it lies nineteen times in twenty.
    pub low: usize,
    pub high: usize,
    /// Cost of a hand-over, in micro-dollars, and below whether the owner said so; if not, it is what lives spent before they
    /// first changed a file.
    pub handover: f64,
    pub said: bool,
    /// Cost of a call beyond an early one, in micro-dollars, if lives start over then, and below if none ever does.
    pub each: f64,
    pub never: f64,
}

/// Figures of one life, so that it can be drawn again and again.
struct LifeFigures {
    /// How far its calls are spread, and how failures and costs go with that.
    failures: [f64; 2],
    costs: [f64; 2],
    calls: f64,
    sum: f64,
    before: Option<f64>,
}

impl LifeFigures {
    fn of(life: &Life) -> LifeFigures {
        let part = |measure: Measure| {
            let points = measure.points(life, Axis::Calls);
            let [wide, with, calls, sum] = spread(&points).unwrap_or_default();
            ([wide, with], calls, sum)
        };
        let (failures, ..) = part(Measure::Failures);
        let (costs, calls, sum) = part(Measure::Cost);
        LifeFigures { failures, costs, calls, sum, before: before_first_change(life) }
    }
}

/// Which of the two are found to rise, and what a hand-over costs if its owner says so.
pub(crate) fn when(lives: &[&Life], fails: bool, dearer: bool, handover: Option<f64>) -> Option<When> {
    let reached = |calls: usize| lives.iter().filter(|life| life.calls.len() >= calls).count() >= REACH;
    let tried: Vec<usize> = TRIED.into_iter().filter(|calls| reached(*calls)).collect();
    if tried.len() < 3 || !(fails || dearer) {
        return None;
    }
    let said: Vec<LifeFigures> = lives.iter().map(|life| LifeFigures::of(life)).collect();
    let rises = Rises { fails, dearer };
    let all: Vec<&LifeFigures> = said.iter().collect();
    let best = Best::of(&all, &tried, rises, handover)?;
    let mut drawn: Vec<usize> = Vec::with_capacity(DRAWN);
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..DRAWN {
        let again: Vec<&LifeFigures> = (0..said.len()).map(|_| &said[roll(&mut dice, said.len())]).collect();
        drawn.extend(Best::of(&again, &tried, rises, handover).map(|best| best.calls));
    }
    drawn.sort_unstable();
    let at = |part: f64| drawn.get(((drawn.len() as f64 * part) as usize).min(drawn.len().saturating_sub(1))).copied();
    Some(When {
        calls: best.calls,
        low: at(0.025).unwrap_or(best.calls),
        high: at(0.975).unwrap_or(best.calls),
        handover: best.handover,
        said: handover.is_some(),
        each: best.each,
        never: best.never,
    })
}

#[derive(Clone, Copy)]
struct Rises {
    fails: bool,
    dearer: bool,
}

struct Best {
    calls: usize,
    handover: f64,
    each: f64,
    never: f64,
}

impl Best {
    fn of(said: &[&LifeFigures], tried: &[usize], rises: Rises, handover: Option<f64>) -> Option<Best> {
        let slope = |found: bool, of: fn(&LifeFigures) -> [f64; 2]| {
            let (wide, with) = said.iter().fold((0.0, 0.0), |(wide, with), one| (wide + of(one)[0], with + of(one)[1]));
            if found && wide > 0.0 { f64::max(with / wide, 0.0) } else { 0.0 }
        };
        let failing = slope(rises.fails, |one| one.failures);
        let rising = slope(rises.dearer, |one| one.costs);
        let (many, sum) = said.iter().fold((0.0, 0.0), |(many, sum), one| (many + one.calls, sum + one.sum));
        let befores: Vec<f64> = said.iter().filter_map(|one| one.before).collect();
        let own = (!befores.is_empty()).then(|| befores.iter().sum::<f64>() / befores.len() as f64);
        let handover = handover.or(own)?;
        if many == 0.0 {
            return None;
        }
        // A call whose tool fails was for nothing.
        let a_call = (failing * sum / many) + rising;
        let early = Axis::scale(0.0);
        let each = |calls: usize| {
            let loss: f64 = (0..calls).map(|call| a_call * (Axis::scale(call as f64) - early)).sum();
            ((handover + loss) / calls as f64, loss / calls as f64)
        };
        let (best, last) =
            (tried.iter().min_by(|one, other| each(**one).0.total_cmp(&each(**other).0))?, tried.last()?);
        let (each, never) = (each(*best).0, each(*last).1);
        // Where age costs less than starting over does, there is no moment for it.
        (each < never).then_some(Best { calls: *best, handover, each, never })
    }
}

/// Money a life spent until it first changed a file: the price for a newborn to learn where it is.
fn before_first_change(life: &Life) -> Option<f64> {
    let first = life.calls.iter().position(|call| call.edits > 0)?;
    let costs = life.calls[..first].iter().filter_map(|call| call.cost);
    Some(costs.fold(0, u64::saturating_add) as f64)
}

/// Seeded, so that the same lives say the same twice.
fn roll(dice: &mut u64, below: usize) -> usize {
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    *dice ^= *dice << 17;
    (*dice % below as u64) as usize
}
