//! Everything that the program of a life leaves, kept beside its golem until its testament is written, and after that for its heirs. A program
//! that is ended later than its golem leaves it after the testament.

use std::fs;

use golem::thanatopsis::Remains;

use crate::home::GolemHome;
use crate::{Error, durable};

/// Reads it; none where a program has left nothing, or nothing that can be read.
pub fn read(place: &GolemHome) -> Option<Remains> {
    serde_json::from_slice(&fs::read(place.remains()).ok()?).ok()
}

/// Keeps it in place of what was there.
pub fn write(place: &GolemHome, remains: &Remains) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(remains).expect("plain data") + "\n";
    durable::write(&place.remains(), text.as_bytes())
}
