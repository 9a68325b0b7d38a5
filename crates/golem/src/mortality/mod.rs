//! Mortality: three clocks, one life. Whichever kills first, kills.

mod decide;
mod touch;
mod watch;

pub use life::mortality::*;

pub use decide::LONGEST_STEP;
pub(crate) use decide::{die, run};
