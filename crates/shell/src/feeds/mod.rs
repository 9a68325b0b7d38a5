//! The present: series of candles that grow as their venues publish them. Whoever watches one sees it through its file, so
//! that what was seen can be gone through again.

mod follower;
mod plan;
mod running;
mod venue;

pub use follower::{Follower, News, Question, Which};
pub use plan::{Plan, Source, is_followed};
pub use running::{Asks, Feeds, Hears, follow, sound};
pub use venue::{Answer, Trouble, Venue};
