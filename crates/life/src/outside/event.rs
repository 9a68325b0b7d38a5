//! Events of an outside mind.

use serde::{Deserialize, Serialize};

use super::Expected;
use crate::policy::Proposal;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "OutsideEvent")]
pub enum Event {
    /// The mind's expectations and its proposal for the tick that comes.
    Said { claims: Vec<Expected>, proposal: Option<Proposal> },
    /// A note from the mind to its golem's owner.
    Noted { text: String },
}
