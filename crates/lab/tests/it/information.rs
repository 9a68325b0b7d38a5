//! Whether bits warn before the clock does: lives that stop learning when the world turns, and those that never stop.
//! `just result information` lives as many as the book reports.

use crate::common::{full, rehearsal};
use golem::Usdc;
use golem::constitution::{Clocks, Constitution};
use golem::information::{ClaimLog, Sign};
use golem::time::Span;
use world::{Ledger, Spec};

const TURN: u64 = 6_000;

/// The tick of the first sign, and of the clock's own first warning, after the turn; and signs before it.
struct Told {
    sign: Option<u64>,
    clock: Option<u64>,
    early: u64,
    before: f64,
    after: f64,
}

fn lived(seed: u64, turns: bool, learns: bool, ticks: u64) -> Told {
    let tick = Span::seconds(40);
    let flip = Some(tick.times(if turns { TURN } else { 1_000_000 }).as_millis() as f64 / 86_400_000.0);
    let spec = Spec::Sim { seed, bar_ms: 40_000, relations_change_days: 0.0, edge_bps: None, flip_days: flip };
    let world = spec.open(Ledger::memory()).unwrap();
    let clocks = Clocks { economic: false, epistemic: true, stochastic: false };
    let mut constitution = Constitution { clocks, ..Constitution::bare() };
    constitution.dream.enabled = false;
    constitution.mind.learn_until = (!learns).then(|| tick.times(TURN));
    let (mut life, mut heard) = (rehearsal("bits", seed, world, constitution, Usdc::dollars(10)), ClaimLog::default());
    let mut told = Told { sign: None, clock: None, early: 0, before: 0.0, after: 0.0 };
    while life.life().tick() < ticks && !life.life().is_dead() {
        let known = heard.windows.len();
        life.tick(&mut |record, life| heard.hear(record, life)).unwrap();
        let now = life.life().tick();
        if heard.windows.len() > known && heard.sign() == Some(Sign::Decoupled) {
            if now > TURN {
                told.sign = told.sign.or(Some(now));
            } else {
                told.early += 1;
            }
        }
        if now > TURN && life.life().epistemic().declining_since.is_some() {
            told.clock = told.clock.or(Some(now));
        }
    }
    let bits = |from: u64, to: u64| {
        let some: Vec<f64> =
            heard.windows.iter().filter(|window| (from..to).contains(&window.tick)).map(|window| window.bits).collect();
        some.iter().sum::<f64>() / some.len().max(1) as f64
    };
    (told.before, told.after) = (bits(TURN / 2, TURN + 1), bits(TURN + 1_000, ticks + 1));
    told
}

#[test]
fn bits_and_the_clock_in_lives_that_lose_touch() {
    let (lives, ticks) = if full() { (200, 12_000) } else { (6, 9_000) };
    for (name, turns, learns) in [
        ("stops learning as the world turns", true, false),
        ("learns on", true, true),
        ("stops, and nothing turns", false, false),
    ] {
        let all: Vec<Told> = (0..lives).map(|n| lived(9_800 + n, turns, learns, ticks)).collect();
        let median = |of: &dyn Fn(&Told) -> Option<f64>| {
            let mut some: Vec<f64> = all.iter().filter_map(of).collect();
            some.sort_by(f64::total_cmp);
            some.get(some.len() / 2).copied()
        };
        let after = |tick: Option<u64>| tick.map(|tick| (tick - TURN) as f64);
        let signs = all.iter().filter(|told| told.sign.is_some()).count();
        let clocks = all.iter().filter(|told| told.clock.is_some()).count();
        let sooner =
            all.iter().filter(|told| told.sign.is_some_and(|sign| told.clock.is_none_or(|clock| sign < clock)));
        println!(
            "counted: information, {name}: {lives} lives, median bits {:.3} before and {:.3} after; decoupled in {signs}, {:?} ticks after the turn; the clock warned in {clocks}, {:?} after it; bits were sooner in {}; {} signs before the turn",
            median(&|told| Some(told.before)).unwrap(),
            median(&|told| Some(told.after)).unwrap(),
            median(&|told| after(told.sign)),
            median(&|told| after(told.clock)),
            sooner.count(),
            all.iter().map(|told| told.early).sum::<u64>()
        );
        // Who knew something says more about what comes than who has lost it.
        if turns && !learns {
            assert!(median(&|told| Some(told.before)) > median(&|told| Some(told.after)));
        }
    }
}
