//! Mortality: three clocks, one life. Whichever kills first, kills.

mod apply;
pub mod death;
pub mod economic;
pub mod epistemic;
mod event;
pub mod phase;
mod state;
pub mod stochastic;
pub mod vitality;

pub(crate) use apply::apply;
pub use event::Event;
pub use state::{Clock, Domain, Epistemic, Partition, Purse, Senescence, Vitality, sigmoid};
