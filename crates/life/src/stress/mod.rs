//! Stressors: pressure that grows with world time while something is wrong, and goes only when it no longer is.
//!
//! Each kind has a row in one table, a trigger and a way to clear it, both read off what the runtime itself has recorded
//! ([`find`]). What a golem says of itself ([`assessment`]) is heard, checked and written down, and changes
//! none of it. Load is the sum of what is active; its band closes gates ([`Allowed`]), never those that lead out.
//!
//! Time here is age: what the host slept through was not lived and does not weigh.

mod apply;
pub mod assessment;
mod event;
mod evidence;
mod kind;
mod ledger;
mod rates;
mod read;
mod state;
pub mod threshold;

pub(crate) use apply::apply;
pub use assessment::{Assessed, Assessment, Named};
pub use event::Event;
pub use evidence::Evidence;
pub use kind::{Allowed, BREAKER_CYCLES, BREAKER_REST, Band, Kind, ONSET, RELAPSE};
pub use ledger::{Ledger, Mark};
pub use rates::Rates;
pub(crate) use read::heeded_percent;
pub use read::{
    Finding, allowed, band, enforced, find, heaviest, load, load_as_told, places, serves, severity, signals,
};
pub use state::{Past, Stress, Stressor};
