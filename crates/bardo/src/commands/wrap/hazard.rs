//! The end of a life of a line by chance, if its owner asks for it: a hazard that grows with its calls, and with how much of its
//! model's window they take. The roll is the life's own, made at its birth by its secret, so a kill changes nothing about it, and a
//! testament shows it.

use golem::GolemId;
use golem::mortality::stochastic;
use settings::chance::Secret;

/// The tick of the roll, which no life reaches.
const TICK: u64 = u64::MAX;
/// Thousandths by which a life ages with a call, and how many times that it ages more by one that takes a whole window.
pub(super) const CALL: u64 = 1_000;
pub(super) const WHOLE_WINDOW: u64 = 4;

/// The age at which chance ends this life, where half of all lives are to end by the age of so many calls. The hazard grows with
/// age: at twice that age one in sixteen is left.
pub(super) fn last_age(half: u32, secret: &Secret, id: GolemId) -> u64 {
    // Above nought, so that every life has an end.
    let left = (1.0 - stochastic::fraction(secret.roll(id, TICK))).max(f64::EPSILON);
    let calls = f64::from(half) * (-left.log2()).sqrt();
    (calls * CALL as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_all_lives_end_by_the_age_asked_for_and_few_live_twice_as_long() {
        let id = GolemId([7; 16]);
        let ages: Vec<u64> = (0..2_000).map(|seed| last_age(100, &Secret::from_seed(seed, "ada"), id)).collect();
        let younger = |than: u64| ages.iter().filter(|age| **age < than * CALL).count();
        assert!((900..1_100).contains(&younger(100)), "{}", younger(100));
        assert!((1_800..1_950).contains(&younger(200)), "{}", younger(200));
        assert!((250..380).contains(&younger(50)), "the hazard of the young is small: {}", younger(50));
        assert_eq!(ages[5], last_age(100, &Secret::from_seed(5, "ada"), id), "it is the same after a kill");
    }
}
