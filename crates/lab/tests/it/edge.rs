//! A market made so that knowing pays, and the same market without anything to know: what golems of the default settings
//! do in both. `just result edge` lives as many as the book reports. While the market was made, lives of seed 100 and of
//! seeds 1 to 12 were looked at; those of the seeds below were not.

use golem::Usdc;
use golem::constitution::Mode;
use lab::arms::Cell;
use lab::{LifeOutcome, Plan, Quantiles, lives};
use settings::{File, Settings};
use world::{EdgeConfig, Spec};

use crate::common::full;

/// Sixty days: a month in which the edge stays where it is, and one after it has moved.
const DAYS: u64 = 60;
const A_DAY: u64 = 2_160;
const MOVE_DAYS: f64 = 30.0;

/// Lives as they are where nothing is said but the world.
fn default_lives(edge_bps: u32, lives: u64, seed: u64, most_ticks: u64) -> Plan {
    let settings = Settings::defaults(File::Golem);
    Plan {
        version: lives::PLAN,
        lives,
        seed,
        world: Spec::Edge { seed: 0, bar_ms: 40_000, edge_bps, move_days: MOVE_DAYS },
        constitution: settings.constitution().unwrap(),
        credit: settings.money("funds.credit"),
        capital: settings.money("funds.capital"),
        most_ticks,
        note_every: A_DAY,
        disjoint: false,
        twin: 0,
        laws: None,
        generations: None,
        founder: None,
    }
}

fn run(plan: &Plan) -> Vec<LifeOutcome> {
    lives::run(plan, 2, |_| {}).unwrap().1
}

fn acted(lives: &[LifeOutcome]) -> usize {
    lives.iter().filter(|life| life.actions > 0).count()
}

/// The mean of one figure, beside another of the same life.
fn beside(lives: &[LifeOutcome], of: fn(&LifeOutcome) -> Option<f64>, to: fn(&LifeOutcome) -> Option<f64>) -> Cell {
    let (of, to): (Vec<f64>, Vec<f64>) = lives.iter().filter_map(|life| Some((of(life)?, to(life)?))).unzip();
    Cell::of(&of, &to)
}

fn shown(cell: &Cell) -> String {
    format!("{:+.4} ({:+.4} to {:+.4})", cell.difference, cell.low, cell.high)
}

#[test]
fn default_golems_act_where_knowing_pays_and_do_nothing_where_there_is_nothing_to_know() {
    let (lives, days) = if full() { (100, DAYS) } else { (8, 14) };
    let of = |edge_bps| run(&default_lives(edge_bps, lives, 9_985, days * A_DAY));
    let (edge, fair) = (of(EdgeConfig::USUAL), of(0));
    let returned: fn(&LifeOutcome) -> Option<f64> = |life| life.returned;
    let (nothing, holding) = (beside(&edge, returned, |_| Some(0.0)), beside(&edge, returned, |life| life.held));
    let skill = beside(&edge, |life| life.skill, |_| Some(0.0));
    let spread = |of: fn(&LifeOutcome) -> f64| Quantiles::of(edge.iter().map(of)).unwrap();
    println!(
        "counted: edge, {lives} default lives of {days} days: {} acted, return against doing nothing {}, against holding {}, \
         skill against naive {}; returns {:?}, actions {:?}, costs {:?}, deepest falls {:?}",
        acted(&edge),
        shown(&nothing),
        shown(&holding),
        shown(&skill),
        spread(|life| life.returned.unwrap_or(0.0)),
        spread(|life| life.actions as f64),
        spread(|life| life.trading_cost.unwrap_or(0.0)),
        spread(|life| life.drawdown),
    );
    let costs = Quantiles::of(fair.iter().filter_map(|life| life.trading_cost)).unwrap();
    let skill_there = beside(&fair, |life| life.skill, |_| Some(0.0));
    println!(
        "counted: fair, {lives} default lives on the same paths: {} acted, costs {costs:?}, returns {:?}, skill against naive {}",
        acted(&fair),
        Quantiles::of(fair.iter().filter_map(returned)).unwrap(),
        shown(&skill_there),
    );
    assert!(acted(&edge) as u64 * 10 >= lives * 8, "{} acted", acted(&edge));
    assert!(nothing.low > 0.0, "{}", shown(&nothing));
    assert!(skill.low > 0.0, "{}", shown(&skill));
    assert_eq!((costs.p05, costs.p50), (0.0, 0.0));
    assert!(costs.p95 <= 0.0 && acted(&fair) as u64 * 20 <= lives, "{costs:?}, {} acted", acted(&fair));
}

#[test]
fn what_is_earned_pays_for_the_machine_while_it_is_known() {
    let (lives, days) = if full() { (30, 90) } else { (4, 20) };
    let of = |edge_bps| {
        let mut plan = default_lives(edge_bps, lives, 9_986, days * A_DAY);
        plan.constitution.mode = Mode::Hosted;
        // Chance takes lives in both; here it would only hide what money does.
        plan.constitution.clocks.stochastic = false;
        if !full() {
            plan.credit = Usdc::dollars(3);
        }
        run(&plan)
    };
    let (edge, fair) = (of(EdgeConfig::USUAL), of(0));
    let ticks = |lives: &[LifeOutcome]| lives.iter().map(|life| life.ticks as f64 / A_DAY as f64).collect::<Vec<_>>();
    let longer = Cell::of(&ticks(&edge), &ticks(&fair));
    println!(
        "counted: edge, {lives} hosted lives without chance: {:.1} days of life, {} more than where there is nothing to know",
        longer.mean,
        shown(&longer)
    );
    assert!(longer.difference > 0.0, "{}", shown(&longer));
}
