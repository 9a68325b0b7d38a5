//! What a golem is made from: `bardo.toml` for the owner and the machine, `golem.toml` for one golem, and the secret of its
//! [`chance`].
//!
//! [`KEYS`] is the one table of what can be set. A value comes from the default there, the file, a
//! `BARDO__SECTION__KEY` variable or a flag, the later winning, and remembers which. Nothing is ignored:
//! what is unknown, not available yet or out of range is an error that says where it stands and what to
//! write, and all of them are told at once.
//!
//! Absent from here: a home, a journal, a life that goes on, a client of anything. Of a disk it reads the files it is handed.

mod build;
pub mod chance;
mod keys;
mod kind;
mod layers;
mod prices;
mod problem;
mod reader;
mod record;
mod schema;
mod show;
mod spelling;
#[cfg(test)]
mod tests;
mod windows;
mod write;

pub use keys::{KEYS, SettingKey, available};
pub use kind::{SettingKind, Value, read_moment, read_span};
pub use layers::{Origin, Settings, check_text};
pub use prices::Prices;
pub use problem::{ConfigError, File, Problem};
pub use schema::schema;
pub use show::template;
pub use write::put;
