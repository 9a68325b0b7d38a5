//! Goals: what a golem set out to do, and what came of it. A goal is told when it is over; what was begun
//! stands in the record already, as an intent or as an idea on trial.

mod apply;
mod event;
mod state;

pub(crate) use apply::apply;
pub use event::Event;
pub use state::{Ended, Goal, Tallies, Tally};
