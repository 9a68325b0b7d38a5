//! The Model Context Protocol: an agent asks how its golem stands, makes claims and speaks to its owner; an owner's assistant
//! looks after golems. Who is who is known by a token, and neither does the other's work.

mod agent;
mod owner;
mod serve;
mod tool;

pub use serve::{Http, Server, http, of_agents, stdio};
pub use tool::Who;
