//! What is shown of golems, to people and over the API: messages as they happen, one life at a glance or in words, its
//! nights, what a host has to say of all of them, and what their owner is told of without asking.

pub mod board;
pub mod costs;
pub mod creature;
pub mod dreamt;
pub mod figures;
pub mod fleet;
pub mod histogram;
pub mod history;
pub mod known;
pub mod narrator;
pub mod nights;
pub mod notes;
pub mod pictures;
pub mod portrait;
pub mod purse;
pub mod remembered;
pub mod saying;
pub mod seen;
pub mod shapes;
pub mod spending;
pub mod status;
pub mod tree;
pub mod words;
