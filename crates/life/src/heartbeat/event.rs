//! Events of the heartbeat.

use serde::{Deserialize, Serialize};

use super::State;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "HeartbeatEvent")]
pub enum Event {
    Turned(State),
}
