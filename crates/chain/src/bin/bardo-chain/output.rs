//! What is printed: words on standard output, complaints beside it, and nothing that a terminal could take for an order.

use std::fmt::Display;
use std::io::{self, Write};

use golem::plain;
use serde::Serialize;

/// Prints a line. Who no longer reads it is no reason to leave work half done.
pub(crate) fn line(text: impl AsRef<str>) {
    put(&plain::text(text.as_ref()));
}

/// Says what is wrong or worth knowing beside the result, as plainly as `line`.
pub(crate) fn complain(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "bardo chain: {}", plain::text(&text.to_string()));
}

pub(crate) fn json(value: &impl Serialize) {
    put(&plain::json(&serde_json::to_string(value).expect("plain data")));
}

fn put(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}
