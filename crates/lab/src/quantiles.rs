//! A distribution, by three of its quantiles.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantiles {
    pub p05: f64,
    pub p50: f64,
    pub p95: f64,
}

impl Quantiles {
    /// By nearest rank; none of nothing.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Quantiles> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let at = |share: f64| sorted[((share * n as f64).ceil() as usize).clamp(1, n) - 1];
        (n > 0).then(|| Quantiles { p05: at(0.05), p50: at(0.50), p95: at(0.95) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let of = |n: u32| Quantiles::of((1..=n).rev().map(f64::from));
        assert_eq!(of(100), Some(Quantiles { p05: 5.0, p50: 50.0, p95: 95.0 }));
        assert_eq!(of(1), Some(Quantiles { p05: 1.0, p50: 1.0, p95: 1.0 }));
        assert_eq!(of(0), None);
    }
}
