//! Events of goals.

use serde::{Deserialize, Serialize};

use super::{Ended, Goal};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "GoalEvent")]
pub enum Event {
    Finished { goal: Goal, domain: u8, ended: Ended },
}
