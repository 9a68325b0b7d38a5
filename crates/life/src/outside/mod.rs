//! A mind outside: a program of the owner's that is shown what its golem sees, and says what it makes of it.
//!
//! It is one more voice. What it says of a domain is written down beside every claim and held to what came; beside the rules
//! it has no say before it has shown more than luck could, and afterwards as much as it is trusted. Where it is the only
//! voice it speaks from the first, and is followed as far as it is trusted. What it would do passes the whole cage, and is
//! worth what holding has paid when it said so; what it would have its golem go by begins in the shadow. What it says counts
//! for the tick it is said before, and for no other.

mod apply;
mod event;
mod read;
mod record;
mod say;
mod state;

pub(crate) use apply::{apply, looked};
pub use event::Event;
pub(crate) use read::adds;
pub use read::proposal;
pub(crate) use record::{said, scored};
pub use say::departure;
pub use state::{Expected, Outside, Word};
