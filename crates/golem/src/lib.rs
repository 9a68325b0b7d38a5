#![doc = include_str!("../README.md")]

mod apply;
pub mod books;
pub mod constitution;
pub mod daimon;
mod draft;
pub mod dream;
pub mod episode;
pub mod event;
pub mod figures;
pub mod goal;
mod golem;
pub mod grimoire;
pub mod heartbeat;
pub mod id;
pub mod inheritance;
pub mod laws;
pub mod life;
pub mod limits;
pub mod money;
pub mod mortality;
mod owed;
pub mod plain;
pub mod policy;
pub mod prediction;
mod prose;
pub mod regime;
pub mod rule;
pub mod shell;
mod step;
pub mod stress;
pub mod thanatopsis;
pub mod time;
pub mod wire;
pub mod world;

pub use event::{Event, Record};
pub use golem::{FoldError, Golem};
pub use id::{CommandId, GolemId, Name};
pub use life::{Birth, Life};
pub use money::Usdc;
pub use owed::{Again, Duty, Errand, Owed, Which};
pub use shell::Shell;
pub use step::{Command, Fault, Input, What};
pub use time::{Span, Time};

// Events are moved by the dozen every tick; a fat one would be paid for by all.
const _: () = assert!(size_of::<Event>() <= 104);
