//! Quantiles.

use lab::Quantiles;

#[test]
fn quantiles_are_values_that_occurred() {
    let of = |n: u32| Quantiles::of((1..=n).rev().map(f64::from));
    assert_eq!(of(100), Some(Quantiles { p05: 5.0, p50: 50.0, p95: 95.0 }));
    assert_eq!(of(1), Some(Quantiles { p05: 1.0, p50: 1.0, p95: 1.0 }));
    assert_eq!(of(0), None);
}
