//! Sums, peaks and means of the last numbers, at the same small cost for any size of window.
//!
//! Nothing is ever subtracted from a sum, so nothing drifts: a window is the numbers since the last full turn, joined
//! with the rest of the turn before.

use std::marker::PhantomData;

/// A way to join two numbers into one, in which grouping does not matter.
pub(crate) trait Join {
    const NOTHING: f64;

    fn join(a: f64, b: f64) -> f64;
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Total;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Peak;

impl Join for Total {
    const NOTHING: f64 = 0.0;

    fn join(a: f64, b: f64) -> f64 {
        a + b
    }
}

impl Join for Peak {
    const NOTHING: f64 = f64::NEG_INFINITY;

    fn join(a: f64, b: f64) -> f64 {
        if a > b { a } else { b }
    }
}

/// The last `N` numbers, joined.
#[derive(Clone, Debug)]
pub(crate) struct Window<J, const N: usize> {
    /// Before `at` the numbers of this turn; from there on, for each place, the rest of the last turn, joined.
    ring: [f64; N],
    at: usize,
    /// This turn's numbers, joined.
    turn: f64,
    how: PhantomData<J>,
}

impl<J: Join, const N: usize> Window<J, N> {
    pub(crate) fn new() -> Window<J, N> {
        Window { ring: [J::NOTHING; N], at: 0, turn: J::NOTHING, how: PhantomData }
    }

    pub(crate) fn push(&mut self, number: f64) {
        self.ring[self.at] = number;
        self.turn = J::join(self.turn, number);
        self.at += 1;
        if self.at == N {
            for at in (0..N - 1).rev() {
                self.ring[at] = J::join(self.ring[at], self.ring[at + 1]);
            }
            self.at = 0;
            self.turn = J::NOTHING;
        }
    }

    pub(crate) fn joined(&self) -> f64 {
        J::join(self.turn, self.ring[self.at])
    }
}

/// A mean that forgets slowly; the plain mean as long as there are few numbers.
#[derive(Clone, Debug)]
pub(crate) struct Slow {
    mean: f64,
    count: f64,
    memory: f64,
}

impl Slow {
    pub(crate) fn new(memory: f64) -> Slow {
        Slow { mean: 0.0, count: 0.0, memory }
    }

    pub(crate) fn push(&mut self, number: f64) {
        self.count = (self.count + 1.0).min(self.memory);
        self.mean += (number - self.mean) / self.count;
    }

    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// How many times the mean this is; one where there is nothing to compare with.
    pub(crate) fn ratio(&self, number: f64) -> f64 {
        if self.mean > 0.0 { number / self.mean } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    #[test]
    fn a_window_joins_exactly_the_last_numbers_and_forgets_a_giant_without_a_trace() {
        let mut chance = Chance::new(8, 0);
        let (mut sum, mut peak) = (Window::<Total, 24>::new(), Window::<Peak, 24>::new());
        let mut numbers = Vec::new();
        for at in 0..100_000 {
            let number = if at % 997 == 5 { 1e12 } else { 1e-9 * chance.uniform() };
            numbers.push(number);
            sum.push(number);
            peak.push(number);
            let last = &numbers[numbers.len().saturating_sub(24)..];
            let naive: f64 = last.iter().sum();
            assert!((sum.joined() - naive).abs() <= 1e-14 * naive, "{at}: {} {naive}", sum.joined());
            assert_eq!(peak.joined(), last.iter().copied().fold(0.0, f64::max));
        }
    }

    #[test]
    fn a_slow_mean_is_a_plain_mean_first_and_follows_later() {
        let mut slow = Slow::new(10.0);
        assert_eq!(slow.ratio(5.0), 1.0);
        for number in [1.0, 2.0, 6.0] {
            slow.push(number);
        }
        assert_eq!(slow.ratio(6.0), 2.0);
        for _ in 0..200 {
            slow.push(50.0);
        }
        assert!((slow.ratio(50.0) - 1.0).abs() < 1e-6);
    }
}
