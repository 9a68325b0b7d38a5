//! Seeded chance, the same on every machine and cheap enough to make a world bar by bar from its first
//! day. Normals are counted, not computed: the ones among 64 fair bits are as good as a bell curve out to
//! five deviations, and cost no transcendental.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The ones among 64 bits vary by 16, the uniform fraction that fills the steps by a twelfth.
const ONE_OVER_DEVIATION: f64 = 0.249_351_490_477_014_83;

#[derive(Clone, Debug)]
pub(crate) struct Chance(Xoshiro256PlusPlus);

impl Chance {
    /// Streams of one seed are independent, so drawing more of one leaves the others as they were.
    pub(crate) fn new(seed: u64, stream: u64) -> Chance {
        Chance(Xoshiro256PlusPlus::seed_from_u64(mix(mix(seed).wrapping_add(stream))))
    }

    /// A uniform number in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        fraction(self.0.next_u64())
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// A size between `low` and `high`, either way.
    pub(crate) fn either_way(&mut self, low: f64, high: f64) -> f64 {
        let size = self.between(low, high);
        if self.0.next_u64() >> 63 == 0 { size } else { -size }
    }

    /// Waiting time with mean one.
    pub(crate) fn wait(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }

    pub(crate) fn happens(&mut self, odds: Odds) -> bool {
        self.0.next_u64() < odds.0
    }

    /// Independent normals of mean zero and deviation one; at most five share the bits of their fractions.
    pub(crate) fn normals<const N: usize>(&mut self) -> [f64; N] {
        const { assert!(N <= 5) };
        let mut fine = self.0.next_u64();
        std::array::from_fn(|_| {
            let ones = f64::from(self.0.next_u64().count_ones());
            let step = ((fine & 0xfff) as f64 + 0.5) / 4096.0 - 0.5;
            fine >>= 12;
            (ones - 32.0 + step) * ONE_OVER_DEVIATION
        })
    }
}

/// A probability, ready to be held against 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Odds(u64);

impl Odds {
    pub(crate) fn new(probability: f64) -> Odds {
        // The conversion saturates, so anything above one is as good as certain.
        Odds((probability * 18_446_744_073_709_551_616.0) as u64)
    }
}

/// Scatters a number over all 64 bits.
pub(crate) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The upper bits of a number as a fraction in [0, 1).
pub(crate) fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_have_the_mean_the_spread_and_the_tails_of_a_bell_curve() {
        let mut chance = Chance::new(1, 0);
        let n = 400_000;
        let (mut sum, mut square, mut beyond_two, mut product) = (0.0, 0.0, 0, 0.0);
        for _ in 0..n {
            let [z, other] = chance.normals();
            sum += z;
            square += z * z;
            product += z * other;
            beyond_two += u32::from(z.abs() > 2.0);
        }
        let n = f64::from(n);
        assert!((sum / n).abs() < 0.01);
        assert!((square / n - 1.0).abs() < 0.01);
        assert!((product / n).abs() < 0.01);
        assert!((f64::from(beyond_two) / n - 0.0455).abs() < 0.002);
    }

    #[test]
    fn odds_and_waits_keep_their_means() {
        let mut chance = Chance::new(2, 0);
        let n = 100_000;
        let hits = (0..n).filter(|_| chance.happens(Odds::new(0.03))).count();
        assert!((hits as f64 / f64::from(n) - 0.03).abs() < 0.003);
        let waited: f64 = (0..n).map(|_| chance.wait()).sum();
        assert!((waited / f64::from(n) - 1.0).abs() < 0.02);
        assert!((0..1000).all(|_| chance.happens(Odds::new(1.5)) && !chance.happens(Odds::new(0.0))));
    }
}
