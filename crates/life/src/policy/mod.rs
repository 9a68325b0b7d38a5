//! Acting inside a policy: what a golem may take on, with which money, and who says no by which rule.
//!
//! Whoever proposes, the mind of rules, a reflex or one day a model, says only which action and how large a
//! share. Everything else is worked out here, from what Life knows. What no rule allows is refused; giving up
//! exposure is open to everyone alive.

mod apply;
mod capital;
mod event;
mod flight;
pub mod preference;
mod read;
mod refusal;
mod state;

pub(crate) use apply::apply;
pub use capital::Capital;
pub use event::Event;
pub use flight::{Flight, Hash, Held, Intent, Permit, Stage, policy_hash, preview_hash};
pub use read::{TELL_AGAIN, caution, gate, grown_careful, patience, still_permitted};
pub use refusal::Refusal;
pub use state::{Day, Execution, Proposal};
