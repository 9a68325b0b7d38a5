//! Conditions: when a heuristic speaks. A condition is data, a few comparisons of features with numbers.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::world::Features;

/// One comparison: a feature, by number, against a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub feature: u8,
    pub is: Is,
    pub than: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Is {
    Above,
    Below,
}

/// A condition: it holds when all comparisons do, and without any it always holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Condition(pub ArrayVec<Comparison, { limits::COMPARISONS }>);

impl Comparison {
    pub fn holds(&self, features: &Features) -> bool {
        // A feature that is not there decides nothing.
        match (self.is, features.get(usize::from(self.feature))) {
            (Is::Above, Some(value)) => *value > self.than,
            (Is::Below, Some(value)) => *value < self.than,
            (_, None) => false,
        }
    }
}

impl Condition {
    pub fn holds(&self, features: &Features) -> bool {
        self.0.iter().all(|comparison| comparison.holds(features))
    }
}
