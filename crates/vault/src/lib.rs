//! Durable state: the journal of a life, its snapshots, the anchored head that guards its end, the tables of episodes and
//! entries, the owner's treasury, and the log in which a host writes for many golems. What was acknowledged is never lost,
//! doubled or bent.
//!
//! Absent: decisions about a life, and any knowledge of a world or a network. A damaged record is never skipped and never
//! repaired: it is reported.

pub mod archive;
mod calls;
pub mod codec;
pub mod disk;
mod episodes;
mod error;
mod file;
mod glance;
pub mod grimoire;
mod head;
mod holder;
mod journal;
pub mod library;
pub mod lines;
mod log;
mod pieces;
mod reader;
mod reading;
mod salvage;
mod snapshot;
mod standing;
pub mod treasury;

pub use calls::{Call, CallOrigins, Refused};
pub use episodes::Episode;
pub use error::Error;
pub use file::Place;
pub use glance::Glance;
pub use head::{Anchor, Head, Seal};
pub use holder::Holder;
pub use journal::Vault;
pub use library::Library;
pub use log::{Batch, Log, LogLine, LogReader, Note, RiverPair, Tip, UndeliveredNote, follow, live_on};
pub use pieces::Bookmark;
pub use reader::{CallAccount, Check, Notice, Reader};
pub use standing::FileStanding;
pub use treasury::{Passing, Treasury};

/// The version of SQLite that is built in.
pub fn sqlite() -> &'static str {
    rusqlite::version()
}
