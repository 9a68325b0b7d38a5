//! Records that were written before, such as those of another machine. What could not have been written here is not believed.

use std::io::{self, BufRead};

use crate::lines::{Lines, Taken, each_line};
use crate::record::{Harness, Life};
use crate::shelf::{Shelf, named};

/// Reads a file of records, a life a line.
pub fn read_records(shelf: &mut Shelf<'_>, from: impl BufRead) -> io::Result<()> {
    let mut whose = None;
    let mut lines = Lines::default();
    let read = each_line(from, &mut lines, |line| match serde_json::from_slice::<Life>(line) {
        Ok(life) if life.is_sound() => {
            whose.get_or_insert(life.harness);
            if shelf.is_new(named(&["record", &life.life])) {
                shelf.lives.push(life);
            }
            Taken::Known
        }
        _ => Taken::Unreadable,
    });
    // A line that is not a record has no harness; it counts with the harness of the first record.
    shelf.count(whose.unwrap_or(Harness::Spans), Lines { files: 1, ..lines });
    read
}
