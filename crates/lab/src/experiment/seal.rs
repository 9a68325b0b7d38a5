//! What cannot be changed any more once paths are open that are reported on.

use golem::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::work::Tuned;

/// Everything that is fixed before the first reported path is opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seal {
    /// Of the experiment and its data.
    pub experiment: String,
    /// Which program ran it, to the byte where that is known.
    pub program: String,
    pub tuned: Tuned,
    /// The expected power, from the tuning paths: by world and mind, how far the thesis and those controls lie apart that do not
    /// follow it, and the chance to find the smallest difference worth having against the widest of them.
    pub power: Vec<Power>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Power {
    pub world: String,
    pub mind: String,
    pub paths: u64,
    /// The widest of the deviations between the thesis and a control on one path.
    pub deviation: f64,
    pub power: Option<f64>,
}

impl Seal {
    pub fn digest(&self) -> String {
        hex::encode(&Sha256::digest(serde_json::to_vec(self).expect("plain data")))
    }
}
