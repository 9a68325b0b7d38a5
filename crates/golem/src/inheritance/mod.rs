//! Inheritance: as much knowledge as fits through the bottleneck crosses a death, each crossing discounted, if the heir
//! would be more than a copy.

mod bottleneck;
mod descent;
mod estate;
mod gate;
mod mandate;
mod whole;

pub use bottleneck::{BALDWIN, BUDGET, compress, is_innate};
pub use descent::Descent;
pub use estate::estate;
pub use gate::{Way, has_tried, may_leave};
pub use mandate::{Mandate, divergence};
pub use whole::{LAST, whole};
