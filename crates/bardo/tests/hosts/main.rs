//! Hosts that are up, and what may happen to them and to a home: kills, damage, full disks, copies, strangers.

mod api;
mod brakes;
mod clade;
mod clocks;
#[path = "../common/mod.rs"]
mod common;
mod damage;
mod damage_home;
mod dying;
mod ends;
mod fleet;
mod fulldisk;
mod hostile;
#[cfg(target_os = "linux")]
mod idle;
mod keeping;
mod kill;
mod lent;
mod page;
mod private;
mod ready;
mod recover;
mod reload;
mod renamed;
mod retention;
mod stress;
mod styx;
mod three_homes;
mod tokens;
mod told;
mod up;
mod watched;
