//! The river, as a home sees it: what its golems say to siblings elsewhere goes into a book that is as durable as their own
//! records, and is sent from there until it was confirmed; what comes from elsewhere is checked, written down, and put into
//! the mail like any other word.

pub mod archived;
mod key;
mod report;
mod store;

pub use archived::{ArchivedLegacy, bring_back, trouble};
pub use key::{Invitation, accept, invite, is_joined, make};
pub use report::{Death, Other, Report, Sibling, report};
pub use store::{AnnouncedDeath, Arrived, Books, RiverState, RiverStore};
