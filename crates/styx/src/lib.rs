//! The river between golems: envelopes that no relay can read or change, chains by which a receiver sees what a relay left
//! out, a home's books as a machine without a disk, the archive, and, with the feature `relay`, the relay itself.
//!
//! Absent: trust in a relay, which reads nothing and takes no address from a client; lives, journals and a home's folder;
//! any decision about what a golem says or believes.

pub mod archive;
pub mod chain;
pub mod client;
#[cfg(feature = "relay")]
mod door;
pub mod envelope;
#[cfg(feature = "relay")]
pub mod gateway;
pub mod key;
pub mod keys;
#[cfg(feature = "relay")]
pub mod limits;
pub mod mailbox;
#[cfg(feature = "relay")]
pub mod river;
#[cfg(feature = "relay")]
mod session;
pub mod wire;

pub use chain::{Chain, ChainPlace};
pub use envelope::{Class, Envelope, Flaw, Hash, Header, Speaker};
#[cfg(feature = "relay")]
pub use gateway::{Gateway, Guests};
pub use key::{Clade, Owner};
#[cfg(feature = "relay")]
pub use limits::Limits;
#[cfg(feature = "relay")]
pub use river::{River, Shape};
