//! Whether a staged market has in it what was put there, and nothing else.

use golem::time::Span;
use golem::world::Bar;

use super::*;
use crate::Regime;
use crate::market::sim::{SimConfig, Simulation};
use crate::walk::Walk;

const RET_1: usize = 0;
const VOL_24: usize = 4;
const VOL_RATIO: usize = 6;
const VOLUME_RATIO: usize = 10;
const GAS: usize = 11;
const GAS_RATIO: usize = 12;

fn bars(config: SimConfig, count: usize) -> Vec<Bar> {
    let mut sim = Simulation::new(config).unwrap();
    let bars = (0..count).map(|_| {
        sim.advance();
        sim.bar()
    });
    bars.collect()
}

fn fair(seed: u64, edge_bps: u32) -> SimConfig {
    SimConfig { seed, edge_bps: Some(edge_bps), ..SimConfig::default() }
}

/// Mean and its standard error.
fn mean(of: &[f64]) -> (f64, f64) {
    let n = of.len() as f64;
    let mean = of.iter().sum::<f64>() / n;
    let variance = of.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, libm::sqrt(variance / n))
}

pub(crate) fn check_mean(of: &[f64], expected: f64, what: &str) {
    let (mean, error) = mean(of);
    assert!((mean - expected).abs() < 3.0 * error, "{what}: {mean:e} ± {error:e} for {expected:e}");
}

/// The returns of holding after each burst upwards and after each downwards.
fn after_bursts(config: SimConfig, count: usize) -> [Vec<f64>; 2] {
    let mut sim = Simulation::new(config).unwrap();
    let (mut prices, mut bursts) = (Vec::new(), Vec::new());
    let mut drifted = false;
    for at in 0..count {
        sim.advance();
        prices.push(sim.bar().values[0]);
        let drift = sim.truth().expected_return;
        if drift != 0.0 && !drifted {
            bursts.push((at, drift > 0.0));
        }
        drifted = drift != 0.0;
    }
    let held = |up: bool| {
        let of = bursts.iter().filter(|(at, way)| *way == up && at + 24 < count);
        of.map(|(at, _)| prices[at + 24] / prices[*at] - 1.0).collect()
    };
    [held(true), held(false)]
}

#[test]
fn a_fair_market_leads_nowhere() {
    for edge in [0, 45] {
        let (mut every, mut same_way) = (Vec::new(), Vec::new());
        for seed in 0..40 {
            let bars = bars(fair(seed, edge), 20_000);
            every.extend(bars.iter().map(|bar| bar.features[RET_1]));
            same_way.extend(bars.windows(2).map(|two| two[0].features[RET_1].signum() * two[1].features[RET_1]));
        }
        check_mean(&every, 0.0, "every return");
        if edge == 0 {
            check_mean(&same_way, 0.0, "going on the same way");
        }
    }
}

#[test]
fn a_burst_leads_as_far_as_its_edge_and_can_be_seen() {
    let (mut ups, mut downs, lives, count) = (Vec::new(), Vec::new(), 40, 20_000);
    for seed in 0..lives {
        let [up, down] = after_bursts(fair(seed, 45), count);
        ups.extend(up);
        downs.extend(down);
    }
    check_mean(&ups, 0.0045, "after a burst upwards");
    check_mean(&downs, -0.0045, "after a burst downwards");
    let bursts = ups.len() + downs.len();
    let between = lives as f64 * count as f64 / bursts as f64;
    assert!((140.0..160.0).contains(&between), "a burst in {between} bars");

    let loud = |edge| {
        let loud = |bar: &&Bar| bar.features[VOLUME_RATIO] > 4.0;
        (0..lives).map(|seed| bars(fair(seed, edge), count).iter().skip(200).filter(loud).count()).sum::<usize>()
    };
    assert!(loud(0) < bursts / 100, "{} that were not planted", loud(0));
    assert!((bursts * 97 / 100..bursts * 103 / 100).contains(&loud(45)), "{} of {bursts}", loud(45));
}

