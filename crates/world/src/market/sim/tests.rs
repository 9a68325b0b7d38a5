//! Whether the simulated market is what it says it is, measured against its own ground truth.

use golem::limits;
use golem::world::Observation;

use super::*;
use crate::market::YEAR_MS;
use crate::{World, walk};

fn sim(seed: u64, bar: Span, relations_change_days: f64) -> Simulation {
    Simulation::new(SimConfig { seed, bar, relations_change_days, ..SimConfig::default() }).unwrap()
}

/// Every bar's truth beforehand and the return it then made.
fn lived(sim: &mut Simulation, bars: u32) -> Vec<(Truth, f64)> {
    (0..bars)
        .map(|_| {
            let (truth, price) = (sim.truth(), sim.state.price);
            sim.advance();
            (truth, sim.state.price / price - 1.0)
        })
        .collect()
}

fn yearly_volatility(returns: &[f64], bar: Span) -> f64 {
    let squares = returns.iter().map(|r| r * r).sum::<f64>() / returns.len() as f64;
    libm::sqrt(squares * YEAR_MS / bar.as_millis() as f64)
}

fn lag_one(returns: &[f64]) -> f64 {
    let products: f64 = returns.windows(2).map(|pair| pair[0] * pair[1]).sum();
    products / returns.iter().map(|r| r * r).sum::<f64>()
}

#[test]
fn each_regime_is_as_volatile_as_it_should_be_whatever_the_bar() {
    for bar in [Span::seconds(40), Span::seconds(300), Span::seconds(3_600)] {
        let mut returns = vec![Vec::new(); 5];
        for seed in 0..4 {
            for (truth, change) in lived(&mut sim(seed, bar, 3.0), 200_000) {
                returns[truth.regime as usize].push(change);
            }
        }
        let measured: Vec<f64> = returns.iter().map(|r| yearly_volatility(r, bar)).collect();
        for (regime, measured) in Regime::ALL.into_iter().zip(&measured) {
            let level = regime.levels().volatility;
            // A regime inherits the volatility it begins with and jumps and momentum add to its own.
            assert!((0.8..1.5).contains(&(measured / level)), "{regime} at {bar}: {measured:.2} for {level:.2}");
        }
        assert!(measured.is_sorted(), "{bar}: {measured:?}");
    }
}

#[test]
fn regimes_take_the_shares_their_chain_gives_them() {
    let mut visits = [0.2; 5];
    for _ in 0..1_000 {
        let mut next = [0.0; 5];
        for (regime, share) in Regime::ALL.into_iter().zip(visits) {
            for (to, odds) in next.iter_mut().zip(regime.onward()) {
                *to += share * odds;
            }
        }
        visits = next;
    }
    let days: Vec<f64> = Regime::ALL.into_iter().zip(visits).map(|(r, share)| share * r.levels().days).collect();
    let total: f64 = days.iter().sum();

    let mut seen = [0.0; 5];
    let (lives, hours) = (8, 200_000);
    for seed in 0..lives {
        for (truth, _) in lived(&mut sim(seed, Span::seconds(3_600), 0.0), hours) {
            seen[truth.regime as usize] += 1.0 / f64::from(hours) / lives as f64;
        }
    }
    for (regime, seen) in Regime::ALL.into_iter().zip(seen) {
        let expected = days[regime as usize] / total;
        assert!((seen / expected - 1.0).abs() < 0.12, "{regime}: {seen:.3} for {expected:.3}");
    }
}

#[test]
fn the_expected_return_is_the_return_to_expect() {
    for seed in 0..4 {
        let bars = lived(&mut sim(seed, Span::seconds(40), 1.0), 300_000);
        let scaled =
            |(truth, change): &(Truth, f64)| (truth.expected_return / truth.deviation, change / truth.deviation);
        let (mut both, mut own) = (0.0, 0.0);
        for (expected, change) in bars.iter().map(scaled) {
            both += expected * change;
            own += expected * expected;
        }
        let slope = both / own;
        assert!((slope - 1.0).abs() < 0.05, "seed {seed}: {slope}");
    }
}

#[test]
fn returns_echo_the_way_the_relations_say() {
    for seed in 0..12 {
        let mut sim = sim(seed, Span::seconds(40), 0.0);
        let momentum = sim.truth().relations.momentum;
        let returns: Vec<f64> = lived(&mut sim, 100_000).into_iter().map(|(_, change)| change).collect();
        // Choppy stretches pull down by a tenth and trends push up by half of that.
        let measured = lag_one(&returns);
        assert!((measured - momentum).abs() < 0.12, "seed {seed}: {measured:.3} for {momentum:.3}");
    }
}

