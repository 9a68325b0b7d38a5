//! A sample of the workers' results, run again by the machine that asked for them. A path comes to the same on any machine, so
//! one byte that differs is a fault of that machine or a lie.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::work::{Bench, Done, Unit};
use super::{Error, Phase};

/// One path in so many is lived again ...
const ONE_IN: usize = 20;
/// ... and of each phase as many as this, if it has them.
const LEAST: usize = 3;

/// The paths of an experiment that are lived again. They follow from a seed that no sender of results knows.
pub fn drawn(bench: &Bench, seed: &[u8]) -> Result<BTreeSet<Unit>, Error> {
    let mut all = BTreeSet::new();
    for phase in [Phase::Tuning, Phase::Reporting, Phase::Again] {
        all.extend(draw(bench.units(phase)?, seed));
    }
    Ok(all)
}

fn draw(units: Vec<Unit>, seed: &[u8]) -> impl Iterator<Item = Unit> {
    let most = units.len().div_ceil(ONE_IN).max(LEAST);
    let lot = |unit: &Unit| -> [u8; 32] {
        let words = serde_json::to_vec(unit).expect("plain data");
        Sha256::new().chain_update(seed).chain_update(words).finalize().into()
    };
    let mut lots: Vec<([u8; 32], Unit)> = units.into_iter().map(|unit| (lot(&unit), unit)).collect();
    lots.sort();
    lots.into_iter().take(most).map(|(_, unit)| unit)
}

/// The first arm of a path of which both do not say the same to the byte.
pub fn differs(one: &Done, other: &Done) -> Option<String> {
    let bytes = |done: &Done, arm: &String| serde_json::to_vec(&done.fared.get(arm)).expect("plain data");
    let arms: BTreeSet<&String> = one.fared.keys().chain(other.fared.keys()).collect();
    arms.into_iter().find(|arm| bytes(one, arm) != bytes(other, arm)).cloned()
}

impl Bench {
    /// A path in words: where it is lived, by which mind, and which of its sample it is.
    pub fn named(&self, unit: &Unit) -> String {
        let experiment = &self.experiment;
        let (world, mind) = (&experiment.worlds[unit.world].name, &experiment.minds[unit.mind].name);
        let dial = if unit.dial == 0 { String::new() } else { format!(", place {} of its dial", unit.dial) };
        format!("path {} of {world}{dial}, {mind} mind, {}", unit.path, unit.phase.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::experiment::line::Fared;

    fn units(number: u64) -> Vec<Unit> {
        (0..number).map(|path| Unit { phase: Phase::Reporting, world: 0, dial: 0, mind: 0, path }).collect()
    }

    #[test]
    fn one_path_in_twenty_is_drawn_by_the_seed_and_three_at_least() {
        for (all, some) in [(0, 0), (2, 2), (3, 3), (60, 3), (61, 4), (960, 48)] {
            assert_eq!(draw(units(all), b"seed").count(), some, "of {all}");
        }
        let paths = |seed: &[u8]| draw(units(960), seed).map(|unit| unit.path).collect::<BTreeSet<u64>>();
        assert_eq!(paths(b"seed"), paths(b"seed"));
        assert_ne!(paths(b"seed"), paths(b"another"));
    }

    #[test]
    fn one_digit_of_one_arm_is_a_difference_and_time_is_none() {
        let fared = |skill: f64| -> Fared {
            let told = json!({ "skill": skill, "early": null, "after": null, "notes": [], "lives": [], "ticks": 600 });
            serde_json::from_value(told).unwrap()
        };
        let done = |skill: f64, seconds: f64| {
            let arms = [("immortal", 0.1), ("mortal", skill)].map(|(name, skill)| (name.to_owned(), fared(skill)));
            Done { unit: units(1).remove(0), fared: BTreeMap::from(arms), seconds }
        };
        assert_eq!(differs(&done(0.3, 1.0), &done(0.3, 2.0)), None);
        let next = f64::from_bits(0.3_f64.to_bits() + 1);
        assert_eq!(differs(&done(0.3, 1.0), &done(next, 1.0)).as_deref(), Some("mortal"));
        let mut fewer = done(0.3, 1.0);
        fewer.fared.remove("immortal");
        assert_eq!(differs(&fewer, &done(0.3, 1.0)).as_deref(), Some("immortal"));
    }
}