#[test]
fn an_edge_changes_nothing_but_what_follows_from_its_bursts() {
    let (without, with) = (bars(fair(5, 0), 2_000), bars(fair(5, 45), 2_000));
    let first = with.iter().position(|bar| bar.features[VOLUME_RATIO] > 3.0).unwrap();
    assert_eq!(without[..first], with[..first]);
    assert!(without.iter().zip(&with).all(|(a, b)| a.features[GAS] == b.features[GAS]));
}

/// How far off the last value is so many bars later, and what part of being above the usual goes on: minus two
/// where it turns into its opposite, nothing where it stays.
fn relation(bars: &[Bar], value: usize, ratio: usize, ahead: usize) -> (f64, f64) {
    let log = |bar: &Bar, feature: usize| libm::log(bar.features[feature]);
    let (mut miss, mut both, mut own) = (0.0, 0.0, 0.0);
    for (now, then) in bars.iter().zip(&bars[ahead..]) {
        let (change, above) = (log(then, value) - log(now, value), log(now, ratio));
        miss += change.abs() / (bars.len() - ahead) as f64;
        both += change * above;
        own += above * above;
    }
    (miss, both / own)
}

#[test]
fn before_the_flip_what_was_turns_back_and_from_then_on_it_goes_on() {
    let flip = 3 * 2_160;
    for seed in 0..10 {
        let bars = bars(SimConfig { seed, flip_days: Some(3.0), ..SimConfig::default() }, 2 * flip);
        for (value, ratio, ahead) in [(VOL_24, VOL_RATIO, 24), (GAS, GAS_RATIO, 1)] {
            let (before, turned) = relation(&bars[200..flip], value, ratio, ahead);
            let (after, went_on) = relation(&bars[flip + 200..], value, ratio, ahead);
            assert!(turned < -0.6 && went_on > turned + 0.4, "seed {seed}, feature {value}: {turned:.2} {went_on:.2}");
            assert!(after < before * 0.75, "seed {seed}, feature {value}: {before:.2} {after:.2}");
        }
    }
}

#[test]
fn only_the_tide_turns() {
    let config = SimConfig { flip_days: Some(3.0), ..SimConfig::default() };
    let mut sim = Simulation::new(config).unwrap();
    let relations = sim.truth().relations;
    for _ in 0..50_000 {
        sim.advance();
        assert_eq!((sim.truth().regime, sim.truth().relations), (Regime::Calm, relations));
    }
}

#[test]
fn nothing_leaps_at_the_flip() {
    let tide = Tide::new(1_000.0);
    let steps = |from: u32, to: u32| {
        let swing = |bar: u32| tide.at(f64::from(bar)).volatility;
        (from..to).map(|bar| (swing(bar + 1) - swing(bar)).abs()).fold(0.0, f64::max)
    };
    assert!(steps(990, 1_010) <= steps(0, 900) + 1e-12);
    assert!(steps(1_000, 9_000) < steps(0, 900) / 3.9);
    assert_eq!(tide.at(0.0), Swing { volatility: 0.0, gas: GAS_SWING });
    assert_eq!(tide.at(1.0).gas, -GAS_SWING);
}

#[test]
fn experiments_that_would_blur_each_other_are_refused() {
    let opened = |config: SimConfig| Simulation::new(config).map(|_| ()).map_err(|e| e.to_string());
    let tide = SimConfig { flip_days: Some(2.0), bar: Span::seconds(40), ..SimConfig::default() };
    assert_eq!(opened(tide), Ok(()));
    assert_eq!(opened(SimConfig { edge_bps: Some(45), ..tide }), Ok(()));
    let both = opened(SimConfig { relations_change_days: 1.0, ..tide });
    assert_eq!(both.unwrap_err(), "relations_change_days must be 0 where flip_days is set");
    assert!(opened(SimConfig { flip_days: Some(f64::NAN), ..tide }).is_err());
    assert!(opened(SimConfig { flip_days: Some(-1.0), ..tide }).is_err());
    assert!(opened(fair(1, 1_001)).is_err());
}
