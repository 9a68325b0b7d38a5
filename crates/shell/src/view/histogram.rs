//! A histogram of durations, in few enough numbers to keep for ever.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts of durations, in steps of an eighth of themselves, from a microsecond to an hour.
#[derive(Debug)]
pub struct Histogram {
    counts: [AtomicU64; 256],
    micros: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: std::array::from_fn(|_| AtomicU64::new(0)), micros: AtomicU64::new(0) }
    }
}

impl Histogram {
    pub fn note(&self, duration: Duration) {
        let micros = duration.as_micros() as u64;
        self.counts[Histogram::slot(micros)].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    fn slot(micros: u64) -> usize {
        if micros < 8 {
            return micros as usize;
        }
        let octave = 63 - micros.leading_zeros() as usize;
        let eighth = (micros >> (octave - 3)) as usize & 7;
        (octave * 8 + eighth - 16).min(255)
    }

    fn upper(slot: usize) -> u64 {
        if slot < 8 {
            return slot as u64;
        }
        let (octave, eighth) = ((slot + 16) / 8, (slot + 16) % 8);
        ((8 + eighth as u64 + 1) << (octave - 3)) - 1
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    pub fn total(&self) -> Duration {
        Duration::from_micros(self.micros.load(Ordering::Relaxed))
    }

    /// How many took no longer than this.
    pub fn within(&self, duration: Duration) -> u64 {
        let last = Histogram::slot(duration.as_micros() as u64);
        self.counts[..=last].iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// The duration that this share of them stayed below.
    pub fn quantile(&self, share: f64) -> Duration {
        let mut left = (self.count() as f64 * share).ceil() as u64;
        for (slot, count) in self.counts.iter().enumerate() {
            let here = count.load(Ordering::Relaxed);
            if here >= left && left > 0 {
                return Duration::from_micros(Histogram::upper(slot));
            }
            left -= here.min(left);
        }
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_knows_its_quantiles_to_an_eighth() {
        let histogram = Histogram::default();
        for micros in 1..=100_000_u64 {
            histogram.note(Duration::from_micros(micros));
        }
        for (share, true_value) in [(0.5, 50_000.0), (0.99, 99_000.0), (0.001, 100.0)] {
            let said = histogram.quantile(share).as_micros() as f64;
            assert!((said / true_value - 1.0).abs() <= 0.13, "{share}: {said}");
        }
        assert_eq!(histogram.count(), 100_000);
        for micros in [0, 1, 7, 8, 9, 1_000, 123_456_789, u64::MAX] {
            let upper = Histogram::upper(Histogram::slot(micros));
            assert!(upper >= micros || Histogram::slot(micros) == 255, "{micros} {upper}");
        }
    }
}
