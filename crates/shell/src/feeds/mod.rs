//! Live series of candles, which grow as their venues publish them. A golem watches a series through its file, so that
//! what was seen can be gone through again.

mod follower;
mod plan;
mod running;
mod venue;

pub use follower::{Follower, News, VenueQuestion, Which};
pub use plan::{Plan, Source, is_followed};
pub use running::{Asks, Feeds, Hears, follow, sound};
pub use venue::{Trouble, Venue, VenueAnswer};
