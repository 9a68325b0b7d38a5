//! Whether a market with signs has in it what was put there, where it was put, and nothing else.

use golem::time::Span;
use golem::world::Bar;

use super::*;
use crate::market::sim::{SimConfig, Simulation};
use crate::market::staged::tests::check_mean;
use crate::walk::Walk;

const RET_1: usize = 0;
const VOLUME_RATIO: usize = 10;
const GAS_RATIO: usize = 12;
const LIQUIDITY: usize = 13;

fn with(seed: u64, bps: u32, move_days: f64) -> SimConfig {
    SimConfig { seed, edge: Some(EdgeConfig { bps, move_days }), ..SimConfig::default() }
}

/// Bars, and the sign that led somewhere as each was made.
fn lived(config: SimConfig, count: usize) -> Vec<(Bar, Sign)> {
    let mut sim = Simulation::new(config).unwrap();
    let bars = (0..count).map(|_| {
        let leads = sim.truth().leads.unwrap();
        sim.advance();
        (sim.bar(), leads)
    });
    bars.collect()
}

/// Whether a golem can tell this sign by the instincts of its world.
fn tells(bar: &Bar, sign: Sign) -> bool {
    match sign {
        Sign::Volume => bar.features[VOLUME_RATIO] > 4.0,
        Sign::Gas => bar.features[GAS_RATIO] > 3.0,
        Sign::Depth => bar.features[LIQUIDITY] < 0.4,
    }
}

/// The return of holding for as long as a drift takes, after each bar that tells this sign and went up or down.
fn after(lived: &[(Bar, Sign)], sign: Sign, up: bool, led: bool) -> Vec<f64> {
    let ahead = DRIFT_BARS as usize;
    // Features need a while until they know what is usual.
    let told = (200..lived.len() - ahead).filter(|at| {
        let (bar, leads) = &lived[*at];
        tells(bar, sign) && (bar.features[RET_1] > 0.0) == up && (*leads == sign) == led
    });
    told.map(|at| lived[at + ahead].0.values[0] / lived[at].0.values[0] - 1.0).collect()
}

#[test]
fn one_sign_leads_as_far_as_the_edge_says_and_the_others_nowhere() {
    let mut held = [[Vec::new(), Vec::new()], [Vec::new(), Vec::new()]];
    for seed in 0..60 {
        let lived = lived(with(seed, 45, 3.0), 20_000);
        for sign in Sign::ALL {
            for (led, up) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                held[led][up].extend(after(&lived, sign, up == 1, led == 1));
            }
        }
    }
    check_mean(&held[0][0], 0.0, "after a fall that leads nowhere");
    check_mean(&held[0][1], 0.0, "after a rise that leads nowhere");
    for (up, edge) in [(0, -0.0045), (1, 0.0045)] {
        let mean = held[1][up].iter().sum::<f64>() / held[1][up].len() as f64;
        // Now and then gas or depth stand out by themselves, and nothing follows.
        assert!((0.7..1.1).contains(&(mean / edge)), "{mean:e} for {edge:e}, of {}", held[1][up].len());
    }
}

#[test]
fn signs_show_as_often_as_they_should_and_hardly_ever_by_themselves() {
    let (lives, count) = (40, 20_000);
    let told = |config: fn(u64) -> SimConfig, sign| {
        let of = |seed| {
            let mut sim = Simulation::new(config(seed)).unwrap();
            (0..count).filter(|_| (sim.advance(), tells(&sim.bar(), sign)).1).count()
        };
        (0..lives).map(of).sum::<usize>()
    };
    let expected = lives as f64 * count as f64 / BETWEEN_SIGNS;
    for (sign, most) in [(Sign::Volume, 0.02), (Sign::Gas, 0.35), (Sign::Depth, 0.35)] {
        let with = told(|seed| with(seed, 45, 0.0), sign) as f64;
        let without = told(|seed| SimConfig { seed, edge_bps: Some(0), ..SimConfig::default() }, sign) as f64;
        println!("{sign:?}: {with} for {expected}, {without} by themselves");
        assert!(without < most * expected, "{sign:?}: {without} of {expected} by themselves");
        assert!((0.9..1.2 + most).contains(&(with / expected)), "{sign:?}: {with} for {expected}");
    }
}

#[test]
fn the_edge_changes_nothing_but_the_drift() {
    let (fair, edge) = (lived(with(5, 0, 3.0), 20_000), lived(with(5, 45, 3.0), 20_000));
    let same = |feature: usize| fair.iter().zip(&edge).all(|(a, b)| a.0.features[feature] == b.0.features[feature]);
    assert!([VOLUME_RATIO, GAS_RATIO, LIQUIDITY].into_iter().all(same));
    let far = |(a, b): (&(Bar, Sign), &(Bar, Sign))| (a.0.features[RET_1] - b.0.features[RET_1]).abs();
    let most = fair.iter().zip(&edge).map(far).fold(0.0, f64::max);
    assert!((1.8e-4..6e-4).contains(&most), "{most}");
}

#[test]
fn a_market_with_signs_and_no_edge_leads_nowhere() {
    let mut every = Vec::new();
    for seed in 0..40 {
        every.extend(lived(with(seed, 0, 3.0), 20_000).iter().map(|(bar, _)| bar.features[RET_1]));
    }
    check_mean(&every, 0.0, "every return");
}

#[test]
fn the_edge_moves_to_another_sign_when_it_is_said_to_and_nothing_shows_it() {
    let bar = Span::seconds(40);
    for (seed, days) in [(1, 1.0), (2, 2.5), (3, 0.0)] {
        let lived = lived(with(seed, 45, days), 12 * 2_160);
        let moved: Vec<Time> = lived.windows(2).filter(|two| two[0].1 != two[1].1).map(|two| two[0].0.closed).collect();
        let edge = EdgeConfig { bps: 45, move_days: days };
        let mut said = moves(edge, bar.as_millis(), lived.len() as u64);
        // The last would be made by the bar after these.
        said.retain(|at| *at < lived[lived.len() - 1].0.closed);
        assert_eq!(moved, said);
        assert_eq!(moved.len(), if days > 0.0 { (11.9 / days) as usize } else { 0 });
    }
}

#[test]
fn every_sign_leads_somewhere_in_turn() {
    let mut sim = Simulation::new(with(9, 45, 1.0)).unwrap();
    let mut led = [0; 3];
    for _ in 0..60 * 2_160 {
        sim.advance();
        led[sim.truth().leads.unwrap() as usize] += 1;
    }
    assert!(led.iter().all(|bars| *bars > 8 * 2_160), "{led:?}");
}

#[test]
fn nonsense_is_refused() {
    let opened = |config: SimConfig| Simulation::new(config).map(|_| ()).map_err(|e| e.to_string());
    assert_eq!(opened(with(1, 45, 0.0)), Ok(()));
    assert_eq!(opened(with(1, 1_001, 0.0)).unwrap_err(), "edge_bps must be at most 1000");
    for days in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(opened(with(1, 45, days)).unwrap_err(), "move_days must be a number of days, 0 for never");
    }
}
