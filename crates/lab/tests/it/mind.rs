//! What the rule mind is worth, measured: in a simulated market and in the queue, on many paths.

use golem::constitution::{Clocks, Constitution, MindKind};
use golem::world::DomainSpec;
use golem::{Span, Usdc};
use lab::{Plan, lives};
use world::{Ledger, Spec};

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
        laws: None,
        generations: None,
        founder: None,
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
    let held: std::collections::BTreeSet<String> = outcomes.iter().map(|o| format!("{:.6}", o.held.unwrap())).collect();
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

/// The row that compared arms by their skill over whole lives was the mean of notes taken every 5,000 ticks. Lives shorter
/// than that had none and were said to be exactly as good as naive, with certainty, where they were three per cent worse.
#[test]
fn skill_over_a_whole_life_counts_every_claim_however_often_notes_are_taken() {
    let sim = Spec::Sim { seed: 0, bar_ms: 40_000, relations_change_days: 1.0, edge_bps: None, flip_days: None };
    let domains = sim.clone().open(Ledger::memory()).unwrap().manifest().domains;
    let noted = |note_every, kind| {
        let mut plan = Plan { note_every, ..plan(sim.clone(), 3, 1_200) };
        plan.constitution.mind.kind = kind;
        plan.constitution.reflex.pull = 0.5;
        plan.constitution.epistemic.window = 1_000_000_000;
        lives::run(&plan, 2, |_| {}).unwrap()
    };
    for kind in [MindKind::Rules, MindKind::Reflex] {
        let (seldom, often) = (noted(5_000, kind).1, noted(1, kind).1);
        for (seldom, often) in seldom.iter().zip(&often) {
            let skill = seldom.skill.expect("claims came due");
            assert_eq!(seldom.skill, often.skill, "notes change nothing");
            // Nothing fades here, so what the life itself keeps of its errors is all of them.
            let kept = |spec: &DomainSpec| Some((spec.weight, seldom.skills[&spec.name]?));
            let kept: Vec<(f64, f64)> = domains.iter().filter_map(kept).collect();
            let expected = kept.iter().map(|(weight, skill)| weight * skill).sum::<f64>()
                / kept.iter().map(|(weight, _)| weight).sum::<f64>();
            assert!((skill - expected).abs() < 1e-3 && skill.abs() > 1e-6, "{skill} and not {expected}");
        }
    }
    let (summary, none) = lives::run(&plan(sim, 3, 1), 1, |_| {}).unwrap();
    assert!(none.iter().all(|life| life.skill.is_none()), "nothing can come due in one tick");
    assert_eq!((summary.skill, summary.skills["direction"]), (None, None));
}
