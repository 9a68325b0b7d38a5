//! Causes of death by how fast the world changes, for the mind that is shipped: its own settings, its dreams included.
//! `just result rates` lives as many as the book reports.

use golem::constitution::Mode;
use lab::{LifeOutcome, Plan, Quantiles, lives};
use settings::{File, Settings};
use world::{How, Spec};

use crate::common::full;

/// Days between two changes, on average; 0 is never.
const RATES: [f64; 5] = [0.0, 30.0, 10.0, 3.0, 1.0];

/// Longer than credit lasts where nothing is earned.
const TICKS: u64 = 130_000;

fn market(days: f64) -> Spec {
    Spec::Sim { seed: 0, bar_ms: 40_000, relations_change_days: days, edge_bps: None, flip_days: None }
}

/// A plant whose outputs follow gauges: there is far more to know in it than in a market, and so to lose.
fn plant(days: f64) -> Spec {
    Spec::Shifting { seed: 0, bar_ms: 40_000, how: How::New, change_days: days }
}

fn shipped(world: Spec, mode: Mode, lives: u64, seed: u64) -> Plan {
    let settings = Settings::defaults(File::Golem);
    let mut constitution = settings.constitution().unwrap();
    constitution.mode = mode;
    Plan {
        version: lives::PLAN,
        lives,
        seed,
        world,
        constitution,
        credit: settings.money("funds.credit"),
        capital: settings.money("funds.capital"),
        most_ticks: if full() { TICKS } else { 6_000 },
        note_every: 200,
        disjoint: false,
        twin: 0,
        laws: None,
        generations: None,
        founder: None,
    }
}

/// One line of the table for each rate; returns the lives that lost touch, over all rates.
fn table(name: &str, mode: Mode, seed: u64, world: fn(f64) -> Spec) -> u64 {
    let lives = if full() { 200 } else { 3 };
    let mut lost = 0;
    for days in RATES {
        // The same paths at every rate.
        let (summary, outcomes) = lives::run(&shipped(world(days), mode, lives, seed), 2, |_| {}).unwrap();
        let of = |cause: &str| summary.deaths.get(cause).copied().unwrap_or(0);
        let lowest = |life: &LifeOutcome| life.fitness_over_time.iter().copied().fold(life.fitness, f64::min);
        println!(
            "counted: rates, {name}, {mode:?}, a change every {days} days: of {lives} lives money {}, lost touch {}, chance {}, \
             breaker {}, alive {}; skill {:?}, lowest fitness {:?}, ever senescent {}",
            of("economic"),
            of("epistemic_senescence"),
            of("stochastic"),
            of("kill_switch"),
            of("alive"),
            summary.skill,
            Quantiles::of(outcomes.iter().map(lowest)).unwrap(),
            summary.senesced,
        );
        lost += of("epistemic_senescence");
    }
    lost
}

#[test]
fn a_mind_that_goes_on_learning_does_not_lose_touch_however_fast_a_market_changes() {
    assert_eq!(table("market", Mode::Hosted, 9_990, market), 0);
}

#[test]
fn nor_does_it_where_there_is_far_more_to_know() {
    assert_eq!(table("plant", Mode::Hosted, 9_991, plant), 0);
}

#[test]
fn nor_where_its_owner_bears_the_cost() {
    assert_eq!(table("market", Mode::SelfHosted, 9_992, market), 0);
}
