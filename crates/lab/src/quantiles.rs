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
