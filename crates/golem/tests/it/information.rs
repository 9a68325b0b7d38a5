//! Mutual information, held against another implementation of the same estimate and against what is known exactly.

use crate::common::Dice;
use golem::information::{NEIGHBOURS, Sign, WINDOW, mutual, sign};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    name: String,
    k: usize,
    bits: f64,
    pairs: Vec<(f64, f64)>,
}

#[test]
fn it_is_what_the_reference_says() {
    let all: Vec<Fixture> = serde_json::from_str(include_str!("../fixtures/information.json")).unwrap();
    assert_eq!(all.len(), 12);
    for fixture in &all {
        let bits = mutual(&fixture.pairs, fixture.k).unwrap();
        let off = (bits - fixture.bits).abs();
        assert!(off < 1e-6, "{} with {} neighbours: {bits} and not {}", fixture.name, fixture.k, fixture.bits);
    }
}

/// Two numbers that go together as far as said.
fn normal(count: usize, correlation: f64, seed: u64) -> Vec<(f64, f64)> {
    let mut dice = Dice(seed);
    let mut gauss = || (0..12).map(|_| dice.chance()).sum::<f64>() - 6.0;
    let rest = (1.0 - correlation * correlation).sqrt();
    (0..count)
        .map(|_| {
            let x = gauss();
            (x, correlation * x + rest * gauss())
        })
        .collect()
}

#[test]
fn it_comes_near_what_is_known_exactly_and_nothing_is_next_to_nothing() {
    for correlation in [0.0, 0.3, 0.6, 0.9] {
        let exact = -0.5 * libm::log2(1.0 - correlation * correlation);
        let told: Vec<f64> =
            (0..20).map(|seed| mutual(&normal(WINDOW, correlation, seed), NEIGHBOURS).unwrap()).collect();
        let mean = told.iter().sum::<f64>() / told.len() as f64;
        assert!((mean - exact).abs() < 0.05, "{correlation}: {mean:.3} of {exact:.3} bits");
    }
    assert_eq!(mutual(&normal(40, 0.9, 1), NEIGHBOURS), None, "too few");
    let still: Vec<(f64, f64)> = (0..200).map(|n| (0.0, f64::from(n))).collect();
    assert_eq!(mutual(&still, NEIGHBOURS), Some(0.0), "who says nothing knows nothing");
    let broken: Vec<(f64, f64)> = (0..200).map(|n| (f64::NAN, f64::from(n))).collect();
    assert_eq!(mutual(&broken, NEIGHBOURS), None);
}

#[test]
fn losing_what_it_had_is_a_sign_and_never_having_had_it_is_none() {
    assert_eq!(sign(&[0.4, 0.5, 0.05], 0.7), Some(Sign::Decoupled));
    assert_eq!(sign(&[0.4, 0.5, 0.12], 0.7), Some(Sign::Overfitted), "three times as much before");
    assert_eq!(sign(&[0.4, 0.5, 0.05], 0.4), Some(Sign::Overfitted), "whoever looks unwell is not taken for well");
    assert_eq!(sign(&[0.4, 0.5, 0.4], 0.7), None);
    assert_eq!(sign(&[0.02, 0.01, 0.0], 0.7), None, "there was nothing to lose");
    assert_eq!(sign(&[0.4], 0.7), None);
    assert_eq!(sign(&[], 0.7), None);
}
