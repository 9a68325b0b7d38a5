//! What a mind outside has said.

use serde::{Deserialize, Serialize};

use super::Expected;
use crate::policy::Proposal;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "OutsideEvent")]
pub enum Event {
    /// What it expects of the world, and what it would do, for the tick that comes.
    Said { claims: Vec<Expected>, proposal: Option<Proposal> },
    /// What it would have its golem's owner know.
    Noted { text: String },
}
