//! What the core knows of a world: features it can see, claims it can make about them, actions it can
//! propose, and what they cost. No word of any particular world stands here.

use std::fmt;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::money::Usdc;
use crate::time::{Span, Time};

/// One number per declared domain.
pub type Values = ArrayVec<f64, { limits::DOMAINS }>;

/// One number per declared feature.
pub type Features = ArrayVec<f64, { limits::FEATURES }>;

/// What a world declares of itself, recorded at birth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub world: String,
    /// How to open this world again; the core only carries it.
    pub spec: String,
    /// How long one bar of observation lasts.
    pub bar: Span,
    pub domains: ArrayVec<DomainSpec, { limits::DOMAINS }>,
    /// What conditions can be about, by name.
    #[serde(default)]
    pub features: Vec<String>,
    /// Heuristics a golem in this world is born with, as text.
    #[serde(default)]
    pub instincts: Vec<String>,
    pub actions: ArrayVec<ActionSpec, { limits::ACTIONS }>,
    /// The domain whose level tells one regime from another, if any does.
    #[serde(default)]
    pub regime: Option<u8>,
    /// How many bars exposure is usually held; 0 is as long as the furthest claim looks.
    #[serde(default)]
    pub holding: u32,
    /// Millionths of a unit that can only be had or given up together.
    #[serde(default = "any")]
    pub lot: i64,
    /// What a unit of holding is called, for screens.
    pub unit: String,
    /// What watching this world costs.
    pub data_per_day: Usdc,
}

fn any() -> i64 {
    1
}

/// Something claims can be made about, and how much being right there weighs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DomainSpec {
    pub name: String,
    pub weight: f64,
    #[serde(default)]
    pub kind: DomainKind,
    /// How many bars ahead a claim here looks; 0 is one look of the golem.
    #[serde(default)]
    pub horizon: u32,
    /// What the naive forecast takes for the half-width of a range, as a share of the value: the feature of
    /// this number. Only ranges need one.
    #[serde(default)]
    pub scale: Option<u8>,
}

/// What is claimed in a domain, and so how being wrong is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DomainKind {
    /// A value; absolute error against the last value.
    #[default]
    Value,
    /// The probability of a rise; Brier score against the usual share of rises.
    Direction,
    /// A band around the last value; interval score against the band of the usual size.
    Range,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionSpec {
    pub name: String,
    pub effect: Effect,
}

/// What an action does to exposure; this alone decides who may still take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Adds,
    Reduces,
}

/// One closed interval of the world: knowable at `closed`, not before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    pub closed: Time,
    /// The value of each declared domain, in the manifest's order.
    pub values: Values,
    /// The value of each declared feature, in the manifest's order.
    pub features: Features,
    /// What a million units of holding are worth.
    pub unit: Usdc,
}

/// Every bar closed since the last observation, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub bars: Vec<Bar>,
}

/// What an action would do, as far as the world can tell beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// Cash that would come in (negative: go out), fee not included.
    pub cash: Usdc,
    pub fee: Usdc,
}

/// What an action did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Units gained (negative: given up).
    pub units: i64,
    pub cash: Usdc,
    pub fee: Usdc,
}

impl Manifest {
    /// The first declared action with this effect.
    pub fn action(&self, effect: Effect) -> Option<u8> {
        self.actions.iter().position(|a| a.effect == effect).map(|at| at as u8)
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Effect::Adds => "adds exposure",
            Effect::Reduces => "reduces exposure",
        })
    }
}
