//! The gateway: models for agents that have a life of their own. An agent speaks its usual protocol to an address of its
//! golem's, with a token of its golem's; what its call can cost at most is set aside in a durable record, and only then is
//! the call passed on, with the owner's key, or with a login of the program's own where its owner says so. What the agent says
//! and hears is its own: nothing of it is kept here. Absent from here: whether there is money, which the golem decides, and any
//! door of the owner's.

mod bodies;
mod counting;
pub mod door;
mod duplicates;
mod fields;
mod fingerprint;
mod login;
mod models;
mod notice;
mod o200k;
pub mod old_names;
mod origin;
mod parts;
mod picture;
mod prefix;
mod protocol;
mod refusal;
mod relay;
mod serve;
mod session;
mod shape;
mod shapes;
mod span;
mod stream;
#[cfg(test)]
mod tests;
mod usage;
mod weighed;

pub use models::{Models, keys};
pub use serve::{Listen, Running, Speaker, Speaking, TurnedAway, address, serve};
