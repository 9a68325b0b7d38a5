//! Arms: ways of going on, by what ends a life, what crosses to the next, and whether it is another golem that goes on.

use std::collections::BTreeMap;

use golem::Usdc;
use golem::constitution::Constitution;
use golem::laws::Trial;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fault::Error;

/// Keys of golem.toml, and a few of the laboratory's own; see [`Knobs`].
pub type Keys = BTreeMap<String, Value>;

/// Tuned settings of each arm, by world, mind and arm.
pub type Tuned = BTreeMap<String, Keys>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    pub name: String,
    /// The purpose of the arm: what it tells apart, in a few words.
    pub why: String,
    pub ends: Ends,
    #[serde(default)]
    pub crosses: Crosses,
    /// The golem that goes on is the same as before: no newborn, and it keeps what it has seen.
    #[serde(default)]
    pub same_soul: bool,
    /// Dice of its own on the same paths.
    #[serde(default)]
    pub twin: u64,
    /// So many at once share the ticks of a path, and one of them has heirs.
    #[serde(default)]
    pub siblings: Option<Siblings>,
    #[serde(default)]
    pub set: Keys,
    /// Takes whatever another was tuned to.
    #[serde(default)]
    pub like: Option<String>,
    /// Keys to tune, with their values: every combination is tried on the tuning seeds.
    #[serde(default)]
    pub tune: BTreeMap<String, Vec<Value>>,
}

/// The end of a life. A golem whose life ends any other way has no mortality clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ends {
    Clocks,
    Never,
    /// When the thesis' golem on the same path died.
    WithMortal,
    /// When the thesis' golem on another path died.
    WithAnother,
    /// When it notices that it does worse than it used to.
    Detected,
    /// After so many ticks each time.
    Every,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Crosses {
    #[default]
    Nothing,
    /// Playbook, evidence, trust and Grimoire as they were.
    Everything,
    /// The content of its rules and of its memory, without the evidence for either.
    Effects,
    /// Entries that pass the bottleneck.
    Estate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Siblings {
    pub number: u64,
    pub heir_of: Heir,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Heir {
    Fittest,
    Anyone,
}

/// An arm as it is run somewhere.
#[derive(Clone, Debug)]
pub struct Settled {
    pub ends: Ends,
    pub crosses: Crosses,
    pub same_soul: bool,
    pub twin: u64,
    pub siblings: Option<Siblings>,
    pub constitution: Constitution,
    pub credit: Usdc,
    pub laws: u16,
    pub detector: Detector,
    pub every: u64,
}

/// Page and Hinkley's test on one's own excess error, in naive's usual errors.
#[derive(Clone, Copy, Debug)]
pub struct Detector {
    /// Worse by less than this is not worse.
    pub slack: f64,
    /// So much of it together is a change.
    pub threshold: f64,
}

/// Keys of the laboratory's own, beside those of golem.toml.
#[derive(Clone, Copy, Debug)]
pub struct Knobs {
    pub trial: Trial,
    pub detector: Detector,
    pub every: u64,
}

impl Knobs {
    /// Takes them out of what is left for golem.toml.
    pub fn taken_from(keys: &mut Keys) -> Result<Knobs, Error> {
        let mut number = |key: &str, usual: f64| match keys.remove(key) {
            None => Ok(usual),
            Some(value) => value.as_f64().ok_or_else(|| Error::File(format!("{key} is {value}; it must be a number"))),
        };
        let mut among = |key: &str, all: &[f64], usual: f64| {
            let wanted = number(key, usual)?;
            let found = all.iter().position(|one| *one == wanted);
            found.ok_or_else(|| Error::File(format!("{key} is {wanted}; it can be one of {all:?}")))
        };
        let trial = Trial {
            slow: false,
            memory: among("forget.memory", &Trial::MEMORY, 1.0)?,
            starts_over: among("forget.starts_over", &Trial::STARTS_OVER, 1.0)?,
            pace: among("forget.pace", &Trial::PACE, 1.0)?,
        };
        let detector =
            Detector { slack: number("detector.slack", 0.02)?, threshold: number("detector.threshold", 20.0)? };
        let every = number("every.ticks", 4_000.0)? as u64;
        Ok(Knobs { trial, detector, every: every.max(1) })
    }
}

impl Arm {
    /// Every combination of what it may be tuned by; the one without anything to tune has one, which is empty.
    pub fn choices(&self) -> Vec<Keys> {
        let mut all = vec![Keys::new()];
        for (key, values) in &self.tune {
            let with = |keys: &Keys, value: &Value| {
                let mut keys = keys.clone();
                keys.insert(key.clone(), value.clone());
                keys
            };
            all = all.iter().flat_map(|keys| values.iter().map(move |value| with(keys, value))).collect();
        }
        all
    }
}
