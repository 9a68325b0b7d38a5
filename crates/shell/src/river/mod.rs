//! The river, as a home sees it: what its golems say to siblings elsewhere goes into a book that is as durable as their own
//! records, and is sent from there until it was confirmed; what comes from elsewhere is checked, written down, and put into
//! the post like any other word.

pub mod kept;
mod key;
mod report;
mod shore;

pub use kept::{ArchivedLegacy, bring_back, trouble};
pub use key::{Invitation, accept, invite, is_joined, make};
pub use report::{Death, Other, Report, Sibling, report};
pub use shore::{AnnouncedDeath, Arrived, Books, Shore, Stand};
