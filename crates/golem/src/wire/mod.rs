//! Events under the names the documents give them, with their payloads: what leaves the process.
//!
//! Inside, events are past-tense and terse; a message adds from the life what a listener needs to read
//! it alone.

mod message;
mod tell;

pub use message::{Gravity, Message};
pub use tell::{besides, message};
