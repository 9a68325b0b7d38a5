//! Life tables of agents: what age does to them, from the records people already have. Golems are unknown here.
//!
//! [`Shelf`] takes in what lies on a disk, source by source, and gives it back as one kind of record, [`Life`]: figures and
//! hashes, no word of what was said. [`Study`] compares each life with itself and says what age does, when an end comes and of
//! what, what a compaction changed, and after how many calls starting over is cheapest.
//!
//! Nothing here opens a file, reads a clock or reaches a network. What a line does not say is not guessed, and lines that are
//! not understood are counted.

mod curve;
mod growing;
mod lines;
mod name;
mod read;
mod record;
mod shelf;
mod tool;

pub use curve::fresh::Fresh;
pub use curve::measure::{Axis, Measure};
pub use curve::quantile::{normal, student};
pub use curve::study::{Group, RateRow, Study, StudyOptions};
pub use curve::survival::{Cause, Step, Survival};
pub use curve::verdict::{Finding, Verdict};
pub use curve::when::When;
pub use curve::within::{Estimate, Point, Trend, naive, trend};
pub use lines::Lines;
pub use name::hash;
pub use read::aider::{read_aider, read_aider_log};
pub use read::claude::read_claude;
pub use read::codex::read_codex;
pub use read::gemini::read_gemini;
pub use read::opencode::Session;
pub use read::records::read_records;
pub use read::spans::read_spans;
pub use record::{Born, Call, End, Harness, Life, schema};
pub use shelf::{FilePlace, GolemCall, Shelf};
