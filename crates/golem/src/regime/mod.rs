//! Regimes: what the world is like at present, told from the level of one domain the world names for it.
//!
//! A change is noticed by the Page–Hinkley test on that level, held against what is usual in this life; what
//! kind of regime it led to is read from the recent level. Kinds come back, so that what was learned in one
//! can wait for it.

mod decide;

pub use life::regime::*;

pub(crate) use decide::watch;
