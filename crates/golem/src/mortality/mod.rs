//! Mortality: three clocks, one life. Whichever kills first, kills.

mod apply;
pub mod death;
mod decide;
pub mod economic;
pub mod epistemic;
mod event;
pub mod phase;
mod state;
pub mod stochastic;
mod touch;
pub mod vitality;
mod watch;

pub(crate) use apply::apply;
pub use decide::LONGEST_STEP;
pub(crate) use decide::{die, run};
pub use event::Event;
pub use state::{Clock, Domain, Epistemic, Partition, Purse, Senescence, Vitality, sigmoid};
