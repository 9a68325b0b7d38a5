//! Acting on what was learned: no edge, no trade; a planted edge is found, and pays.

use golem::constitution::{Clocks, Constitution};
use golem::{Span, Usdc};
use lab::{Plan, lives};
use world::Spec;

fn full(all: u64, few: u64) -> u64 {
    if std::env::var("BARDO_FULL").is_ok() { all } else { few }
}

/// Lives that only trading can hurt, long enough to learn.
fn fair(edge_bps: u32, lives: u64, most_ticks: u64) -> Plan {
    let clocks = Clocks { economic: false, epistemic: false, stochastic: false };
    let constitution = Constitution { clocks, ..Constitution::bare() };
    let world =
        Spec::Sim { seed: 0, bar_ms: 40_000, relations_change_days: 0.0, edge_bps: Some(edge_bps), flip_days: None };
    let (credit, capital) = (Usdc::dollars(10), Usdc::dollars(100));
    Plan {
        version: lives::PLAN,
        lives,
        seed: 5,
        world,
        constitution,
        credit,
        capital,
        most_ticks,
        note_every: 5_000,
        disjoint: false,
        twin: 0,
        laws: None,
        generations: None,
        founder: None,
    }
}

#[test]
fn without_an_edge_hardly_anything_is_spent_on_trading() {
    let (summary, outcomes) = lives::run(&fair(0, full(500, 40), 40_000), 2, |_| {}).unwrap();
    let traded = outcomes.iter().filter(|life| life.actions > 0).count();
    println!("counted: no edge, costs {:?}, {traded} of {} lives traded at all", summary.trading_costs, summary.lives);
    assert!(summary.trading_costs.unwrap().p50 <= 0.01, "{:?}", summary.trading_costs);
}

#[test]
fn an_edge_of_three_times_its_cost_is_found_and_pays() {
    let (summary, outcomes) = lives::run(&fair(45, full(500, 40), 40_000), 2, |_| {}).unwrap();
    let traded = outcomes.iter().filter(|life| life.actions > 0).count();
    println!(
        "counted: an edge, return {:?}, holding {:?}, costs {:?}, {traded} of {} traded",
        summary.returns, summary.returns_holding, summary.trading_costs, summary.lives
    );
    assert!(traded as u64 * 10 >= summary.lives * 9, "{traded}");
    assert!(summary.returns.unwrap().p05 > 0.0, "{:?}", summary.returns);
}

#[test]
fn the_queue_is_acted_in_and_pays() {
    let mut plan = fair(0, full(60, 8), 90_000);
    plan.world = Spec::Queue { seed: 0, bar_ms: 40_000 };
    plan.constitution.interval = Span::seconds(40);
    let (summary, outcomes) = lives::run(&plan, 2, |_| {}).unwrap();
    let traded = outcomes.iter().filter(|life| life.actions > 0).count();
    println!("counted: queue, return {:?}, fitness {:?}, {traded} acted", summary.returns, summary.fitness);
    assert!(traded as u64 * 10 >= summary.lives * 9);
    assert!(summary.returns.unwrap().p50 > 0.0 && summary.fitness.p50 > 0.5);
}
