//! Output: results on standard output, complaints on standard error, and no control characters that a terminal could
//! act on.

use std::fmt::Display;
use std::io::{self, Write};

use golem::plain;
use serde::Serialize;

/// Prints a line. A reader that is gone is no reason to leave work half done.
pub(crate) fn line(text: impl AsRef<str>) {
    put(&plain::text(text.as_ref()));
}

/// Prints an error or a remark on standard error, as plainly as `line`.
pub(crate) fn complain(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "bardo chain: {}", plain::text(&text.to_string()));
}

pub(crate) fn json(value: &impl Serialize) {
    put(&plain::json(&serde_json::to_string(value).expect("plain data")));
}

fn put(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}
