//! Claims about the world, made before and resolved after, each at exactly its own bar.

mod apply;
mod event;
mod standing;
mod state;
mod voice;

pub(crate) use apply::apply;
pub use event::Event;
pub use standing::Standing;
pub use state::{Chain, Claim, Dated, Prediction, Seen, Share};
pub use voice::{Departures, Voice};
