//! Lines of a file, one at a time: however long a file is, and however long a line in it, little of it is in memory.

use std::io::{self, BufRead, Read};

use serde::Serialize;

/// A line that is longer is passed over and counted.
const LONGEST: u64 = 4 << 20;
/// Bytes that are kept of the memory a long line took.
const KEPT: usize = 1 << 20;

/// Counts of a source's lines, by what was made of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lines {
    pub files: u64,
    pub bytes: u64,
    pub read: u64,
    /// Lines of an unknown kind.
    pub unknown: u64,
    /// Damaged, cut off, too long, or not what such a line is made of.
    pub unreadable: u64,
}

/// The outcome for one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Known,
    Unknown,
    Unreadable,
}

impl Lines {
    pub(crate) fn count(&mut self, taken: Taken) {
        self.read += 1;
        match taken {
            Taken::Known => {}
            Taken::Unknown => self.unknown += 1,
            Taken::Unreadable => self.unreadable += 1,
        }
    }
}

/// Hands over line after line, without what ends it. Empty ones are nothing.
pub(crate) fn each_line(
    mut from: impl BufRead,
    lines: &mut Lines,
    mut take: impl FnMut(&[u8]) -> Taken,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        line.shrink_to(KEPT);
        let many = (&mut from).take(LONGEST).read_until(b'\n', &mut line)?;
        lines.bytes += many as u64;
        if many == 0 {
            return Ok(());
        }
        if many as u64 == LONGEST && !line.ends_with(b"\n") {
            lines.bytes += pass_over(&mut from)?;
            lines.count(Taken::Unreadable);
            continue;
        }
        let bare = line.trim_ascii();
        if !bare.is_empty() {
            let taken = take(bare);
            lines.count(taken);
        }
    }
}

/// The rest of a line.
fn pass_over(from: &mut impl BufRead) -> io::Result<u64> {
    let mut passed = 0;
    loop {
        let here = from.fill_buf()?;
        let (many, ends) = match here.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (here.len(), here.is_empty()),
        };
        from.consume(many);
        passed += many as u64;
        if ends {
            return Ok(passed);
        }
    }
}
