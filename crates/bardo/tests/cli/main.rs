//! The command line, its screens, what is written about it, and the house rules that no compiler checks.

mod age;
mod beside;
mod cli;
#[path = "../common/mod.rs"]
mod common;
mod demo;
mod description;
mod documents;
mod installed;
mod laboratory;
mod letters;
mod listing;
mod logs;
mod notes;
mod orders;
#[cfg(feature = "otlp")]
mod otlp;
mod parts;
mod path;
mod pictures;
mod prices;
mod release;
mod rows;
mod size;
mod terminal;
mod tidy;
mod tui;
mod upgrade;
mod words;
mod workers;
