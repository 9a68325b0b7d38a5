//! Claims about the world, made before and resolved after, each at exactly its own bar.

mod apply;
mod decide;
mod event;
mod state;
mod voice;

pub(crate) use apply::apply;
pub(crate) use decide::{forecast, sense};
pub use event::Event;
pub use state::{Claim, Prediction, Seen};
pub use voice::{Departures, Voice};
