//! What phages are worth: the same paths with and without them, paired. `just result phages` lives as many as the book
//! reports.

use crate::common::{full, plan};
use golem::time::Span;
use lab::arms::Cell;
use lab::{LifeOutcome, Plan, lives};
use world::Spec;

const NOTE: u64 = 200;
const TURN: u64 = 4_000;
const HELD_OUT: u64 = 1_704_067_200; // 2024-01-01

/// Skill over some stretches of one life, as a mean of what each of them came to.
fn skill(outcome: &LifeOutcome, stretches: std::ops::Range<usize>) -> f64 {
    let some = &outcome.skill_lately[stretches.start.min(outcome.skill_lately.len())..];
    let some = &some[..some.len().min(stretches.end - stretches.start)];
    some.iter().sum::<f64>() / some.len().max(1) as f64
}

fn told(name: &str, plans: &[Plan]) -> [Cell; 3] {
    let lived = |phages: bool| -> Vec<LifeOutcome> {
        let with = |plan: &Plan| {
            let mut plan = plan.clone();
            plan.constitution.mind.phages = phages;
            lives::run(&plan, 2, |_| {}).unwrap().1
        };
        plans.iter().flat_map(with).collect()
    };
    let (with, without) = (lived(true), lived(false));
    let turn = (TURN / NOTE) as usize;
    let cell = |range: std::ops::Range<usize>| {
        let of = |all: &[LifeOutcome]| all.iter().map(|one| skill(one, range.clone())).collect::<Vec<f64>>();
        Cell::of(&of(&with), &of(&without))
    };
    let cells = [cell(0..usize::MAX / 2), cell(turn..turn + 3), cell(turn + 3..turn + 10)];
    let mut ends = [[0; 3]; 4];
    for one in &with {
        ends.iter_mut().flatten().zip(one.phages.iter().flatten()).for_each(|(all, one)| *all += one);
    }
    let line = |at: usize| format!("{:+.4} ({:+.4} to {:+.4})", cells[at].difference, cells[at].low, cells[at].high);
    println!(
        "counted: phages {name}: {} paths, whole life {}, 600 ticks after tick 4,000 {}, the 1,400 after those {}; ended better, worse, alike: thresholds {:?}, terms {:?}, stops {:?}, regimes {:?}",
        with.len(),
        line(0),
        line(1),
        line(2),
        ends[0],
        ends[1],
        ends[2],
        ends[3]
    );
    cells
}

#[test]
fn what_phages_change_where_the_world_turns_and_on_real_hours() {
    let lives = if full() { 200 } else { 8 };
    let flip_days = Some(Span::seconds(40).times(TURN).as_millis() as f64 / 86_400_000.0);
    let tide =
        |flip_days, seed| Spec::Sim { seed, bar_ms: 40_000, relations_change_days: 0.0, edge_bps: None, flip_days };
    let ticks = if full() { 8_000 } else { 5_000 };
    let turn = told("tide that turns", &[plan(tide(flip_days, 9_701), lives, 9_701, ticks, Span::seconds(40))]);
    let still = told("relations that hold", &[plan(tide(None, 9_702), lives, 9_702, ticks, Span::seconds(40))]);
    // They have no say of their own: whatever they bring in is tried first, so they can do little harm.
    for cell in turn.iter().chain(&still) {
        assert!(cell.difference > -0.02, "{cell:?}");
    }
    let coins = if full() { &["eth", "btc", "link", "aave"][..] } else { &["eth"] };
    let Some(paths) = crate::common::hours_of(coins) else { return };
    let real = |path| {
        let world = Spec::Replay { path, start: Some(HELD_OUT), sha256: None };
        Plan { disjoint: true, ..plan(world, if full() { 19 } else { 3 }, 1, 960, Span::seconds(3_600)) }
    };
    let real = told("real, 960 h", &paths.into_iter().map(real).collect::<Vec<_>>());
    assert!(real[0].difference > -0.02, "{:?}", real[0]);
}
