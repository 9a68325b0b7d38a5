//! Every cause of death occurs, in configurations the documentation names, and takes those who deserve it. (Owners end lives
//! by command: the command line's own tests do that.) `just result deaths` lives as many as the book reports.

use std::collections::BTreeMap;

use golem::constitution::{Constitution, MindKind};
use golem::{Span, Usdc};
use lab::{Plan, lives};
use world::Spec;

fn deaths(flip_days: Option<f64>, change: impl FnOnce(&mut Constitution)) -> BTreeMap<String, u64> {
    let mut constitution = Constitution::bare();
    change(&mut constitution);
    let world = Spec::Sim { seed: 0, bar_ms: 40_000, relations_change_days: 0.0, edge_bps: None, flip_days };
    let (credit, capital) = (Usdc::dollars(10), Usdc::dollars(100));
    let (most_ticks, note_every) = (400_000, 5_000);
    let plan = Plan {
        version: lives::PLAN,
        lives: 12,
        seed: 9,
        world,
        constitution,
        credit,
        capital,
        most_ticks,
        note_every,
        disjoint: false,
        twin: 0,
        laws: None,
        generations: None,
        founder: None,
    };
    lives::run(&plan, 2, |_| {}).unwrap().0.deaths
}

fn full() -> bool {
    std::env::var_os("BARDO_FULL").is_some()
}

/// Who is what: whether it goes on learning when the world turns after a day, what it has to live on, how long it is watched.
struct Kind {
    name: &'static str,
    learns: bool,
    turns: bool,
    credit: Usdc,
    ticks: u64,
}

const KINDS: [Kind; 4] = [
    // Sure of what is no longer true, with all the money in the world.
    Kind { name: "hopeless", learns: false, turns: true, credit: Usdc::dollars(1_000), ticks: 20_000 },
    // As good as any, with money for four days.
    Kind { name: "starved", learns: true, turns: false, credit: Usdc::dollars(1), ticks: 20_000 },
    Kind { name: "ordinary", learns: true, turns: false, credit: Usdc::dollars(10), ticks: 20_000 },
    // It has something to know, and enough of everything.
    Kind { name: "lucky", learns: true, turns: true, credit: Usdc::dollars(1_000), ticks: 20_000 },
];

#[test]
fn each_dies_of_what_it_deserves_and_of_nothing_else_but_chance() {
    let lives = if full() { 1_000 } else { 30 };
    for kind in &KINDS {
        let mut constitution = Constitution::bare();
        let day = Span::DAY;
        constitution.mind.learn_until = (!kind.learns).then_some(day);
        // The lucky have a tide that never turns.
        let flip_days = kind.turns.then_some(if kind.learns { 10_000.0 } else { 1.0 });
        let world = Spec::Sim { seed: 0, bar_ms: 40_000, relations_change_days: 0.0, edge_bps: None, flip_days };
        let plan = Plan {
            version: lives::PLAN,
            lives,
            seed: 9_900,
            world,
            constitution,
            credit: kind.credit,
            capital: Usdc::dollars(100),
            most_ticks: kind.ticks,
            note_every: 5_000,
            disjoint: false,
            twin: 0,
            laws: None,
            generations: None,
            founder: None,
        };
        let (summary, outcomes) = lives::run(&plan, 2, |_| {}).unwrap();
        let of = |cause: &str| summary.deaths.get(cause).copied().unwrap_or(0) as f64 / lives as f64;
        println!("counted: deaths of the {}: {lives} lives, {:?}", kind.name, summary.deaths);
        assert!(outcomes.iter().all(|one| one.stranded == 0), "{}: what is not kept for dying goes back", kind.name);
        let (money, touch) = (of("economic"), of("epistemic_senescence"));
        match kind.name {
            "hopeless" => assert!(touch > 0.9 && money == 0.0, "{:?}", summary.deaths),
            "starved" => assert!(money > 0.9 && touch == 0.0, "{:?}", summary.deaths),
            _ => assert!(money == 0.0 && touch <= 0.01, "{:?}", summary.deaths),
        }
        assert_eq!(of("kill_switch"), 0.0, "{:?}", summary.deaths);
    }
}

#[test]
fn money_and_chance_end_ordinary_lives() {
    let deaths = deaths(None, |_| {});
    assert!(deaths["economic"] > 0 && deaths["stochastic"] > 0, "{deaths:?}");
}

#[test]
fn whoever_stops_learning_before_the_world_turns_loses_touch() {
    let deaths = deaths(Some(3.0), |c| c.mind.learn_until = Some(Span::DAY.times(3)));
    assert!(deaths["epistemic_senescence"] > 6, "{deaths:?}");
}

#[test]
fn a_tight_breaker_ends_whoever_acts_by_the_calendar() {
    let deaths = deaths(None, |c| {
        c.mind.kind = MindKind::Reflex;
        c.policy.max_drawdown_bps = 100;
    });
    assert!(deaths["kill_switch"] > 6, "{deaths:?}");
}
