//! The clade: golems of one owner, and what they tell each other.

mod decide;
mod parcel;

pub use life::clade::*;

pub(crate) use decide::{call_out, heard, look_around, told, turned};
pub use parcel::Parcel;
