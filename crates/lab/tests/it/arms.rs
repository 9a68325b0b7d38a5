//! Three arms: stressors off, only shown, and enforced, on the same paths. Not a test of which is better: a test that
//! they can be told apart only by what they do, and with `just full` the figures for the book.

use golem::constitution::{Constitution, StressMode};
use golem::{Span, Usdc};
use lab::arms::{self, Arms};
use lab::lives::PLAN;
use lab::{LifeOutcome, Plan};
use world::Spec;

const MODES: [(&str, StressMode); 3] =
    [("off", StressMode::Off), ("visible", StressMode::Visible), ("enforced", StressMode::Enforced)];

fn full() -> bool {
    std::env::var_os("BARDO_FULL").is_some()
}

fn plans(plan: &Plan) -> Vec<(String, Plan)> {
    let with = |mode| {
        let mut plan = plan.clone();
        plan.constitution.stress.mode = mode;
        plan
    };
    MODES.iter().map(|(name, mode)| ((*name).to_owned(), with(*mode))).collect()
}

fn sim(lives: u64, seed: u64, edge_bps: Option<u32>) -> Plan {
    Plan {
        version: PLAN,
        lives,
        seed,
        world: Spec::Sim { seed, bar_ms: 40_000, relations_change_days: 5.0, edge_bps, flip_days: None },
        constitution: Constitution::bare(),
        credit: Usdc::dollars(10),
        capital: Usdc::dollars(100),
        most_ticks: if full() { 400_000 } else { 20_000 },
        note_every: 5_000,
        disjoint: false,
        twin: 0,
        // What the book reports was measured under these.
        laws: Some(1),
        generations: None,
        founder: None,
    }
}

fn print(title: &str, arms: &Arms) {
    println!("\n{title}, {} paths\n| | {} |", arms.paths, arms.names.join(" | "));
    for (measure, cells) in &arms.rows {
        let cells: Vec<&arms::Cell> = cells.iter().flatten().collect();
        let others = cells[1..].iter().map(|c| format!("{:+.4} ({:+.4} to {:+.4})", c.difference, c.low, c.high));
        println!("| {measure} | {:.4} | {} |", cells[0].mean, others.collect::<Vec<_>>().join(" | "));
    }
}

fn of<'a>(arms: &'a Arms, measure: &str) -> Vec<&'a arms::Cell> {
    arms.rows.iter().find(|(name, _)| name == measure).unwrap().1.iter().flatten().collect()
}

#[test]
fn what_is_only_shown_changes_nothing_and_what_is_enforced_closes_something() {
    let outcomes = arms::live(&plans(&sim(if full() { 200 } else { 30 }, 90, None)), 2, |_| {}).unwrap();
    let arms = arms::compare(&outcomes);
    print("a simulated market whose relations change every five days", &arms);
    // Where nothing is enforced, the only trace is what is noted of the load, and the looking into itself.
    let (off, visible) = (&outcomes[0].1, &outcomes[1].1);
    let told =
        |o: &LifeOutcome| (o.ticks, o.fitness.to_bits(), o.returned.map(f64::to_bits), o.actions, o.ending.clone());
    assert_eq!(off.iter().map(told).collect::<Vec<_>>(), visible.iter().map(told).collect::<Vec<_>>());
    assert_eq!(of(&arms, "load, on average")[0].mean, 0.0, "off is off");
    assert!(of(&arms, "load, on average")[1].mean > 0.01, "something presses");
    assert!(of(&arms, "ticks constrained")[2].mean > 0.0);
    // Load says something: who carries more of it knows less of the world.
    let alike = rank_correlation(visible.iter().map(|o| (o.load, o.fitness)));
    println!("load and skill, by rank over {} lives: {alike:+.2}", visible.len());
    assert!(alike < -0.2, "{alike}");
}

/// Spearman's, from −1 to 1.
fn rank_correlation(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let ranks = |values: &[f64]| -> Vec<f64> {
        let rank = |v: &f64| {
            values.iter().filter(|w| *w < v).count() as f64 + values.iter().filter(|w| *w == v).count() as f64 / 2.0
        };
        values.iter().map(rank).collect()
    };
    let (a, b, n) = (ranks(&a), ranks(&b), a.len() as f64);
    let mean = |v: &[f64]| v.iter().sum::<f64>() / n;
    let (ma, mb) = (mean(&a), mean(&b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(&b).map(|(x, y)| f(x - ma, y - mb)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

/// Where something can be earned, enforcing may cost or save a little; a tenth of a tenth of the capital either way would
/// be another result than the one the book reports.
#[test]
fn arms_in_a_market_with_an_edge_to_find() {
    let (lives, ticks) = if full() { (200, 400_000) } else { (12, 20_000) };
    let plan = Plan { most_ticks: ticks, ..sim(lives, 91, Some(45)) };
    let outcomes = arms::live(&plans(&plan), 2, |_| {}).unwrap();
    let arms = arms::compare(&outcomes);
    print("a fair market with an edge of 45 basis points planted", &arms);
    let (returns, falls) = (of(&arms, "return"), of(&arms, "deepest fall"));
    assert!(returns[0].mean > 0.005, "the edge is found: {:?}", returns[0]);
    assert!(returns[2].difference.abs() < 0.01, "enforcing costs little here: {:?}", returns[2]);
    assert!(falls[2].difference < 0.002, "and makes no fall deeper: {:?}", falls[2]);
    assert_eq!((returns[1].difference, falls[1].difference), (0.0, 0.0), "what is only shown changes nothing");
}

/// Quarters of real hours that share no bar; the unit is the window.
#[test]
fn arms_on_real_hours() {
    let Some(files) = crate::common::hours_of(&["eth", "btc", "link"]) else { return };
    let mut pooled: Vec<(String, Vec<LifeOutcome>)> =
        MODES.iter().map(|(name, _)| ((*name).to_owned(), vec![])).collect();
    for file in files {
        let bars = world::Candles::read(&file).unwrap().0.bars().len() as u64;
        let window = 24 * 90;
        let plan = Plan {
            world: Spec::Replay { path: file, start: None, sha256: None },
            lives: if full() { bars / window } else { 3 },
            most_ticks: window,
            disjoint: true,
            twin: 0,
            // What the book reports was measured under these.
            laws: Some(1),
            constitution: Constitution { interval: Span::seconds(3_600), ..Constitution::bare() },
            credit: Usdc::dollars(30),
            ..sim(0, 92, None)
        };
        for (all, (_, more)) in pooled.iter_mut().zip(arms::live(&plans(&plan), 2, |_| {}).unwrap()) {
            all.1.extend(more);
        }
    }
    let arms = arms::compare(&pooled);
    print("quarters of hourly ETH, BTC and LINK", &arms);
    assert!(arms.paths >= 9);
}
