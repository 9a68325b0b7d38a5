//! A mind outside: a program of the owner's that is shown what its golem sees, and says what it makes of it.
//!
//! An outside mind is one more voice. Its expectation in a domain is recorded beside every claim and scored by what
//! came. Beside the rules it has no say before it has shown more than luck could, and afterwards as much as it is
//! trusted. Where it is the only voice it speaks from the first, and is followed as far as it is trusted. Its proposals
//! pass the whole cage, and are worth what holding has paid when it made them; its rules begin in the shadow. A word
//! counts for the tick it is said before, and for no other.

mod apply;
mod decide;
mod event;
mod read;
mod record;
mod say;
mod state;

pub(crate) use apply::{apply, looked};
pub(crate) use decide::{spoken, think};
pub use event::Event;
pub(crate) use read::{adds, proposal};
pub(crate) use record::{said, scored};
pub(crate) use say::departure;
pub use state::{Expected, Outside, Word};
