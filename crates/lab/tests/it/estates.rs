//! What lives leave: how many are said to have changed little, and how much there is for the bottleneck to choose from.
//! `just result estates` lives as many as the book reports.

use crate::common::{full, rehearsal};
use golem::Usdc;
use golem::constitution::{Clocks, Constitution};
use golem::grimoire::{Kind, Status};
use golem::inheritance::Mandate;
use world::{Ledger, Spec};

struct Left {
    mandate: Mandate,
    candidates: usize,
    questions: usize,
    archived: usize,
}

/// A life of the default constitution in a market whose relations change, ended after so many ticks.
fn lived(seed: u64, ticks: u64) -> Left {
    let spec = Spec::Sim { seed, bar_ms: 40_000, relations_change_days: 3.0, edge_bps: None, flip_days: None };
    let world = spec.open(Ledger::memory()).unwrap();
    let clocks = Clocks { economic: false, epistemic: false, stochastic: false };
    let constitution = Constitution { clocks, ..Constitution::default() };
    let mut life = rehearsal("left", seed, world, constitution, Usdc::dollars(10));
    while life.life().tick() < ticks {
        life.tick(&mut |_, _| {}).unwrap();
    }
    let (grimoire, known) = (life.grimoire(), life.life());
    let unsettled = known.dreams().expired as u32;
    let mandate = Mandate::of(grimoire.entries(), unsettled, 0, &known.constitution().mandate);
    let kept = |status: bool| grimoire.entries().filter(|entry| (entry.status == Status::Archived) == status).count();
    let questions = grimoire.in_use().filter(|entry| entry.kind == Kind::Question).count();
    Left { mandate, candidates: kept(false), questions, archived: kept(true) }
}

#[test]
fn some_lives_change_little_and_some_do_not() {
    for (lives, ticks) in if full() { [(100, 20_000), (40, 60_000)] } else { [(4, 6_000), (2, 12_000)] } {
        let left: Vec<Left> = (0..lives).map(|n| lived(9_950 + n, ticks)).collect();
        let middle = |of: &dyn Fn(&Left) -> f64| {
            let mut all: Vec<f64> = left.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let low = left.iter().filter(|left| left.mandate.low_divergence).count();
        println!(
            "counted: estates after {ticks} ticks: {lives} lives, {low} changed little; in the median {} entries to choose from, {} of them questions ({:.0} % with what dreams left open), {} given up, {} novel",
            middle(&|left| left.candidates as f64),
            middle(&|left| left.questions as f64),
            100.0 * middle(&|left| left.mandate.questions),
            middle(&|left| left.archived as f64),
            middle(&|left| f64::from(left.mandate.novel)),
        );
        assert!(left.iter().all(|left| left.candidates > 10 && left.mandate.novel > 0));
    }
}
