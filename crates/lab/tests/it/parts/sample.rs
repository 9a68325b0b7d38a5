//! What is lived again of what others did.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use lab::experiment::Phase;
use lab::experiment::line::Fared;
use lab::experiment::sample::{differs, draw};
use lab::experiment::work::{Done, Unit};

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