#[test]
fn relations_never_change_at_zero_and_change_as_often_as_asked_otherwise() {
    let changes = |days: f64| {
        let bars = lived(&mut sim(5, Span::seconds(3_600), days), 24 * 2_000);
        let relations: Vec<Relations> = bars.iter().map(|(truth, _)| truth.relations).collect();
        let flips = relations.windows(2).filter(|w| w[0].momentum * w[1].momentum < 0.0).count();
        (relations.windows(2).filter(|w| w[0] != w[1]).count(), flips)
    };
    assert_eq!(changes(0.0), (0, 0));
    let (changed, flipped) = changes(10.0);
    assert!((150..250).contains(&changed), "{changed}");
    assert!((changed / 3..changed * 2 / 3).contains(&flipped), "{flipped} of {changed}");
    let (often, _) = changes(2.0);
    assert!((850..1_150).contains(&often), "{often}");
}

#[test]
fn changing_relations_leave_the_regimes_as_they_were() {
    let regimes = |days| lived(&mut sim(3, Span::seconds(3_600), days), 5_000).into_iter().map(|(t, _)| t.regime);
    assert!(regimes(0.0).eq(regimes(1.0)));
}

#[test]
fn in_a_crisis_depth_dries_up_and_gas_rises() {
    let mut sim = sim(2, Span::seconds(3_600), 0.0);
    let mut means = [[0.0; 3]; 5];
    for _ in 0..100_000 {
        sim.advance();
        let mean = &mut means[sim.state.regime as usize];
        let gas = sim.bar().values[3];
        *mean = [mean[0] + 1.0, mean[1] + gas, mean[2] + sim.truth().depth];
    }
    let [calm, .., crisis] = means.map(|[n, gas, depth]| (gas / n, depth / n));
    assert!(crisis.0 > 2.0 * calm.0, "gas {crisis:?} {calm:?}");
    assert!(crisis.1 < calm.1 / 3.0, "depth {crisis:?} {calm:?}");
}

#[test]
fn a_hundred_years_leave_the_price_on_earth() {
    for seed in 0..8 {
        let mut sim = sim(seed, Span::DAY, 30.0);
        for _ in 0..36_525 {
            sim.advance();
            assert!((1.0..1e6).contains(&sim.state.price), "seed {seed}: {}", sim.state.price);
            let bar = sim.bar();
            assert!(bar.values.iter().chain(&bar.features).all(|v| v.is_finite()), "{bar:?}");
        }
    }
}

/// Features there were when these were recorded; what has come since stands after them.
const RECORDED: usize = 17;

#[test]
fn a_seed_means_the_same_market_everywhere() {
    let mut sim = sim(42, Span::seconds(40), 7.0);
    walk::seek(&mut sim, START + Span::DAY.times(30));
    let bar = sim.bar();
    let numbers = bar.values.iter().chain(&bar.features[..RECORDED]);
    let bits = numbers.fold(0, |sum, value| crate::chance::mix(sum ^ value.to_bits()));
    // Recorded once; a change here changes every simulated life ever recorded.
    assert_eq!((bar.unit, bits), (Usdc::micros(2_803_574_622), 13_242_318_693_595_719_865));
}

#[test]
fn every_bar_of_the_natural_market_is_as_it_always_was() {
    // Recorded before there were staged markets.
    for (seed, bar, days, recorded) in [
        (1, 40, 0.0, 1_391_147_412_535_908_167),
        (7, 300, 2.0, 15_339_225_381_851_024_465),
        (13, 3_600, 10.0, 8_213_350_918_417_707_535),
    ] {
        let mut sim = sim(seed, Span::seconds(bar), days);
        let mut bits = 0;
        for _ in 0..20_000 {
            sim.advance();
            let bar = sim.bar();
            let numbers = bar.values.iter().chain(&bar.features[..RECORDED]);
            bits = numbers.fold(bits, |sum, value| crate::chance::mix(sum ^ value.to_bits()));
        }
        assert_eq!(bits, recorded, "seed {seed}");
    }
}

#[test]
#[ignore = "a measurement: cargo test --release -p bardo-world -- --ignored --nocapture a_bar_costs"]
fn a_bar_costs() {
    let bars = 5_000_000_u64;
    let config = SimConfig { relations_change_days: 7.0, ..SimConfig::default() };
    let mut market = Sim::new(config, Ledger::memory()).unwrap();
    let began = std::time::Instant::now();
    market.seek(START + Span::seconds(40).times(bars)).unwrap();
    std::hint::black_box(market.model.bar());
    println!("walking: {} ns a bar", began.elapsed().as_nanos() as f64 / bars as f64);

    let mut market = Sim::new(config, Ledger::memory()).unwrap();
    let (mut since, mut told) = (START, Observation { bars: Vec::with_capacity(limits::BARS) });
    let began = std::time::Instant::now();
    for _ in 0..bars {
        told.bars.clear();
        market.observe(since, since + Span::seconds(40), &mut told).unwrap();
        since = std::hint::black_box(&told).bars[0].closed;
    }
    println!("observing one by one: {} ns a bar", began.elapsed().as_nanos() as f64 / bars as f64);
}
