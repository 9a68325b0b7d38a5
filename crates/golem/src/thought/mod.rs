//! Thoughts: questions to a model, paid for before they are asked, and believed as far as they were right.
//!
//! A question is an errand. The core names a purpose, a tier and a sum, never tokens or what they cost; the sum is set aside in the
//! journal before a byte leaves, and an answer that never comes back counts as spent. What comes back is typed or nothing:
//! claims, rules, one proposal, a note. A model is one more voice: its claims are held against what came before it has a
//! say, its rules begin in the shadow, its proposal passes the whole cage. How often it is asked follows from what its
//! claims have been worth.

mod ask;
mod decide;
mod night;
mod probe;
mod prompt;
mod read;

pub use life::thought::*;

pub use ask::model;
pub(crate) use decide::{answered, consider, forfeit_all, forfeited, lapse, owner_asks, reflect};
pub(crate) use night::{night_tokens, tonight};
pub use prompt::{PROMPT, Prompt, prompt};
pub use read::{ANSWER, Unusable, read};
