//! Programs that are not ours. A world or a mind can be a program in any language: it is started in a group of its own,
//! told one JSON message a line on its standard input, and answers with one on its standard output.
//!
//! Absent: any knowledge of what a program is for beyond its messages, trust in what it says, and a golem's own threads,
//! none of which waits for a program.
//!
//! Here are the messages ([`wire`]), the way a program is started, asked, bounded and ended ([`Program`]), the process
//! that leaves nothing of it behind when its host is gone ([`keeper`], and [`warden`] where its terminal is its
//! owner's), the fence that may stand around it ([`fence`]), and the network it may have to itself ([`network`]). The
//! meaning of an answer is the caller's business.

pub mod descendants;
pub mod fence;
#[cfg(test)]
mod first_version;
pub mod keeper;
mod minds;
pub mod network;
mod page;
mod program;
mod seatbelt;
mod talk;
mod termination;
mod trouble;
pub mod warden;
pub mod wire;
mod worlds;

pub use keeper::Launch;
pub use minds::MindProgram;
pub use page::page;
pub use program::{Limits, Program};
pub use talk::Settled;
pub use trouble::Trouble;
pub use worlds::WorldProgram;
