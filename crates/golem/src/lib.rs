#![doc = include_str!("../README.md")]

mod apply;
pub mod books;
mod check;
pub mod clade;
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
pub mod information;
pub mod inheritance;
mod input;
pub mod laws;
pub mod life;
pub mod limits;
pub mod money;
pub mod mortality;
mod owed;
pub mod owner;
pub mod phage;
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
pub mod thought;
pub mod time;
pub mod trust;
pub mod wire;
pub mod world;

pub use event::{Event, Record};
pub use golem::{FoldError, Golem};
pub use id::{CommandId, GolemId, Name};
pub use input::{Fault, Input, What};
pub use life::{Birth, Life};
pub use money::Usdc;
pub use owed::{Again, Duty, Errand, Owed, Which};
pub use owner::Command;
pub use shell::Shell;
pub use time::{Span, Time};

// Events are moved by the dozen every tick; a fat one would be paid for by all.
const _: () = assert!(size_of::<Event>() <= 104);
