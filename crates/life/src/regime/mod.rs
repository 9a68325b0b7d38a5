//! Regimes: what the world is like at present, told from the level of one domain the world names for it.
//!
//! A change is noticed by the Page–Hinkley test on that level, held against what is usual in this life; what
//! kind of regime it led to is read from the recent level. Kinds come back, so that what was learned in one
//! can wait for it.

mod apply;
mod event;
mod page_hinkley;
mod state;

pub(crate) use apply::apply;
pub use event::Event;
pub use page_hinkley::{Mode, PageHinkley, Settings, Sums};
pub use state::{Regime, Regimes};
