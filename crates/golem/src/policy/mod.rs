//! Acting inside a policy: what a golem may take on, with which money, and who says no by which rule.
//!
//! A proposal, from the mind of rules, a reflex, an outside mind or an agent, says only which action and how large a
//! share. Everything else is worked out here, from what Life knows. What no rule allows is refused; giving up exposure
//! is open to every living golem.

mod approval;
mod ask;
mod guard;
mod propose;
mod sending;

pub use life::policy::*;

pub(crate) use approval::{approve, lapse};
pub use ask::{Ask, asks};
pub(crate) use guard::{answer, listen};
pub(crate) use propose::{decide, look_out, propose, proposed, take_up};
pub(crate) use sending::{close_all, give_way, landed, previewed};
