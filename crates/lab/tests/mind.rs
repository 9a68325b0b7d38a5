//! What the rule mind is worth, measured: in a simulated market and in the queue, on many paths.

use golem::constitution::{Clocks, Constitution};
use golem::{Span, Usdc};
use lab::{Plan, lives};
use world::Spec;

fn plan(world: Spec, lives: u64, most_ticks: u64) -> Plan {
    let clocks = Clocks { economic: false, epistemic: false, stochastic: false };
    let constitution = Constitution { clocks, ..Constitution::bare() };
    let (credit, capital) = (Usdc::dollars(10), Usdc::dollars(100));
    Plan {
        version: lives::PLAN,
        lives,
        seed: 1,
        world,
        constitution,
        credit,
        capital,
        most_ticks,
        note_every: 5_000,
        disjoint: false,
        twin: 0,
    }
}

#[test]
fn a_plan_repeats_to_the_byte_on_any_number_of_threads() {
    let plan = plan(
        Spec::Sim { seed: 0, bar_ms: 40_000, relations_change_days: 1.0, edge_bps: None, flip_days: None },
        6,
        800,
    );
    let text = |threads| {
        let (summary, outcomes) = lives::run(&plan, threads, |_| {}).unwrap();
        serde_json::to_string(&(summary.timeless(), outcomes)).unwrap()
    };
    assert_eq!(text(1), text(3));
    let again: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(again, plan);
    let other = Plan { seed: 2, ..plan.clone() };
    assert_ne!(lives::run(&other, 1, |_| {}).unwrap().1, lives::run(&plan, 1, |_| {}).unwrap().1);
}

#[test]
fn lives_of_a_replay_begin_at_different_dates() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("waves.csv");
    let row = |hour: u64| format!("{},{}\n", 1_700_002_800 + hour * 3_600, 100 + hour % 37 + hour / 50);
    std::fs::write(&path, format!("ts,price\n{}", (0..900).map(row).collect::<String>())).unwrap();
    let mut plan = plan(Spec::Replay { path, start: None, sha256: None }, 8, 300);
    plan.constitution.interval = Span::seconds(3_600);
    let (summary, outcomes) = lives::run(&plan, 2, |_| {}).unwrap();
    assert_eq!(summary.ticks, 8 * 300, "there was room for all of them");
    let held: std::collections::BTreeSet<String> = outcomes.iter().map(|o| format!("{:.6}", o.held)).collect();
    assert!(held.len() > 5, "not the same stretch again and again: {held:?}");
}

#[test]
fn the_queue_is_learned_by_the_same_mind() {
    let mut plan = plan(Spec::Queue { seed: 0, bar_ms: 40_000 }, 12, 15_000);
    plan.constitution.interval = Span::seconds(40);
    let (learned, _) = lives::run(&plan, 2, |_| {}).unwrap();
    println!("{:?} {:?}", learned.fitness, learned.skills);
    assert!(learned.fitness.p50 > 0.5, "{:?}", learned.fitness);
    plan.constitution.mind.learning = false;
    let (frozen, _) = lives::run(&plan, 2, |_| {}).unwrap();
    assert!(frozen.fitness.p50 < learned.fitness.p50, "{:?}", frozen.fitness);
}
