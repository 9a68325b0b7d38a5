//! Acting inside a policy: what a golem may take on, with which money, and who says no by which rule.
//!
//! A proposal, from the mind of rules, a reflex, an outside mind or an agent, says only which action and how large a
//! share. Everything else is worked out here, from what Life knows. What no rule allows is refused; giving up exposure
//! is open to every living golem.

mod apply;
mod approval;
mod ask;
mod capital;
mod event;
mod flight;
mod guard;
mod propose;
mod read;
mod refusal;
mod sending;
mod state;

pub(crate) use apply::apply;
pub(crate) use approval::{approve, lapse};
pub use ask::{Ask, asks};
pub use capital::Capital;
pub use event::Event;
pub use flight::{Flight, Hash, Held, Intent, Permit, Stage, policy_hash, preview_hash};
pub(crate) use guard::{answer, listen};
pub(crate) use propose::{decide, propose, proposed};
pub use read::{caution, gate, still_permitted};
pub use refusal::Refusal;
pub(crate) use sending::{close_all, give_way, landed, previewed};
pub use state::{Day, Execution, Proposal};
