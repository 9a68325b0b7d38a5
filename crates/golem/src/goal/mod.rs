//! Goals: what a golem set out to do, and what came of it. A goal is told when it is over; what was begun
//! stands in the record already, as an intent or as an idea on trial.

mod decide;

pub use life::goal::*;

pub(crate) use decide::review;
