//! The API of a host: golems, their memory, dreams and testaments to read, the owner's orders to pass on, and a stream
//! of what happens. It runs on a thread of its own and never touches a golem: it reads the board and the files, and
//! writes letters. Whatever a client does or fails to do, golems do not notice.

mod births;
mod body;
mod describe;
mod fleet;
mod guard;
mod host;
mod house;
mod metrics;
mod orders;
mod page;
mod pools;
mod problem;
mod reading;
mod routes;
mod serve;
mod session;
mod state;
mod stream;
mod witness;

pub use routes::document;
pub use serve::Running;
pub(super) use serve::serve;
pub use state::Listen;
