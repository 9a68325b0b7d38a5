//! A mind outside: a program of the owner's that is shown what its golem sees, and says what it makes of it.
//!
//! An outside mind is one more voice. Its expectation in a domain is recorded beside every claim and scored by what
//! came. Beside the rules it has no say before it has shown more than luck could, and afterwards as much as it is
//! trusted. Where it is the only voice it speaks from the first, and is followed as far as it is trusted. Its proposals
//! pass the whole cage, and are worth what holding has paid when it made them; its rules begin in the shadow. A word
//! counts for the tick it is said before, and for no other.

mod decide;

pub use life::outside::*;

pub(crate) use decide::{spoken, think};
