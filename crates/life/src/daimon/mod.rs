//! The Daimon: mood, appraised from what happened by a table, fading tick by tick. It colours how much is risked,
//! never upwards, and which memories stand out; it decides nothing, and no stressor is ever read off it.

mod apply;
mod state;

pub(crate) use apply::{feel, pass};
pub(crate) use state::Felt;
pub use state::{Daimon, Octant, Pad};
