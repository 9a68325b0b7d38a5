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

/// Those of these paths that are lived again, by this seed.
pub fn draw(units: Vec<Unit>, seed: &[u8]) -> impl Iterator<Item = Unit> {
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
