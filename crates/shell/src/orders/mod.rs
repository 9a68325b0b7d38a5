//! The owner's orders: to one golem, to all of them, and under a key, so that each is carried out once.

pub mod book;
mod brakes;
pub mod fleet;
pub mod order;
