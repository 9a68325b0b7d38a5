//! The Model Context Protocol: an agent asks how its golem stands, makes claims and speaks to its owner; an owner's assistant
//! looks after golems. A token tells which of the two is calling, and each has its own tools.

mod agent;
mod owner;
mod serve;
mod tool;

pub use serve::{Http, Server, http, of_agents, stdio};
pub use tool::Who;
