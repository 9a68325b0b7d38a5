//! What honest scores and earned trust are worth: the same lives under the first laws and under those of today, as skill
//! over every claim, pooled over paths. `just result honest` lives as many as the book reports.

use crate::common::{full, plan};
use golem::time::Span;
use lab::{Errors, LifeOutcome, Plan, lives};
use world::Spec;

/// Ticks between two notes; the first 400 are a newborn's.
const NOTE: u64 = 200;
const TURN: u64 = 4_000;
/// Nothing was looked at, while these laws were made, of what comes after.
const HELD_OUT: u64 = 1_704_067_200; // 2024-01-01

fn sim(relations_change_days: f64, flip_tick: Option<u64>, lives: u64, seed: u64, ticks: u64) -> Plan {
    let flip_days = flip_tick.map(|tick| Span::seconds(40).times(tick).as_millis() as f64 / 86_400_000.0);
    let world = Spec::Sim { seed, bar_ms: 40_000, relations_change_days, edge_bps: None, flip_days };
    plan(world, lives, seed, ticks, Span::seconds(40))
}

/// Skill over some stretches of all lives, by the weights of their world.
fn pooled(outcomes: &[LifeOutcome], weights: &[f64], stretches: std::ops::Range<usize>) -> f64 {
    let some = |outcome: &LifeOutcome| {
        outcome.errors.get(stretches.start..stretches.end.min(outcome.errors.len())).map(<[Errors]>::to_vec)
    };
    let all = outcomes.iter().filter_map(some).flatten().fold(Errors::default(), |sum, more| sum.and(&more));
    let (mut sum, mut whole) = (0.0, 0.0);
    for (domain, weight) in weights.iter().enumerate() {
        let (error, naive) = all.of(domain);
        if naive > 1e-12 {
            sum += weight * (1.0 - error / naive);
            whole += weight;
        }
    }
    sum / whole
}

struct Row {
    name: String,
    /// Newborn, whole life, and the 600 ticks after a turn, under the first laws and today's.
    then: [f64; 3],
    now: [f64; 3],
    volatility: (f64, f64),
}

fn both(name: &str, plans: &[Plan]) -> Row {
    let lived = |laws: u16| -> Vec<LifeOutcome> {
        plans
            .iter()
            .flat_map(|plan| lives::run(&Plan { laws: Some(laws), ..plan.clone() }, 2, |_| {}).unwrap().1)
            .collect()
    };
    let manifest = plans[0].world.open(world::Ledger::memory()).unwrap().manifest();
    let weights: Vec<f64> = manifest.domains.iter().map(|spec| spec.weight).collect();
    let at = manifest.domains.iter().position(|spec| spec.name == "volatility");
    let of = |outcomes: &[LifeOutcome]| {
        let turn = (TURN / NOTE) as usize;
        let skill = |range| pooled(outcomes, &weights, range);
        let only: Vec<f64> = (0..weights.len()).map(|n| f64::from(u8::from(Some(n) == at))).collect();
        let volatility = if at.is_some() { pooled(outcomes, &only, 0..usize::MAX) } else { f64::NAN };
        ([skill(0..2), skill(0..usize::MAX), skill(turn..turn + 3)], volatility)
    };
    let ((then, before), (now, after)) = (of(&lived(1)), of(&lived(2)));
    let row = Row { name: name.to_owned(), then, now, volatility: (before, after) };
    println!(
        "counted: honest {}: newborn {:+.4} -> {:+.4}, whole life {:+.4} -> {:+.4}, from tick 4,000 to 4,600 {:+.4} -> {:+.4}, volatility {:+.4} -> {:+.4}",
        row.name, then[0], now[0], then[1], now[1], then[2], now[2], row.volatility.0, row.volatility.1
    );
    row
}

#[test]
fn newborns_lose_nothing_and_whole_lives_are_better_than_naive() {
    let (lives, ticks) = if full() { (200, 4_000) } else { (16, 2_000) };
    let seed = |n: u64| 9_600 + n;
    for (n, days) in [0.0, 1.0, 3.0, 9.0].into_iter().enumerate() {
        let row =
            both(&format!("relations change every {days} days"), &[sim(days, None, lives, seed(n as u64), ticks)]);
        assert!(row.now[0] > row.then[0] + 0.02, "newborns lost less than before");
        assert!(row.now[0] >= if full() { -0.002 } else { -0.01 }, "{:+.4}", row.now[0]);
        assert!(row.now[1] > if full() { 0.0 } else { -0.005 }, "{:+.4}", row.now[1]);
    }
}

#[test]
fn where_there_is_something_to_know_it_is_still_known_and_a_turn_costs_little() {
    let lives = if full() { 100 } else { 8 };
    let tide = both("tide", &[sim(0.0, Some(1_000_000), lives, 9_611, 4_000)]);
    assert!(tide.now[1] > 0.2 && tide.now[1] > tide.then[1] - 0.02, "{:+.4}", tide.now[1]);
    let queue = Spec::Queue { seed: 9_613, bar_ms: 40_000 };
    let queue = both("queue", &[plan(queue, if full() { 60 } else { 8 }, 9_613, 8_000, Span::seconds(40))]);
    assert!(queue.now[1] > queue.then[1] - if full() { 0.005 } else { 0.03 }, "{:+.4}", queue.now[1]);
    let turn = both("tide that turns", &[sim(0.0, Some(TURN), lives, 9_612, 8_000)]);
    assert!(turn.now[2] > turn.then[2] + 0.04 && turn.now[2] > -0.06, "{:+.4}", turn.now[2]);
}

#[test]
fn real_hours_since_2024() {
    for (hours, name) in [(960, "real, 960 h"), (4_700, "real, 4,700 h")] {
        if !full() && hours > 1_000 {
            continue;
        }
        let coins = if full() { &["eth", "btc", "link", "aave"][..] } else { &["eth"] };
        let Some(paths) = crate::common::hours_of(coins) else { return };
        let plans: Vec<Plan> = paths
            .into_iter()
            .map(|path| {
                let start = Some(HELD_OUT);
                let world = Spec::Replay { path, start, sha256: None };
                let lives = if !full() {
                    4
                } else if hours < 1_000 {
                    19
                } else {
                    4
                };
                Plan { disjoint: true, ..plan(world, lives, 1, hours, Span::seconds(3_600)) }
            })
            .collect();
        let row = both(name, &plans);
        assert!(row.now[1] > row.then[1], "{:+.4} {:+.4}", row.then[1], row.now[1]);
    }
}
