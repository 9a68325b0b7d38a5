//! Thoughts: questions to a model, paid for before they are asked, and believed as far as they were right.
//!
//! A question is an errand. The core names a purpose, a tier and a sum, never tokens or what they cost; the sum is set aside in the
//! journal before a byte leaves, and an answer that never comes back counts as spent. What comes back is typed or nothing:
//! claims, rules, one proposal, a note. A model is one more voice: its claims are held against what came before it has a
//! say, its rules begin in the shadow, its proposal passes the whole cage. How often it is asked follows from what its
//! claims have been worth.

mod answer;
mod apply;
mod event;
mod kind;
mod state;
mod worth;

pub use crate::spell::{Spell, day};
pub use answer::{Answer, CITED, Fear, NOTE, Opinion, PROSE, QUESTIONS, RULES, Silence, schema, within};
pub(crate) use apply::{apply, said, scored};
pub use event::Event;
pub use kind::{FRAGMENTS, Held, Purpose, TOLD};
pub use state::{FLOOR, Question, Thought, Thoughts, Told};
pub use worth::{bits_per_dollar, departure};
