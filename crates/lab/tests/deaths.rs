//! Every cause of death occurs, in configurations the documentation names. (Owners end lives by command: the
//! command line's own tests do that.)

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
    };
    lives::run(&plan, 2, |_| {}).unwrap().0.deaths
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
